/* pivot_table.h - a table of rows by the values of a setting: algorithms x levels. */
#ifndef OSAFL_REPORT_PIVOT_TABLE_H
#define OSAFL_REPORT_PIVOT_TABLE_H

#include "report_tables.h"

struct pivot {
    const char *key;     /* the setting; the grid is arranged along it (result_grid.h) */
    const char *heading; /* of its values */
    enum compared by;    /* what the entries show */
};

/* NULL: no run of the table has a round yet. */
struct text_table *pivot_table(const struct grid_experiment *e, const struct grid_table *t,
                               const struct pivot *p, const struct summary_question *q);

#endif
