/* result_grid.h - result folders in the order of a table: experiments, tables, rows, seeds.
 *
 * A row holds the runs that differ in nothing but their seed, so that runs whose settings were
 * edited in between are never averaged.  An experiment is one table with a row for each case,
 * except that where there are several cases, a setting that they vary ("vary" in the file, or more
 * than one value in several cases) gives a table for each of its values.  A setting that varies
 * within one case alone gives further rows. */
#ifndef OSAFL_REPORT_RESULT_GRID_H
#define OSAFL_REPORT_RESULT_GRID_H

#include "cell_finder.h"

struct grid_row {
    char *label;               /* "OSA-FL", "OSA-FL / levels = 2" */
    struct result_cell **cell; /* [cells], by seed; borrowed */
    size_t cells;
};

struct grid_table {
    char *title;          /* what its rows have in common beside the experiment: "levels = 2"; "" */
    struct grid_row *row; /* [rows], in the experiment's order of cases */
    size_t rows;
};

struct grid_experiment {
    char *name;
    struct grid_table *table; /* [tables], by title */
    size_t tables;
    int64_t *seed; /* [seeds], ascending: of any run, begun or planned */
    size_t seeds;
    bool has_plan; /* an experiment file says what it holds (grid_record.h); false: not known */
    const struct planned_run **absent; /* [absents]: planned, and without results; borrowed */
    size_t absents;
};

struct result_grid {
    struct grid_experiment *experiment; /* [experiments], by name */
    size_t experiments;
    char **note; /* [notes]: full sentences about folders that were left out */
    size_t notes;
};

/* What follows the label of a row without a finished run: " (failed)" where all of them failed,
 * else " (so far)"; "" for other rows. */
const char *grid_row_state(const struct grid_row *r);

/* Whether some run of the table has these varied settings. */
bool grid_table_takes(const struct grid_table *t, const char *varied);

/* How cells are laid out. */
struct grid_layout {
    const char *along; /* a setting in which the cells of a row may differ, beside the seed; NULL:
                        * none.  The cells of a row are then ordered by it first */
    bool one_table;    /* all cells, of whatever experiment, in one table of one experiment named
                        * "" */
};

/* The cells and planned runs stay the caller's and must outlive the grid. */
struct result_grid *result_grid_create(const struct found_cells *f, const struct grid_layout *l);
void result_grid_free(struct result_grid *g); /* NULL is allowed */

#endif
