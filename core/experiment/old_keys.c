/* old_keys.c - settings of earlier versions, and what they are called now. */
#include "old_keys.h"

#include <stdio.h>
#include <string.h>

#include "base/diagnostics.h"
#include "experiment_tree.h"

/* Values that are called otherwise now, as texts of a manifest. */
struct old_value {
    const char *before;
    const char *now;
};

static const struct old_value arrivals[] = {{"\"fixed\"", "\"steady\""}, {NULL, NULL}};
static const struct old_value still[] = {{"0.0", "\"none\""}, {NULL, NULL}};

static const struct old_value everybody[] = {{"1.0", "\"all\""}, {NULL, NULL}};
static const struct old_value methods[] = {{"\"shuffle_labels\"", "\"label_flip\""}, {NULL, NULL}};

static const struct old_key {
    const char *group;
    const char *key;
    const char *now;
    const char *before; /* the line to write instead: before, value, after */
    const char *after;  /* NULL: without the value */
    const struct old_value *values;
    bool
        only_values; /* nothing stands for another value: in a record, the setting keeps its name */
} old_keys[] = {
    {"partition", "scheme", "partition.plugin", "partition: { plugin = \"", "\"; };", NULL, false},
    {"partition", "concentration", "partition.dirichlet.concentration",
     "partition: { dirichlet: { concentration = ", "; }; };", NULL, false},
    {"partition", "labels_per_client", "partition.shards.labels",
     "partition: { shards: { labels = ", "; }; };", NULL, false},
    {"clients", "arrival_process", "arrival.plugin", "arrival: { plugin = \"", "\"; };", arrivals,
     false},
    {"clients", "arrival_probability", "arrival.binomial.probability",
     "arrival: { binomial: { probability = ", "; }; };", NULL, false},
    {"clients", "drift", "drift.plugin",
     "drift: { plugin = \"redraw\"; redraw: { probability = ", "; }; };", still, true},
    {"clients", "sampled", "selection.plugin",
     "selection: { plugin = \"uniform\"; uniform: { share = ", "; }; };", everybody, true},
    {"attack", "method", "filter.plugin", "filter: { plugin = \"", "\"; };", methods, false},
    {"attack", "share", "a setting of the attack",
     "it among those of the attack, as in filter: { plugin = \"noise\"; noise: { share = ",
     "; }; };", NULL, true},
    {"attack", "strength", "a setting of the attack",
     "it among those of the attack, as in filter: { plugin = \"noise\"; noise: { strength = ",
     "; }; };", NULL, true},
};
#define N_OLD_KEYS (sizeof old_keys / sizeof old_keys[0])

/* ---- an experiment file ---- */

static void take_out(struct node *group, const struct node *n)
{
    struct node *before = NULL;
    for (struct node *c = group->first; c != n; c = c->next)
        before = c;
    if (before == NULL)
        group->first = n->next;
    else
        before->next = n->next;
    if (group->last == n)
        group->last = before;
}

static void refuse(const struct old_key *k, const struct node *n, struct diagnostics *d)
{
    char value[128];
    char now[128];
    (void)node_text(n, value, sizeof value);
    snprintf(now, sizeof now, "%s", k->after != NULL ? value : "");
    for (const struct old_value *v = k->values; k->after != NULL && v != NULL && v->before != NULL;
         v++) {
        const size_t bare = strlen(v->before) - 2; /* without the quotes */
        if (strlen(value) == bare && strncmp(v->before + 1, value, bare) == 0)
            snprintf(now, sizeof now, "%.*s", (int)strlen(v->now) - 2, v->now + 1);
    }
    diagnostics_error(d, n->file, n->line, "%s.%s is now %s: write %s%s%s", k->group, k->key,
                      k->now, k->before, now, k->after != NULL ? k->after : "");
}

void old_keys_refuse(struct node *root, struct diagnostics *d)
{
    for (size_t i = 0; i < N_OLD_KEYS; i++) {
        struct node *group = node_child(root, old_keys[i].group);
        const struct node *n = node_child(group, old_keys[i].key);
        if (n == NULL)
            continue;
        refuse(&old_keys[i], n, d);
        take_out(group, n);
        if (group->first == NULL) /* a group that is no more would be refused once again */
            take_out(root, group);
    }
}

/* ---- a record of an earlier version ---- */

void old_keys_translate(const char **key, const char **value)
{
    char name[128];
    for (size_t i = 0; i < N_OLD_KEYS; i++) {
        const struct old_key *k = &old_keys[i];
        snprintf(name, sizeof name, "%s.%s", k->group, k->key);
        if (strcmp(*key, name) != 0)
            continue;
        bool known = !k->only_values;
        for (const struct old_value *v = k->values; v != NULL && v->before != NULL; v++) {
            if (strcmp(*value, v->before) != 0)
                continue;
            *value = v->now;
            known = true;
            break;
        }
        if (known)
            *key = k->now;
        return;
    }
}
