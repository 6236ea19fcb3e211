/* table.h - a table in text as samples: which column is what, and the rows' values.
 *
 * Columns are named by their name in the header, or by their number from 1: "#3", or "3" where no
 * name is a number.  A column of categories becomes one value for each of its categories, in
 * ascending order: 1 for the row's own, 0 for the others ("one-hot"), and 0 for all where the field
 * is empty.  What counts as missing: in a column of numbers, the times too, an empty field, ?, NA,
 * N/A, #N/A, <NA>, NaN, null and None, in any case; in a column of categories and for labels an
 * empty field alone, since NA may be Namibia. */
#ifndef OSAFL_DATASET_TABLE_H
#define OSAFL_DATASET_TABLE_H

#include "csv_config.h"
#include "csv_reader.h"
#include "sample_set.h"
#include "vocabulary.h"

enum column_role { ROLE_FEATURE, ROLE_LABEL, ROLE_CLIENT, ROLE_TIME, ROLE_IGNORED };

/* Whether the fields of the first row but the label's are 0, 1, 2, ..., all of them with the
 * label's are, or they count on from another number: so do the names that programs give to columns.
 */
enum first_row { FIRST_ANY, FIRST_COUNTS, FIRST_COUNTS_WITH_LABEL, FIRST_COUNTS_ON };

/* A column that is a feature. */
struct feature {
    uint32_t column;
    bool categorical;
    struct vocabulary category;
    uint64_t missing; /* fields */
};

struct table {
    const struct csv_config *config;
    const char *path;
    const struct table *train; /* of a test table: the training table; NULL: this is one */
    struct sample_set *set;    /* whose warnings these are */
    struct io_message *message;
    struct csv_reader csv; /* its names outlast the reading */
    uint32_t n_columns;
    uint8_t *role;           /* n_columns of enum column_role */
    struct feature *feature; /* n_features, by column */
    uint32_t n_features;
    uint32_t label_column;
    bool any_text;           /* columns of text are categories, named or not */
    uint32_t values;         /* of a sample: one for each column of numbers and each category */
    bool named;              /* some setting names a column by its name */
    bool guessed;            /* header = "auto" has decided */
    enum first_row counts;   /* the first row, if it is taken for a sample */
    uint64_t capacity;       /* samples for which there is room */
    struct samples *samples; /* values: n * values; until table_read() ends n * n_features */
    uint64_t dropped;        /* rows with missing values */
    uint64_t lacking[ROLE_IGNORED + 1]; /* of these, by the role of what is missing */
    struct vocabulary labels;           /* of a training table, like the clients */
    struct vocabulary clients;
};

/* Reads t->path into t->samples; t begins with config, path, train, set, message and samples, and
 * the rest zero.  Labels, clients and categories are numbered in ascending order; a test table has
 * no others than its training table.  Missing numbers are NaN afterwards. */
osafl_status table_read(struct table *t);

void table_free(struct table *t);

/* --- Steps of table_read() */

/* Finds the columns' roles by the present row, which is the first, and takes it for the names if it
 * is a header: then *header is true. */
osafl_status table_plan(struct table *t, bool *header);

/* Marks columns of categories: those of the setting, or the training table's. */
osafl_status table_plan_categories(struct table *t);

/* Once all rows are read: fails if the first one looks like a header. */
osafl_status table_doubt_first_row(const struct table *t);

/* True when a field of a column of numbers stands for a value that nobody knows. */
bool table_missing(const char *field);

/* Fails with what is wrong with a field of a column of numbers, and with the remedy. */
osafl_status table_refuse_field(const struct table *t, uint32_t column);

/* Cuts the spaces around a text off, in place. */
char *table_trim(char *text);

#endif
