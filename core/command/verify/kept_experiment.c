/* kept_experiment.c - the experiment of a run that was kept, from its manifest. */
#include "kept_experiment.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "experiment/experiment_tree.h"
#include "experiment/old_keys.h"
#include "experiment/schema.h"
#include "plugin/kinds.h"

/* The settings of a manifest. */
struct kept {
    json_t *settings;
    struct experiment_tree *tree;
    struct diagnostics *d;
};

static bool table_has(const osafl_param *table, uint32_t n, const char *key)
{
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(table[i].name, key) == 0)
            return true;
    }
    return false;
}

/* Whether this version has the setting; what belongs to a plugin is the plugin's to refuse. */
static bool is_known(const char *path)
{
    char group[64] = "";
    const char *dot = strchr(path, '.');
    const size_t n = dot != NULL ? (size_t)(dot - path) : 0;
    if (n >= sizeof group)
        return false;
    memcpy(group, path, n);
    const struct schema_group *g = schema_find(group);
    if (g != NULL)
        return table_has(g->table, g->n, dot != NULL ? dot + 1 : path);
    const uint32_t kind = kind_from_name(group);
    return kind != 0 && kind_is_of_experiments(kind);
}

/* The value of a setting under its present name; NULL. */
static const char *value_of(const struct kept *k, const char *wanted)
{
    const char *key;
    json_t *setting;
    json_object_foreach(k->settings, key, setting)
    {
        const char *now = key;
        const char *value = json_string_value(json_object_get(setting, "value"));
        if (value != NULL)
            old_keys_translate(&now, &value);
        if (value != NULL && strcmp(now, wanted) == 0)
            return value;
    }
    return NULL;
}

/* A setting of a plugin beside which another was chosen: before they were plugins, all were
 * recorded. */
static bool is_idle(const struct kept *k, const char *key)
{
    char choice[80];
    const char *dot = strchr(key, '.');
    const char *end = dot != NULL ? strchr(dot + 1, '.') : NULL;
    if (end == NULL)
        return false;
    snprintf(choice, sizeof choice, "%.*s.plugin", (int)(dot - key), key);
    const char *chosen = value_of(k, choice); /* "\"qsgd\"" */
    const size_t n = (size_t)(end - dot - 1);
    return chosen != NULL && !(strlen(chosen) == n + 2 && strncmp(chosen + 1, dot + 1, n) == 0);
}

static void lay(const struct kept *k, const char *key, const json_t *setting)
{
    const char *now = key;
    const char *value = json_string_value(json_object_get(setting, "value"));
    const char *origin = json_string_value(json_object_get(setting, "origin"));
    if (value == NULL) {
        diagnostics_error(k->d, NULL, 0, "its manifest.json gives no value for %s", key);
        return;
    }
    old_keys_translate(&now, &value);
    if (!is_known(now)) {
        /* Published numbers, which earlier versions kept as settings, change no result. */
        if (strncmp(key, "paper.", strlen("paper.")) != 0 &&
            (origin == NULL || strcmp(origin, "default") != 0))
            diagnostics_error(k->d, NULL, 0, "this version has no setting %s, which is %s", key,
                              value);
        return;
    }
    if (is_idle(k, now))
        return;
    char *assignment = NULL;
    if (asprintf(&assignment, "%s=%s", now, value) < 0) {
        diagnostics_no_memory(k->d);
        return;
    }
    tree_set(k->tree, "manifest.json", assignment, k->d);
    free(assignment);
}

struct experiment *kept_experiment(const json_t *manifest, const char *const *set, size_t n_set,
                                   struct loader *l, struct diagnostics *d)
{
    struct kept k = {.settings = json_object_get(manifest, "settings"), .d = d};
    const char *name =
        json_string_value(json_object_get(json_object_get(manifest, "experiment"), "case"));
    k.tree = tree_read_text("", 0, "manifest.json", d);
    if (k.tree == NULL)
        return NULL;
    const size_t errors = diagnostics_errors(d);
    const char *key;
    json_t *setting;
    json_object_foreach(k.settings, key, setting) lay(&k, key, setting);
    if (diagnostics_errors(d) != errors) {
        tree_destroy(k.tree);
        return NULL;
    }
    const struct experiment_options o = {.set = set, .n_set = n_set, .loader = l};
    return experiment_resolve(k.tree, name != NULL ? name : "main", &o, d);
}
