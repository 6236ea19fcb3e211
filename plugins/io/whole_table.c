/* whole_table.c - a table of whole numbers in text. */
#include "whole_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv_reader.h"

#define COLUMNS_MAX 8

void whole_table_free(struct whole_table *t)
{
    free(t->value);
    free(t->line);
    *t = (struct whole_table){0};
}

static osafl_status reserve_row(struct whole_table *t, struct io_message *m)
{
    if (t->rows < t->capacity)
        return OSAFL_OK;
    const uint64_t capacity = t->capacity + t->capacity / 2 + 64;
    uint32_t *value = reallocarray(t->value, capacity, t->columns * sizeof *value);
    if (value != NULL)
        t->value = value;
    uint32_t *line = reallocarray(t->line, capacity, sizeof *line);
    if (line != NULL)
        t->line = line;
    if (value == NULL || line == NULL)
        return io_fail(m, OSAFL_E_NOMEM, "%s: out of memory for its rows", t->name);
    t->capacity = capacity;
    return OSAFL_OK;
}

/* "round, client, samples" */
static void list_names(const char *const *names, uint32_t columns, char *out, size_t size)
{
    out[0] = '\0';
    for (uint32_t i = 0; i < columns; i++)
        (void)snprintf(out + strlen(out), size - strlen(out), "%s%s", i > 0 ? ", " : "", names[i]);
}

/* place[i]: the column of the file that has name i. */
static osafl_status read_header(struct csv_reader *r, const char *const *names, uint32_t columns,
                                uint32_t *place)
{
    bool row = false;
    char wanted[256];
    list_names(names, columns, wanted, sizeof wanted);
    OSAFL_TRY(csv_next(r, &row));
    if (!row)
        return io_fail(r->source->message, OSAFL_E_DATA,
                       "%s: is empty; its first line must name the columns %s", r->source->name,
                       wanted);
    OSAFL_TRY(csv_keep_names(r));
    for (uint32_t i = 0; i < columns; i++) {
        const int64_t found = csv_find(r, names[i]);
        if (found < 0)
            return io_fail(r->source->message, OSAFL_E_DATA,
                           "%s:%" PRIu32 ": no column is named \"%s\"; the first line must name "
                           "the columns %s",
                           r->source->name, r->line, names[i], wanted);
        place[i] = (uint32_t)found;
    }
    if (r->n_names != columns)
        return io_fail(r->source->message, OSAFL_E_DATA,
                       "%s:%" PRIu32 ": has %" PRIu32 " columns; leave only %s", r->source->name,
                       r->line, r->n_names, wanted);
    return OSAFL_OK;
}

static osafl_status read_whole(const struct csv_reader *r, uint32_t column, uint32_t *out)
{
    double value = 0.0;
    OSAFL_TRY(csv_need_number(r, column, &value));
    if (!(value >= 0.0 && value < UINT32_MAX) || value != floor(value))
        return io_fail(r->source->message, OSAFL_E_DATA,
                       "%s:%" PRIu32 ": %s: %g is no whole number of 0 .. 4294967294; correct it",
                       r->source->name, r->line, csv_place(r, column).text, value);
    *out = (uint32_t)value;
    return OSAFL_OK;
}

static osafl_status read_rows(struct whole_table *t, struct csv_reader *r, const char *const *names)
{
    uint32_t place[COLUMNS_MAX];
    OSAFL_TRY(read_header(r, names, t->columns, place));
    for (;; t->rows++) {
        bool row = false;
        OSAFL_TRY(csv_next(r, &row));
        if (!row)
            return OSAFL_OK;
        if (r->n_fields != t->columns)
            return io_fail(r->source->message, OSAFL_E_DATA,
                           "%s:%" PRIu32 ": has %" PRIu32 " column%s, the header %" PRIu32 "%s",
                           r->source->name, r->line, r->n_fields, r->n_fields == 1 ? "" : "s",
                           t->columns, csv_oddity(r, t->columns));
        OSAFL_TRY(reserve_row(t, r->source->message));
        t->line[t->rows] = r->line;
        for (uint32_t i = 0; i < t->columns; i++)
            OSAFL_TRY(read_whole(r, place[i], &t->value[t->rows * t->columns + i]));
    }
}

osafl_status whole_table_read(struct whole_table *t, const char *path, const char *const *names,
                              uint32_t columns, struct io_message *m)
{
    struct byte_source source;
    struct csv_reader reader;
    *t = (struct whole_table){.name = path, .columns = columns};
    OSAFL_TRY(byte_source_open(&source, path, m));
    csv_open(&reader, &source, ',');
    const osafl_status status = read_rows(t, &reader, names);
    csv_close(&reader);
    byte_source_close(&source);
    if (status != OSAFL_OK)
        whole_table_free(t);
    return status;
}
