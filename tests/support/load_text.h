/* load_text.h - experiments and grids from text, for tests. */
#ifndef OSAFL_TESTS_LOAD_TEXT_H
#define OSAFL_TESTS_LOAD_TEXT_H

#include "experiment/grid.h"

/* grid_load() of n bytes; file: their name in messages, its folder that of relative paths. */
struct grid *load_grid_text(const char *text, size_t n, const char *file,
                            const struct grid_request *q, const struct experiment_options *o,
                            struct diagnostics *d);

/* The one experiment that such a text holds; NULL when d got errors or the text holds several. */
struct experiment *load_experiment_text(const char *text, size_t n, const char *file,
                                        const struct experiment_options *o, struct diagnostics *d);

#endif
