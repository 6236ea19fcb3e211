/* figures_of_rounds.h - figures made from rounds.csv: curves of any column, and the best value
 * against a setting.  Which runs of a row enter is decided as for the tables (row_summary.h). */
#ifndef OSAFL_REPORT_FIGURES_OF_ROUNDS_H
#define OSAFL_REPORT_FIGURES_OF_ROUNDS_H

#include "figure.h"
#include "result_grid.h"

/* The x axis of a curve; bits and joules are sums up to the round, means over the seeds. */
enum figure_axis { AGAINST_ROUND, AGAINST_TIME, AGAINST_BITS, AGAINST_JOULES };

/* What a band or an error bar shows of several seeds. */
enum figure_spread { SPREAD_DEVIATION, SPREAD_RANGE, SPREAD_NONE };

/* The column of a measure ("accuracy") or of rounds.csv, of all rows that have it; NULL: none has
 * a value. */
struct figure *figure_of_column(const struct grid_experiment *e, const struct grid_table *t,
                                const char *column, enum figure_axis axis,
                                enum figure_spread spread);

/* The best value of the measure (NULL: the first) against a numeric setting along which the cells
 * of t's rows lie (grid_layout.along); NULL: no row has two values of it. */
struct figure *figure_of_setting(const struct grid_experiment *e, const struct grid_table *t,
                                 const char *measure, const char *setting,
                                 enum figure_spread spread);

/* "EXPERIMENT-TABLE-WHAT", and the title of a figure of this table; free(). */
char *figure_stem(const struct grid_experiment *e, const struct grid_table *t, const char *what);
char *figure_title(const struct grid_experiment *e, const struct grid_table *t, const char *what);
/* Where the table shows them, and whether they enter: finished runs, or all when there is none. */
char *figure_label(const struct grid_row *r);
bool figure_takes(const struct grid_row *r, const struct result_cell *c);

#endif
