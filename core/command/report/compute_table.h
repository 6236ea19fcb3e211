/* compute_table.h - what the runs of a report took to compute: for the account that publications
 * give, which counts the runs that failed and those that tuned.  The time of a simulated round and
 * its joules are another matter (report_tables.h). */
#ifndef OSAFL_REPORT_COMPUTE_TABLE_H
#define OSAFL_REPORT_COMPUTE_TABLE_H

#include "cell_finder.h"
#include "result_grid.h"
#include "text_table.h"

/* A line for each row of the table: its runs, and those of `tuning` (osafl tune) of its case and
 * with its varied settings. */
struct text_table *compute_table(const struct grid_experiment *e, const struct grid_table *t,
                                 const struct found_cells *tuning);

/* The same of all runs, in sentences; free(). */
char *compute_paragraph(const struct result_grid *g, const struct found_cells *tuning);

#endif
