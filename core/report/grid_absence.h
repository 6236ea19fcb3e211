/* grid_absence.h - what a grid of results lacks of what experiment files ask for: a part of
 * building it. */
#ifndef OSAFL_REPORT_GRID_ABSENCE_H
#define OSAFL_REPORT_GRID_ABSENCE_H

#include "result_grid.h"

/* Adds a seed to an ascending list; one that is there is not added again. */
void seeds_add(int64_t **list, size_t *n, int64_t seed);

/* Fills what the experiment's tables and rows, which are laid out, should have.  A planned run
 * belongs to all rows of its case and varied settings; else, if no cell is it, its row is absent
 * from the table of these settings; else its table is absent from the experiment.  Rows that no
 * record tells of should have the seeds of the others.  cell: all of the experiment, [cells]. */
void compare_with_plan(struct grid_experiment *e, const struct grid_layout *l,
                       struct result_cell *const *cell, size_t cells,
                       const struct planned_runs *plan);

/* Fills the planned experiments of which there is nothing. */
void find_absent_experiments(struct result_grid *g, const struct planned_runs *plan);

#endif
