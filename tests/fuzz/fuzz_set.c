/* fuzz_set.c - what stands behind --set, laid over a small experiment. */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "experiment/experiment.h"
#include "experiment/experiment_tree.h"
#include "experiment_text.h"
#include "fuzz.h"

static struct experiment_tree *small_experiment(struct diagnostics *d)
{
    static struct experiment_tree *tree;
    if (tree == NULL)
        tree = tree_read_text(EXPERIMENT_TEXT, strlen(EXPERIMENT_TEXT), "small.cfg", d);
    FUZZ_REQUIRE(tree != NULL);
    return tree_copy(tree);
}

/* Every line of the input is an argument of its own, up to three. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST = 3 };
    struct diagnostics *d = diagnostics_create();
    struct experiment_tree *tree = small_experiment(d);
    char *text = strndup((const char *)data, size); /* arguments of a program hold no zero byte */
    FUZZ_REQUIRE(d != NULL && tree != NULL && text != NULL);
    const char *set[MOST];
    size_t n = 0;
    for (char *rest = text; rest != NULL && n < MOST;)
        set[n++] = strsep(&rest, "\n");
    const struct experiment_options options = {
        .set = set, .n_set = n, .loader = loader_create(NULL, 0, d)};
    struct experiment *e = experiment_resolve(tree, "main", &options, d);
    FUZZ_REQUIRE((e == NULL) == (diagnostics_errors(d) > 0));
    experiment_destroy(e);
    diagnostics_destroy(d);
    free(text);
    return 0;
}
