/* published.h - numbers of a publication, printed next to the rows of a report.
 *
 * A CSV file: lines that begin with # are comments, the first other line is the header.  The
 * columns accuracy_mean, accuracy_std, loss_mean and loss_std hold the numbers, of which each may
 * be missing; every other column is a condition, named as with --only (case, experiment, seed, the
 * path of a setting).  A line is about the runs for which all conditions hold that it does not
 * leave empty. */
#ifndef OSAFL_REPORT_PUBLISHED_H
#define OSAFL_REPORT_PUBLISHED_H

#include "base/error.h"
#include "result_cell.h"

/* NAN: none. */
struct published_values {
    double accuracy_mean;
    double accuracy_std;
    double loss_mean;
    double loss_std;
};

struct published_line {
    char **condition; /* [columns]; NULL for a column of numbers, "" for one that does not matter */
    struct published_values values;
};

struct published_table {
    char **column; /* [columns] */
    size_t columns;
    struct published_line *line; /* [lines] */
    size_t lines;
};

/* OSAFL_E_IO, or OSAFL_E_DATA with "FILE:LINE: ..."; see error.h for error.  The table is to be
 * freed in either case. */
osafl_status published_read(const char *path, struct published_table *out, struct error *error);
void published_free(struct published_table *p);

/* Of the first line that is about the run; p NULL: none. */
struct published_values published_of(const struct published_table *p, const struct result_cell *c);

#endif
