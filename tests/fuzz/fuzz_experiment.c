/* fuzz_experiment.c - the text of an experiment file: pre-scan, libconfig, tree, grid, schema,
 * settings of all built-in plugins.  What is accepted must resolve to a text that says the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "experiment/experiment.h"
#include "experiment/grid.h"
#include "fuzz.h"
#include "load_text.h"

/* Included files are found here; the experiment itself is never read from a file. */
#define FILE_NAME FUZZ_INCLUDES "/experiment.cfg"

static struct grid *load(const char *text, size_t size, struct diagnostics *d)
{
    const struct experiment_options options = {.loader = loader_create(NULL, 0, d)};
    return load_grid_text(text, size, FILE_NAME, NULL, &options, d);
}

/* The resolved file is the same experiment: everything that has an effect is in it. */
static void check_round_trip(const struct experiment *e)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    FUZZ_REQUIRE(f != NULL);
    FUZZ_REQUIRE(experiment_write(e, f) == OSAFL_OK && fclose(f) == 0);
    struct diagnostics *d = diagnostics_create();
    struct grid *again = load(text, size, d);
    if (again == NULL)
        diagnostics_print(d, stderr);
    FUZZ_REQUIRE(again != NULL && again->n == 1);
    FUZZ_REQUIRE(strcmp(again->cells[0]->identity, e->identity) == 0);
    grid_destroy(again);
    diagnostics_destroy(d);
    free(text);
}

/* Printing must be safe, whatever the messages quote. */
static void print(const struct diagnostics *d)
{
    static FILE *null;
    if (null == NULL)
        null = fopen("/dev/null", "we");
    FUZZ_REQUIRE(null != NULL);
    diagnostics_print(d, null);
}

/* The aggregator's own choice of an optimizer, where the file names none. */
static void choose_optimizer(struct experiment *e, struct diagnostics *d)
{
    const bool open = e->chosen[OSAFL_KIND_OPTIMIZER].loaded == NULL;
    const osafl_status status = experiment_choose_optimizer(e, loader_create(NULL, 0, d), "sgd", d);
    FUZZ_REQUIRE(status == OSAFL_OK || (open && diagnostics_errors(d) > 0));
    FUZZ_REQUIRE(status != OSAFL_OK || e->chosen[OSAFL_KIND_OPTIMIZER].loaded != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diagnostics *d = diagnostics_create();
    struct grid *g = load((const char *)data, size, d);
    FUZZ_REQUIRE((g == NULL) == (diagnostics_errors(d) > 0));
    if (g != NULL) {
        check_round_trip(g->cells[g->n - 1]);
        choose_optimizer(g->cells[0], d);
    }
    print(d);
    grid_destroy(g);
    diagnostics_destroy(d);
    return 0;
}
