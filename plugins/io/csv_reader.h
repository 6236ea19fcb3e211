/* csv_reader.h - rows of a table in text (RFC 4180): fields with a separator between them, quotes
 * where a field holds one, no line break inside a field.  Empty lines are skipped. */
#ifndef OSAFL_IO_CSV_READER_H
#define OSAFL_IO_CSV_READER_H

#include "byte_source.h"

/* Longest line that is accepted. */
#define CSV_LINE_BYTES (16u << 20)

struct csv_reader {
    struct byte_source *source; /* not owned */
    char separator;
    uint32_t line; /* number of the present row's line, from 1 */
    char **field;  /* the present row: n_fields strings, valid until the next call */
    uint32_t n_fields;
    uint32_t field_capacity;
    char *text; /* the present line, cut into its fields */
    size_t text_capacity;
};

void csv_open(struct csv_reader *r, struct byte_source *source, char separator);
void csv_close(struct csv_reader *r);

/* Goes to the next row: *row is false at the end.  OSAFL_E_DATA with file and line. */
osafl_status csv_next(struct csv_reader *r, bool *row);

/* True when the whole field is a finite decimal number, spaces around it allowed. */
bool csv_number(const char *field, double *value);

/* Fails unless the field is a number; the message names file, line and column (from 0). */
osafl_status csv_need_number(const struct csv_reader *r, uint32_t column, double *value);

/* The field of this text in the present row, spaces around it aside, or -1. */
int64_t csv_find(const struct csv_reader *r, const char *name);

#endif
