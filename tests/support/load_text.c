/* load_text.c - experiments and grids from text, for tests. */
#include "load_text.h"

#include "experiment/experiment_tree.h"

struct grid *load_grid_text(const char *text, size_t n, const char *file,
                            const struct grid_request *q, const struct experiment_options *o,
                            struct diagnostics *d)
{
    return grid_resolve(tree_read_text(text, n, file, d), q, o, d);
}

struct experiment *load_experiment_text(const char *text, size_t n, const char *file,
                                        const struct experiment_options *o, struct diagnostics *d)
{
    struct experiment *e = NULL;
    struct grid *g = load_grid_text(text, n, file, NULL, o, d);
    if (g != NULL && g->n == 1) {
        e = g->cells[0];
        g->n = 0;
    }
    grid_destroy(g);
    return e;
}
