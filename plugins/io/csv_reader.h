/* csv_reader.h - rows of a table in text (RFC 4180): fields with a separator between them, quotes
 * around a field that holds one, a quote or a line break.  Empty lines are skipped.
 *
 * The separator ' ' stands for any run of spaces and tabs; runs at the ends of a line separate
 * nothing, so that an empty field needs quotes. */
#ifndef OSAFL_IO_CSV_READER_H
#define OSAFL_IO_CSV_READER_H

#include "byte_source.h"

/* Longest row that is accepted. */
#define CSV_ROW_BYTES (16u << 20)

struct csv_reader {
    struct byte_source *source; /* not owned */
    char separator;
    bool decimal_comma;  /* numbers are written 1,5; to be set after csv_open() */
    const char *comment; /* lines that begin with it are skipped; "": none; likewise */
    uint32_t line;       /* number of the present row's first line, from 1 */
    uint32_t breaks;     /* line breaks within its quotes */
    char **field;        /* the present row: n_fields strings, valid until the next call */
    uint32_t n_fields;
    uint32_t field_capacity;
    char *text; /* the present row, cut into its fields */
    size_t text_capacity;
    char **name; /* of the columns: n_names strings; NULL: they have none */
    uint32_t n_names;
    char *name_text;
};

void csv_open(struct csv_reader *r, struct byte_source *source, char separator);
void csv_close(struct csv_reader *r);

/* Goes to the next row: *row is false at the end.  OSAFL_E_DATA with file and line. */
osafl_status csv_next(struct csv_reader *r, bool *row);

/* Takes the present row, which is then gone, as the names of the columns; line breaks in them
 * become spaces.  OSAFL_E_DATA unless they are UTF-8. */
osafl_status csv_keep_names(struct csv_reader *r);

/* The column of this name, spaces around it aside, or -1. */
int64_t csv_find(const struct csv_reader *r, const char *name);

/* A column (from 0) for messages: column 3 ("age"), or without a name: column 3. */
struct csv_place {
    char text[80];
};
struct csv_place csv_place(const struct csv_reader *r, uint32_t column);

/* What is odd about a row that has another number of fields than `expected`, or the remedy: a text
 * for the end of a message. */
const char *csv_oddity(const struct csv_reader *r, uint32_t expected);

/* True for text in UTF-8 without control characters; csv_refuse_bytes() fails with what is wrong
 * with another one, which is in the present row. */
bool csv_is_text(const char *text);
osafl_status csv_refuse_bytes(const struct csv_reader *r, const char *text);

/* True when the whole text is a finite decimal number, spaces around it allowed. */
bool csv_number(const char *text, double *value);

/* The same of a field of the present row, whose numbers may have a decimal comma. */
bool csv_field_number(const struct csv_reader *r, uint32_t column, double *value);

/* Fails unless the field is a number; the message names file, line and column (from 0). */
osafl_status csv_need_number(const struct csv_reader *r, uint32_t column, double *value);

#endif
