/* comparison.h - rows of a table of results against each other, by the pairs that their seeds make
 * (paired.h). */
#ifndef OSAFL_REPORT_COMPARISON_H
#define OSAFL_REPORT_COMPARISON_H

#include "paired.h"
#include "report_tables.h"

#define COMPARISON_NO_ROW SIZE_MAX

/* One row against the row of reference; differences are row - reference. */
struct comparison {
    size_t pairs;  /* common seeds */
    char *trouble; /* why there are no numbers: "no common seeds"; NULL: there are */
    double mean;
    struct interval interval;
    double p;           /* of the sign-flip test; NAN: too many pairs */
    double holm;        /* adjusted over the rows of the table */
    double outperforms; /* share of pairs in which the row is better; equal ones count half */
};

/* The row that s->against names by its label or, if one row alone has it, its case.
 * COMPARISON_NO_ROW with *trouble (free()) when there is none. */
size_t comparison_reference(const struct summarized_table *s, char **trouble);

/* [table->rows], the row of reference with trouble "". */
struct comparison *comparisons_create(const struct summarized_table *s, size_t reference,
                                      enum compared by);
void comparisons_free(struct comparison *c, size_t n); /* NULL is allowed */

/* Whether the row is better than every other ranked row, each time with an interval that leaves out
 * 0.  A row of unfinished runs or without a link is not ranked. */
bool comparison_leads(const struct summarized_table *s, size_t row, enum compared by);

/* Whether more of it is better. */
bool compared_higher_is_better(const struct summarized_table *s, enum compared by);

#endif
