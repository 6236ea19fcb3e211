/* network_case.h - model/network with the layers of a text or of an experiment file. */
#ifndef OSAFL_TEST_NETWORK_CASE_H
#define OSAFL_TEST_NETWORK_CASE_H

#include <stdio.h>

#include "base/diagnostics.h"
#include "base/error.h"
#include "experiment/experiment_tree.h"
#include "experiment/settings.h"
#include "model_case.h"

/* Binds the group model.network of the tree; returns the first message, to be freed, or NULL. */
static inline char *network_bind(struct model_case *m, struct experiment_tree *tree,
                                 struct diagnostics *d)
{
    const osafl_plugin *p = m->f->plugin;
    const struct node *group = node_child(node_child(tree_root(tree), "model"), "network");
    if (tree != NULL)
        settings_bind(p->params, p->n_params, p->param_size, m->f->config, group, "model.network",
                      NULL, d);
    if (diagnostics_errors(d) == 0)
        return NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    diagnostics_print(d, to);
    fclose(to);
    return text;
}

/* The tree stays: the config points into it.  It is given back with close_trees(). */
static struct experiment_tree *network_trees[64];
static size_t n_network_trees;

static inline void close_trees(void)
{
    while (n_network_trees > 0)
        tree_destroy(network_trees[--n_network_trees]);
}

static inline struct model_case *network_open(struct experiment_tree *tree, struct diagnostics *d)
{
    struct model_case *m = case_open("network");
    assert_non_null(tree);
    assert_true(n_network_trees < 64);
    network_trees[n_network_trees++] = tree;
    char *message = network_bind(m, tree, d);
    if (message != NULL)
        fail_msg("%s", message);
    diagnostics_destroy(d);
    return m;
}

/* settings: "layers = (...);" and others. */
static inline struct model_case *network_of(const char *settings)
{
    struct diagnostics *d = diagnostics_create();
    char *text = NULL;
    const int n = asprintf(&text, "model: { network: {\n%s\n}; };", settings);
    assert_true(n > 0);
    struct model_case *m = network_open(tree_read_text(text, (size_t)n, "net.cfg", d), d);
    free(text);
    return m;
}

/* experiments/networks/NAME.cfg */
static inline struct model_case *network_of_file(const char *name)
{
    char path[512];
    struct diagnostics *d = diagnostics_create();
    snprintf(path, sizeof path, OSAFL_TEST_SOURCE_DIR "/experiments/networks/%s.cfg", name);
    return network_open(tree_read_file(path, d), d);
}

#endif
