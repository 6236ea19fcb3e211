/* pivot_table.c - a table of rows by the values of a setting. */
#include "pivot_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "checked_alloc.h"
#include "comparison.h"
#include "report_numbers.h"

#define NO_ROW SIZE_MAX

/* The rows' runs with one value of the setting. */
struct pivot_column {
    const char *value;
    struct grid_table part; /* its rows borrow their labels and cells */
    size_t *row_of;         /* [table's rows]: index in part, NO_ROW: no such run */
    struct summarized_table *numbers;
};

static const char *value_of(const struct result_cell *c, const char *key)
{
    const char *value = result_cell_setting(c, key);
    return value == NULL ? "-" : value;
}

static int by_value(const void *a, const void *b)
{
    const char *left = *(const char *const *)a;
    const char *right = *(const char *const *)b;
    double x;
    double y;
    if (text_real(left, &x) && text_real(right, &y))
        return (x > y) - (x < y);
    return strverscmp(left, right);
}

/* Each once, in order. */
static const char **all_values(const struct grid_table *t, const char *key, size_t *values)
{
    const char **value = NULL;
    size_t n = 0;
    for (size_t r = 0; r < t->rows; r++) {
        for (size_t c = 0; c < t->row[r].cells; c++) {
            value = checked_grow(value, n, sizeof *value);
            value[n++] = value_of(t->row[r].cell[c], key);
        }
    }
    qsort(value, n, sizeof *value, by_value);
    *values = 0;
    for (size_t i = 0; i < n; i++) {
        if (*values == 0 || strcmp(value[*values - 1], value[i]) != 0)
            value[(*values)++] = value[i];
    }
    return value;
}

/* Cells of one value stand side by side in their row. */
static struct pivot_column make_column(const struct grid_table *t, const char *key,
                                       const char *value)
{
    struct pivot_column c = {.value = value, .part = {.title = t->title}};
    c.part.row = checked_alloc(t->rows, sizeof *c.part.row);
    c.row_of = checked_alloc(t->rows, sizeof *c.row_of);
    for (size_t r = 0; r < t->rows; r++) {
        struct grid_row part = {.label = t->row[r].label};
        for (size_t k = 0; k < t->row[r].cells; k++) {
            if (strcmp(value_of(t->row[r].cell[k], key), value) != 0)
                continue;
            if (part.cells == 0)
                part.cell = t->row[r].cell + k;
            part.cells++;
        }
        c.row_of[r] = part.cells == 0 ? NO_ROW : c.part.rows;
        if (part.cells > 0)
            c.part.row[c.part.rows++] = part;
    }
    return c;
}

static void set_entry(struct text_table *t, size_t column, const struct pivot_column *c, size_t row,
                      enum compared by)
{
    const size_t i = c->row_of[row];
    if (i == NO_ROW || c->numbers->row[i].n == 0)
        text_table_set(t, column, MARK_NONE, checked_copy("-"));
    else
        text_table_set(t, column, comparison_leads(c->numbers, i, by) ? MARK_BEST : MARK_NONE,
                       compared_text(c->numbers, i, by));
}

/* Entries whose runs are fewer than those of others, or not finished. */
static void add_notes(struct text_table *t, const struct grid_table *of,
                      const struct pivot_column *c, size_t columns)
{
    size_t most = 0;
    for (size_t k = 0; k < columns; k++) {
        for (size_t i = 0; i < c[k].part.rows; i++)
            most = c[k].numbers->row[i].complete > most ? c[k].numbers->row[i].complete : most;
    }
    for (size_t k = 0; k < columns; k++) {
        for (size_t r = 0; r < of->rows; r++) {
            const size_t i = c[k].row_of[r];
            if (i == NO_ROW || c[k].numbers->row[i].complete == most)
                continue;
            text_table_note(t,
                            checked_format("%s, %s: %zu of %zu seed%s%s", of->row[r].label,
                                           c[k].value, c[k].numbers->row[i].complete, most,
                                           text_plural(most), grid_row_state(&c[k].part.row[i])));
        }
    }
}

static char *caption(const struct pivot *p, const struct summarized_table *s)
{
    static const char *const what[COMPARED_VALUES][2] = {
        [COMPARED_BEST] = {"Best", " over the rounds"},
        [COMPARED_LAST] = {"Last", ""},
        [COMPARED_TAIL] = {"Mean", " of the last tenth of the rounds"},
        [COMPARED_LOSS] = {"Loss in the round of the best", ""},
    };
    char *measure = measure_title(s);
    char *heading = measure_heading(s, "");
    char *text = checked_format(
        "%s %s%s%s by %s (mean \xc2\xb1 sample standard deviation over seeds)", what[p->by][0],
        measure, heading + strlen(s->measure), what[p->by][1], p->heading);
    free(heading);
    free(measure);
    return text;
}

static struct text_table *write_pivot(const struct grid_table *t, const struct pivot *p,
                                      const struct pivot_column *c, size_t columns)
{
    size_t any = 0;
    while (any < columns && c[any].numbers->measure == NULL)
        any++;
    if (any == columns)
        return NULL;
    struct text_table *to = text_table_create(caption(p, c[any].numbers));
    text_table_column(to, checked_copy(p->heading), true);
    for (size_t k = 0; k < columns; k++)
        text_table_column(to, checked_copy(c[k].value), false);
    for (size_t r = 0; r < t->rows; r++) {
        text_table_row(to);
        text_table_set(to, 0, MARK_NONE, checked_copy(t->row[r].label));
        for (size_t k = 0; k < columns; k++)
            set_entry(to, k + 1, &c[k], r, p->by);
    }
    add_notes(to, t, c, columns);
    return to;
}

struct text_table *pivot_table(const struct grid_experiment *e, const struct grid_table *t,
                               const struct pivot *p, const struct summary_question *q)
{
    size_t columns;
    const char **value = all_values(t, p->key, &columns);
    struct pivot_column *c = checked_alloc(columns, sizeof *c);
    for (size_t k = 0; k < columns; k++) {
        c[k] = make_column(t, p->key, value[k]);
        c[k].numbers = summarize_table(e, &c[k].part, q);
    }
    struct text_table *made = write_pivot(t, p, c, columns);
    for (size_t k = 0; k < columns; k++) {
        summarized_table_free(c[k].numbers);
        free(c[k].part.row);
        free(c[k].row_of);
    }
    free(c);
    free(value);
    return made;
}
