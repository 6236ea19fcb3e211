/* csv_table.h - reads the tables of a run (results.h): a header, lines that end in \n, fields
 * without quotes.
 *
 * Strict, with one exception: a last line without its end belongs to a run that is writing it, and
 * is left out. */
#ifndef OSAFL_REPORT_CSV_TABLE_H
#define OSAFL_REPORT_CSV_TABLE_H

#include "base/error.h"
#include "osafl/base.h"

#define CSV_NO_COLUMN SIZE_MAX

struct csv_table {
    char **name; /* [columns] */
    size_t columns;
    size_t rows;
    double *value; /* [rows][columns]; NAN: empty; INFINITY: written as nan or inf; in a column of
                    * words the index of the word */
    char **word;   /* [words]: what stands in columns of words, each once; "" for an empty field */
    size_t words;
};

/* Reads a file.  wanted: NULL-terminated names of the columns to keep, those that the file does not
 * have are left out; NULL: all.  words: NULL-terminated names of the columns that hold words;
 * NULL: none; every other kept field must be a number.  A file that ends before its first line does
 * gives a table without columns.  OSAFL_E_IO, or OSAFL_E_DATA with "FILE:LINE: ..."; see error.h
 * for error. */
osafl_status csv_table_read(const char *path, const char *const *wanted, const char *const *words,
                            struct csv_table **out, struct error *error);
void csv_table_free(struct csv_table *t); /* NULL is allowed */

/* CSV_NO_COLUMN when there is none. */
size_t csv_table_column(const struct csv_table *t, const char *name);
/* NAN for CSV_NO_COLUMN. */
double csv_table_value(const struct csv_table *t, size_t row, size_t column);

#endif
