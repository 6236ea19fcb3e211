/* old_keys.c - settings of earlier versions and of other programs, and what they are called now. */
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

/* ---- a name that never was one here ---- */

/* Whether a word is one of a list such as "lr learning_rate". */
static bool is_listed(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = strstr(list, word); at != NULL; at = strstr(at + n, word)) {
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    }
    return false;
}

const char *old_keys_remedy(const char *path, const char *name)
{
    static const struct {
        const char *group; /* NULL: any but those of plugins */
        const char *names;
        const char *remedy;
    } known[] = {
        {"", "grid sweep", "a grid is made with seeds, cases and vary: see osafl help grid"},
        {"", "paper",
         "published numbers are no settings any more; remove the group, write them into a table "
         "(CSV) and name it with \"osafl report --published FILE\""},
        {"aggregator", "lr learning_rate server_lr server_learning_rate",
         "it is one of the aggregator's own, such as aggregator.fedavg.server_learning_rate"},
        {NULL, "lr learning_rate client_lr local_lr",
         "it is one of the optimizer's own, such as optimizer.sgd.learning_rate"},
        {NULL,
         "C fraction frac fraction_fit participation participation_rate sample_fraction "
         "sample_rate client_fraction clients_per_round ratio sampling",
         "a choice of clients is a plugin: selection: { plugin = \"uniform\"; uniform: { share = "
         "0.1; }; };"},
        {NULL, "alpha concentration dirichlet_alpha beta non_iid",
         "see partition: { plugin = \"dirichlet\"; dirichlet: { concentration = 0.3; }; };"},
        {NULL, "epochs local_epochs local_steps steps num_epochs",
         "a client trains max_local_rounds times minibatches steps, or with training.minibatches = "
         "0 max_local_rounds times its whole store"},
        {NULL, "batch_size batchsize local_bs bs", "did you mean \"training.batch\"?"},
        {NULL, "num_clients n_clients number num_users clients_count total_clients",
         "did you mean \"clients.count\"?"},
        {NULL, "num_rounds n_rounds comm_rounds global_rounds", "did you mean \"rounds\"?"},
    };
    for (size_t i = 0; strchr(path, '.') == NULL && i < sizeof known / sizeof known[0]; i++) {
        if ((known[i].group == NULL || strcmp(known[i].group, path) == 0) &&
            is_listed(known[i].names, name))
            return known[i].remedy;
    }
    return NULL;
}
