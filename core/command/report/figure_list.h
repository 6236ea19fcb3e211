/* figure_list.h - which figures a table of results can have, by their names on the command line. */
#ifndef OSAFL_REPORT_FIGURE_LIST_H
#define OSAFL_REPORT_FIGURE_LIST_H

#include "base/error.h"
#include "figures_of_rounds.h"

/* What is asked for. */
struct figure_request {
    const char *name; /* "ccdf", "drift", "participation", "best", "quantization", a measure, or a
                       * column of rounds.csv or clients.csv */
    const char *against; /* "round", "time", "bits", "joules"; for "best" the path of a setting;
                          * NULL: the default */
    enum figure_spread spread;
};

struct figure_list {
    struct figure **figure; /* [n] */
    size_t n;
};

/* Adds the figures of the request, one for each table of the grid that has values for it; "best"
 * and "quantization" arrange all cells anew, over the experiments, and make one figure.
 * OSAFL_E_CONFIG when the name means nothing here (with what there is), OSAFL_E_DATA or OSAFL_E_IO
 * when clients.csv cannot be read. */
osafl_status figure_list_add(struct figure_list *l, const struct found_cells *f,
                             const struct result_grid *g, const struct figure_request *r,
                             struct error *error);

/* Adds every figure of the grid's tables that says something: accuracy against each axis, loss,
 * CCDF, participation, scores, drift. */
osafl_status figure_list_add_all(struct figure_list *l, const struct result_grid *g,
                                 enum figure_spread spread, struct error *error);

/* Adds the best value against the number of levels, over all cells, where a case was run with
 * several of them; nothing otherwise. */
osafl_status figure_list_add_quantization(struct figure_list *l, const struct found_cells *f,
                                          enum figure_spread spread, struct error *error);

void figure_list_free(struct figure_list *l);

#endif
