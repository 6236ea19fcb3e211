/* run_tables.h - what the runs of a report were: their settings, and where they ran. */
#ifndef OSAFL_REPORT_RUN_TABLES_H
#define OSAFL_REPORT_RUN_TABLES_H

#include "result_grid.h"
#include "text_table.h"

/* Settings that all runs of the experiment share: key, value, origin.  Those with the default
 * value come last. */
struct text_table *shared_settings_table(const struct grid_experiment *e);

/* Settings in which the rows of a table differ, a column for each row; NULL: there are none. */
struct text_table *differing_settings_table(const struct grid_table *t);

/* Every run: seed, rounds, when, how long, machine, program. */
struct text_table *environment_table(const struct grid_experiment *e);

#endif
