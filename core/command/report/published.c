/* published.c - numbers of a publication, printed next to the rows of a report. */
#include "published.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file_read.h"
#include "base/text.h"
#include "checked_alloc.h"

static const char *const number_name[] = {"accuracy_mean", "accuracy_std", "loss_mean", "loss_std"};
enum { NUMBERS = sizeof number_name / sizeof number_name[0] };

static const struct published_values no_values = {(double)NAN, (double)NAN, (double)NAN,
                                                  (double)NAN};

static double *number_of(struct published_values *v, const char *column)
{
    double *const number[NUMBERS] = {&v->accuracy_mean, &v->accuracy_std, &v->loss_mean,
                                     &v->loss_std};
    for (size_t i = 0; i < NUMBERS; i++) {
        if (strcmp(column, number_name[i]) == 0)
            return number[i];
    }
    return NULL;
}

static osafl_status read_header(const char *where, char *line, struct published_table *p,
                                struct error *error)
{
    bool has_number = false;
    for (char *name; (name = strsep(&line, ",")) != NULL;) {
        if (name[0] == '\0' || strchr(name, '"') != NULL)
            return error_set(error, OSAFL_E_DATA,
                             "%s: a column needs a name, without quotes: accuracy_mean, or the "
                             "key of a condition such as case or model.plugin",
                             where);
        has_number = has_number || number_of(&(struct published_values){0}, name) != NULL;
        p->column = checked_grow(p->column, p->columns, sizeof *p->column);
        p->column[p->columns++] = checked_copy(name);
    }
    return has_number ? OSAFL_OK
                      : error_set(error, OSAFL_E_DATA,
                                  "%s: no column holds numbers; name one accuracy_mean, "
                                  "accuracy_std, loss_mean or loss_std",
                                  where);
}

static osafl_status read_line(const char *where, char *text, struct published_table *p,
                              struct error *error)
{
    p->line = checked_grow(p->line, p->lines, sizeof *p->line);
    struct published_line *to = &p->line[p->lines++];
    *to = (struct published_line){checked_alloc(p->columns, sizeof(char *)), no_values};
    for (size_t i = 0; i < p->columns; i++) {
        const char *field = strsep(&text, ",");
        if (field == NULL || (i + 1 == p->columns && text != NULL))
            return error_set(error, OSAFL_E_DATA, "%s: %s fields than the header has columns (%zu)",
                             where, field == NULL ? "fewer" : "more", p->columns);
        double *number = number_of(&to->values, p->column[i]);
        if (number == NULL) {
            to->condition[i] = checked_copy(field);
            continue;
        }
        if (field[0] != '\0' && !text_real(field, number))
            return error_set(error, OSAFL_E_DATA, "%s: %s is \"%.40s\", which is not a number",
                             where, p->column[i], field);
    }
    return OSAFL_OK;
}

static osafl_status read_lines(const char *path, char *text, struct published_table *p,
                               struct error *error)
{
    osafl_status status = OSAFL_OK;
    char *line;
    for (size_t number = 1; status == OSAFL_OK && (line = strsep(&text, "\n")) != NULL; number++) {
        line[strcspn(line, "\r")] = '\0';
        if (line[0] == '#' || line[0] == '\0')
            continue;
        char *where = checked_format("%s:%zu", path, number);
        status =
            p->columns == 0 ? read_header(where, line, p, error) : read_line(where, line, p, error);
        free(where);
    }
    if (status == OSAFL_OK && p->lines == 0)
        return error_set(error, OSAFL_E_DATA, "%s: no line with published numbers", path);
    return status;
}

osafl_status published_read(const char *path, struct published_table *out, struct error *error)
{
    size_t size = 0;
    int problem = 0;
    *out = (struct published_table){.columns = 0};
    char *text = file_read(path, SIZE_MAX / 2, &size, &problem);
    if (text == NULL)
        return error_set(error, OSAFL_E_IO, "cannot read %s: %s", path, file_read_problem(problem));
    const osafl_status status = read_lines(path, text, out, error);
    free(text);
    return status;
}

void published_free(struct published_table *p)
{
    for (size_t i = 0; i < p->lines; i++) {
        for (size_t k = 0; k < p->columns; k++)
            free(p->line[i].condition[k]);
        free(p->line[i].condition);
    }
    for (size_t k = 0; k < p->columns; k++)
        free(p->column[k]);
    free(p->line);
    free(p->column);
    *p = (struct published_table){.columns = 0};
}

static bool is_about(const struct published_table *p, const struct published_line *l,
                     const struct result_cell *c)
{
    char seed[CELL_SEED_BYTES];
    for (size_t i = 0; i < p->columns; i++) {
        const char *wanted = l->condition[i];
        if (wanted == NULL || wanted[0] == '\0')
            continue;
        const char *value = result_cell_value(c, p->column[i], seed);
        if (value == NULL || strcmp(value, wanted) != 0)
            return false;
    }
    return true;
}

struct published_values published_of(const struct published_table *p, const struct result_cell *c)
{
    for (size_t i = 0; p != NULL && i < p->lines; i++) {
        if (is_about(p, &p->line[i], c))
            return p->line[i].values;
    }
    return no_values;
}
