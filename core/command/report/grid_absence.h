/* grid_absence.h - what a grid of results lacks of what experiment files ask for: a part of
 * building it, which knows the grid's structures and none of its functions. */
#ifndef OSAFL_REPORT_GRID_ABSENCE_H
#define OSAFL_REPORT_GRID_ABSENCE_H

#include "result_grid.h"

/* Adds a seed to an ascending list; one that is there is not added again. */
void seeds_add(int64_t **list, size_t *n, int64_t seed);

/* The cells that form one experiment. */
struct laid_cells {
    struct result_cell *const *cell; /* [cells] */
    size_t cells;
    const char *const *split; /* [splits]: settings that make tables */
    size_t splits;
};

/* Fills what the experiment's tables and rows, which exist, should have.  A planned run
 * belongs to all rows of its case and varied settings; in tables that have only other cases of
 * these settings its row is absent, unless it has results that could stand there; where no table
 * has such settings its table is.  Rows that no record names should have the seeds of each
 * other.  along: that of the layout. */
void compare_with_plan(struct grid_experiment *e, const char *along, const struct laid_cells *of,
                       const struct planned_runs *plan);

/* Fills the planned experiments of which there is nothing. */
void find_absent_experiments(struct result_grid *g, const struct planned_runs *plan);

#endif
