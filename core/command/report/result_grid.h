/* result_grid.h - result folders in the order of a table: experiments, tables, rows, seeds.
 *
 * A row holds the runs that differ in nothing but their seed and where their files are, so that
 * runs whose settings were edited in between are never averaged.  An experiment is one table with a
 * row for each case, except that where there are several cases, a setting that they vary ("vary" in
 * the file, or more than one value in several cases) gives a table for each of its values.  A
 * setting that varies within one case alone gives further rows. */
#ifndef OSAFL_REPORT_RESULT_GRID_H
#define OSAFL_REPORT_RESULT_GRID_H

#include "cell_finder.h"

struct grid_row {
    char *label;  /* "OSA-FL", "OSA-FL / levels = 2" */
    char *varied; /* "quantizer.qsgd.levels=2": varied settings that tell rows apart; "" */
    struct result_cell **cell; /* [cells], by seed; borrowed */
    size_t cells;
    int64_t *seed; /* [seeds], ascending: those that it has or should have, by the record of a grid
                    * (grid_record.h), or else as the other rows that no record names */
    size_t seeds;
    bool is_planned; /* a record of a grid names it */
};

struct grid_table {
    char *title;          /* what its rows have in common beside the experiment: "levels = 2"; "" */
    struct grid_row *row; /* [rows], in the experiment's order of cases */
    size_t rows;
    bool is_planned; /* records of grids name some of its rows, present or absent */
    char **absent;   /* [absents]: labels of planned rows of which nothing has results */
    size_t absents;
};

struct grid_experiment {
    char *name;
    struct grid_table *table; /* [tables], by title */
    size_t tables;
    int64_t *seed; /* [seeds], ascending: of any run */
    size_t seeds;
    char **absent; /* [absents]: "quantizer.qsgd.levels=16: 6 runs", planned ones of which no table
                    * has any */
    size_t absents;
    char **axis; /* [axes]: paths of the settings in which the cells differ, but the seed */
    size_t axes;
};

struct result_grid {
    struct grid_experiment *experiment; /* [experiments], by name */
    size_t experiments;
    char **absent; /* [absents]: "NAME: 6 runs", of planned experiments without results */
    size_t absents;
    char **note; /* [notes]: full sentences about folders and records that were left out */
    size_t notes;
};

/* What follows the label of a row without a finished run: " (failed)" where all of them failed,
 * else " (so far)"; "" for other rows. */
const char *grid_row_state(const struct grid_row *r);

/* How cells are arranged. */
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
