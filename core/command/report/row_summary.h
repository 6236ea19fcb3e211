/* row_summary.h - what a row of runs comes to: mean and sample standard deviation over its seeds.
 *
 * Finished runs alone enter, and of each the rounds in which it has not diverged.  Where a row has
 * none, what its unfinished runs have so far enters and the row is marked provisional. */
#ifndef OSAFL_REPORT_ROW_SUMMARY_H
#define OSAFL_REPORT_ROW_SUMMARY_H

#include "paired.h"
#include "published.h"
#include "result_grid.h"

/* Of the values that exist. */
struct statistic {
    size_t n; /* 0: mean is not set */
    double mean;
    double deviation; /* sample standard deviation, divisor n - 1; not set for n < 2 */
};

/* What rows are compared by: the measure's best value over the rounds, its last one, its mean over
 * the last tenth of the rounds, and the loss in the round of the best. */
enum compared { COMPARED_BEST, COMPARED_LAST, COMPARED_TAIL, COMPARED_LOSS, COMPARED_VALUES };

/* Rounds at which something changed, ascending, and when the measure has recovered: it is back
 * within the margin of its mean over so many rounds before the change (recovery_table.h). */
struct recovery_question {
    uint32_t *change; /* [changes] */
    size_t changes;
    uint32_t before;
    double margin;
};

/* What is asked for. */
struct summary_question {
    const char *measure; /* NULL: the runs' first, by which they are compared */
    double target;       /* value of the measure to be reached; NAN: none */
    const char *against; /* label or case of the row that the others are compared with; NULL */
    enum interval_kind interval; /* of paired differences */
    unsigned columns;            /* of the table of performance, by bit; 0: the usual ones */
    bool percent;                /* shares as percent */
    const struct published_table *published;  /* printed next to the rows; NULL: nothing */
    const struct recovery_question *recovery; /* NULL: nothing */
};

/* A run that entered, for comparisons with the runs of other rows. */
struct run_values {
    int64_t seed;
    uint32_t rounds;
    double value[COMPARED_VALUES]; /* INFINITY: diverged; NAN: not evaluated */
};

struct row_summary {
    size_t complete;
    size_t unfinished;
    size_t failed;
    bool provisional;       /* the numbers are those of unfinished or failed runs */
    bool has_link;          /* false: clients trained and sent nothing, as in a centralised run */
    bool diverged;          /* some run did in some round, by measure_loss_limit() */
    const char *measure;    /* borrowed; NULL: nothing was evaluated yet */
    size_t n;               /* runs that entered */
    struct run_values *run; /* [n] */

    struct statistic best;          /* best value over the evaluated rounds, of each run */
    struct statistic best_round;    /* rounds up to and with the earliest such one */
    struct statistic loss_at_best;  /* the loss of that round */
    struct statistic last;          /* the last evaluated round's value */
    struct statistic tail;          /* mean of those of the last tenth of the rounds */
    struct statistic participation; /* mean share of the clients that took part */
    struct statistic local_rounds;  /* mean over the participants of all rounds */
    struct statistic payload_bits;  /* sums over the run */
    struct statistic air_bits;
    struct statistic compute_j;
    struct statistic upload_j;
    struct statistic receive_j; /* of runs with a downlink */
    struct statistic simulated_s;

    size_t reached;                 /* runs that reached the target; the next are theirs */
    struct statistic target_rounds; /* rounds up to and with the one that reached it */
    struct statistic target_s;
    struct statistic target_bits; /* paper's payload */
    struct statistic target_j;

    struct published_values published;
};

/* To be freed with row_summary_free(). */
struct row_summary row_summarize(const struct grid_row *r, const struct summary_question *q);
void row_summary_free(struct row_summary *s);

const struct statistic *row_compared(const struct row_summary *s, enum compared by);

/* The measure of a run in each round, INFINITY where it has diverged and NAN where it was not
 * evaluated: [c->rounds->rows], free(). */
double *run_series(const struct result_cell *c, const char *measure);

/* Whether a run of the summarized row entered. */
bool row_takes(const struct row_summary *s, const struct result_cell *c);

/* The statistics of a summary, by the names that CSV files give them, in the order of their
 * columns. */
enum { ROW_STATISTICS = 17 };
extern const struct row_statistic {
    const char *name;
    size_t offset; /* of a struct statistic in struct row_summary */
} row_statistics[ROW_STATISTICS];

/* Mean and deviation of n values; those that are not finite do not exist. */
struct statistic statistic_of(const double *value, size_t n);

#endif
