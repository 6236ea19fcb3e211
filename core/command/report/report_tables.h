/* report_tables.h - the tables of a report, made from a grid of results. */
#ifndef OSAFL_REPORT_REPORT_TABLES_H
#define OSAFL_REPORT_REPORT_TABLES_H

#include "row_summary.h"
#include "text_table.h"

/* A table of the grid with its numbers. */
struct summarized_table {
    const struct grid_experiment *experiment;
    const struct grid_table *table;
    struct row_summary *row; /* [table->rows] */
    const char *measure;     /* that compares the rows; NULL: no run has a round yet */
    double target;           /* NAN: none */
    const char *against;     /* row for comparisons (comparison.h); NULL: none */
    enum interval_kind interval;
    unsigned columns;                         /* of the table of performance */
    bool percent;                             /* shares as percent */
    const struct recovery_question *recovery; /* NULL: none */
};

struct summarized_table *summarize_table(const struct grid_experiment *e,
                                         const struct grid_table *t,
                                         const struct summary_question *q);
void summarized_table_free(struct summarized_table *s); /* NULL is allowed */

/* The columns of the table of performance in "best,loss", for summary_question.columns; 0: one has
 * another name, which is not among "seeds, best, rounds, ..." */
#define PERFORMANCE_COLUMNS "seeds, best, rounds, loss, last, tail and published"
unsigned performance_columns_parse(const char *list);

/* Whether a row can be better than others: it has finished runs, which sent something. */
bool row_is_ranked(const struct row_summary *r);

/* Best value over the rounds, the loss there, the last value; beside them published values and the
 * differences where there are any.  A row is marked that is better than every other one by the
 * paired differences over their seeds (comparison.h); runs that send nothing are not ranked. */
struct text_table *performance_table(const struct summarized_table *s);

/* Participation, local rounds, bits, joules, simulated time; sums over a whole run. */
struct text_table *cost_table(const struct summarized_table *s);

/* Rounds, time, bits and joules to the target. */
struct text_table *target_table(const struct summarized_table *s);

/* What is missing of a table, by records of grids or else by what other rows and tables have: a
 * sentence for each row that misses something; *items of them, each and the list to be freed by
 * free(). */
char **missing_runs(const struct summarized_table *s, size_t *items);

/* "25 clients, 30 rounds of 12 s; dataset idx, model squeezenet": what all runs of the table
 * share.  free() */
char *shared_facts(const struct grid_table *t);

#endif
