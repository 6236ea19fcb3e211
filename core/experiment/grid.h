/* grid.h - the experiments of one file: cases, varied settings, seeds.
 *
 *     cases = ( { name = "osafl";  aggregator: { plugin = "osafl"; }; },
 *               { name = "fedavg"; aggregator: { plugin = "fedavg"; }; } );
 *     vary  = ( { key = "quantizer.qsgd.levels"; values = [2, 4]; } );
 *     seeds = [1, 2, 3];
 *     where = ( { only = ["case=osafl", "quantizer.qsgd.levels=4"]; rounds = 80; } );
 *
 * is a grid of 2 * 2 * 3 cells, cases outermost, seeds innermost.  `where` gives settings to those
 * cells that meet its conditions (cell_condition.h), or leaves them out with `omit = true`; an
 * entry may hold a `where` of its own.  What is given later wins: default, file, case, vary and
 * seeds, where, overlay, --set.  A setting that overlay or --set fix is not varied.  A file without
 * these keys is a grid of one cell, whose case is called "main". */
#ifndef OSAFL_CORE_GRID_H
#define OSAFL_CORE_GRID_H

#include <stdbool.h>

#include "experiment.h"

#define GRID_MAX_CELLS 1000

/* Where a cell stands.  Cells that differ in their seed alone stand at one place. */
struct grid_place {
    size_t problem; /* counts the cases and varied values of the file */
    size_t setting; /* counts the values of further varied settings (grid_request.also) */
};

struct grid {
    struct experiment **cells;
    struct grid_place *places; /* [n] */
    size_t n;
    bool has_cases;
    char **own_keys; /* what the file varies; [n_own_keys] */
    size_t n_own_keys;
};

/* Which cells are asked for, beside the file and --set. */
struct grid_request {
    const char *const *only; /* conditions that a cell must meet (cell_condition.h); [n_only] */
    size_t n_only;
    const char *overlay;     /* a file whose settings apply to every cell; NULL: none */
    const char *const *also; /* further varied settings, "KEY=[VALUE, ...]", which win over where
                              * and overlay; [n_also] */
    size_t n_also;
};

/* Reads a file and resolves its cells.  q: NULL for all of them.  NULL when d got errors; all of
 * the file's errors are in d, each once. */
struct grid *grid_load(const char *file, const struct grid_request *q,
                       const struct experiment_options *o, struct diagnostics *d);

/* The same for a tree that has been read already, which it takes over; NULL is passed on. */
struct grid *grid_resolve(struct experiment_tree *base, const struct grid_request *q,
                          const struct experiment_options *o, struct diagnostics *d);

void grid_destroy(struct grid *g);

#endif
