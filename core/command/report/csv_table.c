/* csv_table.c - reads the tables of a run. */
#include "csv_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file_read.h"
#include "base/text.h"
#include "checked_alloc.h"

/* What is known while a file is read. */
struct csv_reading {
    const char *path;
    unsigned long line; /* from 1 */
    struct csv_table *table;
    size_t fields;  /* of every line */
    size_t *column; /* [fields]: where the field is kept, or CSV_NO_COLUMN */
    bool *is_word;  /* [table->columns] */
    struct error *error;
};

static bool listed(const char *const *list, const char *name)
{
    for (; *list != NULL; list++) {
        if (strcmp(*list, name) == 0)
            return true;
    }
    return false;
}

size_t csv_table_column(const struct csv_table *t, const char *name)
{
    for (size_t i = 0; i < t->columns; i++) {
        if (strcmp(t->name[i], name) == 0)
            return i;
    }
    return CSV_NO_COLUMN;
}

double csv_table_value(const struct csv_table *t, size_t row, size_t column)
{
    return column == CSV_NO_COLUMN ? (double)NAN : t->value[row * t->columns + column];
}

/* Cuts the next field out of a line; *rest becomes NULL behind the last. */
static char *next_field(char **rest)
{
    char *field = *rest;
    char *comma = strchr(field, ',');
    if (comma != NULL)
        *comma = '\0';
    *rest = comma == NULL ? NULL : comma + 1;
    return field;
}

static size_t count_fields(const char *line)
{
    size_t n = 1;
    for (; *line != '\0'; line++)
        n += *line == ',';
    return n;
}

static osafl_status read_header(struct csv_reading *r, char *line, const char *const *wanted,
                                const char *const *words)
{
    struct csv_table *t = r->table;
    r->fields = count_fields(line);
    r->column = checked_alloc(r->fields, sizeof *r->column);
    r->is_word = checked_alloc(r->fields, sizeof *r->is_word);
    t->name = checked_alloc(r->fields, sizeof *t->name);
    for (size_t i = 0; i < r->fields; i++) {
        const char *name = next_field(&line);
        if (name[0] == '\0' || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0')
            return error_set(r->error, OSAFL_E_DATA,
                             "%s:1: \"%.40s\" is not a column name; this is not a table that "
                             "osafl wrote",
                             r->path, name);
        if (csv_table_column(t, name) != CSV_NO_COLUMN)
            return error_set(r->error, OSAFL_E_DATA, "%s:1: two columns \"%.40s\"", r->path, name);
        r->column[i] = CSV_NO_COLUMN;
        if (wanted != NULL && !listed(wanted, name))
            continue;
        r->is_word[t->columns] = words != NULL && listed(words, name);
        r->column[i] = t->columns;
        t->name[t->columns++] = checked_copy(name);
    }
    return OSAFL_OK;
}

static double word_index(struct csv_table *t, const char *word)
{
    size_t i = 0;
    while (i < t->words && strcmp(t->word[i], word) != 0)
        i++;
    if (i == t->words) {
        t->word = checked_grow(t->word, t->words, sizeof *t->word);
        t->word[t->words++] = checked_copy(word);
    }
    return (double)i;
}

/* A number as csv_format_real() writes it. */
static bool read_number(const char *field, double *out)
{
    if (field[0] == '\0') {
        *out = (double)NAN;
        return true;
    }
    if (strcmp(field, "nan") == 0 || strcmp(field, "inf") == 0 || strcmp(field, "-inf") == 0) {
        *out = (double)INFINITY;
        return true;
    }
    return field[0] != '+' && text_real(field, out);
}

static osafl_status read_row(struct csv_reading *r, char *line)
{
    struct csv_table *t = r->table;
    const size_t fields = count_fields(line);
    if (fields != r->fields)
        return error_set(r->error, OSAFL_E_DATA,
                         "%s:%lu: %zu field%s where the header has %zu; the table is damaged",
                         r->path, r->line, fields, text_plural(fields), r->fields);
    /* Rows of a constant size: the capacity doubles in rows. */
    t->value = checked_grow(t->value, t->rows, (t->columns + 1) * sizeof *t->value);
    double *row = t->value + t->rows * t->columns;
    for (size_t i = 0; i < fields; i++) {
        const char *field = next_field(&line);
        const size_t column = r->column[i];
        if (column == CSV_NO_COLUMN)
            continue;
        if (r->is_word[column])
            row[column] = word_index(t, field);
        else if (!read_number(field, &row[column]))
            return error_set(r->error, OSAFL_E_DATA,
                             "%s:%lu: %s is \"%.40s\", which is not a number; the table is damaged",
                             r->path, r->line, t->name[column], field);
    }
    t->rows++;
    return OSAFL_OK;
}

/* The text is cut at the ends of its lines. */
static osafl_status read_lines(struct csv_reading *r, char *text, size_t size,
                               const char *const *wanted, const char *const *words)
{
    osafl_status status = OSAFL_OK;
    for (char *end; status == OSAFL_OK && (end = memchr(text, '\n', size)) != NULL;) {
        const size_t length = (size_t)(end - text);
        r->line++;
        *end = '\0';
        if (strlen(text) != length)
            status = error_set(r->error, OSAFL_E_DATA, "%s:%lu: a zero byte; the table is damaged",
                               r->path, r->line);
        else
            status = r->line == 1 ? read_header(r, text, wanted, words) : read_row(r, text);
        text = end + 1;
        size -= length + 1;
    }
    return status;
}

osafl_status csv_table_read(const char *path, const char *const *wanted, const char *const *words,
                            struct csv_table **out, struct error *error)
{
    size_t size = 0;
    int problem = 0;
    char *text = file_read(path, SIZE_MAX / 2, &size, &problem);
    if (text == NULL)
        return error_set(error, OSAFL_E_IO, "cannot read %s: %s", path, file_read_problem(problem));
    struct csv_reading r = {
        .path = path,
        .table = checked_alloc(1, sizeof(struct csv_table)),
        .error = error,
    };
    const osafl_status status = read_lines(&r, text, size, wanted, words);
    free(text);
    free(r.column);
    free(r.is_word);
    if (status != OSAFL_OK) {
        csv_table_free(r.table);
        return status;
    }
    *out = r.table;
    return OSAFL_OK;
}

void csv_table_free(struct csv_table *t)
{
    if (t == NULL)
        return;
    for (size_t i = 0; i < t->columns; i++)
        free(t->name[i]);
    for (size_t i = 0; i < t->words; i++)
        free(t->word[i]);
    free(t->name);
    free(t->word);
    free(t->value);
    free(t);
}
