/* grid.h - the experiments of one file: cases, varied settings, seeds.
 *
 *     cases = ( { name = "osafl";  aggregator: { plugin = "osafl"; }; },
 *               { name = "fedavg"; aggregator: { plugin = "fedavg"; }; } );
 *     vary  = ( { key = "quantizer.qsgd.levels"; values = [2, 4]; } );
 *     seeds = [1, 2, 3];
 *
 * is a grid of 2 * 2 * 3 cells, cases outermost, seeds innermost.  What is given later wins:
 * default, file, case, vary and seeds, --set.  A setting that --set fixes is not varied.  A file
 * without these keys is a grid of one cell, whose case is called "main". */
#ifndef OSAFL_CORE_GRID_H
#define OSAFL_CORE_GRID_H

#include "experiment.h"

#define GRID_MAX_CELLS 1000

struct grid {
    struct experiment **cells;
    size_t n;
};

/* Reads a file and resolves its cells.  only_case: NULL, or the name of the case to take; a varied
 * setting makes a case of its own, "osafl,quantizer.qsgd.levels=2", which belongs to the case
 * "osafl" too.  NULL when d got errors; all of the file's errors are in d, each once. */
struct grid *grid_load(const char *file, const char *only_case, const struct experiment_options *o,
                       struct diagnostics *d);

/* The same for n bytes of text, as experiment_load_text(). */
struct grid *grid_load_text(const char *text, size_t n, const char *file, const char *only_case,
                            const struct experiment_options *o, struct diagnostics *d);

void grid_destroy(struct grid *g);

#endif
