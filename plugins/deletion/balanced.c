/* balanced.c - deletes so that the label histogram of store and arrivals becomes as flat as it can.
 *
 * One after the other, a sample leaves the label that has most; of equal labels the lower one.
 * Arrivals count, but never leave. */
#include "osafl/deletion.h"
#include "selection/leaving.h"

struct config {
    osafl_choice which;
};

enum { STREAM_CHOICE = 1 };

/* The label with most samples among those that have a stored one left to give. */
static uint32_t fullest_label(const uint32_t *all, const uint32_t *stored, const uint32_t *take,
                              uint32_t labels)
{
    uint32_t best = labels;
    for (uint32_t l = 0; l < labels; l++) {
        if (take[l] < stored[l] && (best == labels || all[l] > all[best]))
            best = l;
    }
    return best;
}

static osafl_status select_samples(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                                   uint32_t *position)
{
    const struct selection_policy *p = self;
    const struct config *config = p->config;
    OSAFL_TRY(selection_check(p->host, c, v, n));
    uint32_t *stored = p->host->scratch(c, (uint64_t)v->labels * sizeof *stored);
    uint32_t *all = p->host->scratch(c, (uint64_t)v->labels * sizeof *all);
    uint32_t *take = p->host->scratch(c, (uint64_t)v->labels * sizeof *take);
    if (stored == NULL || all == NULL || take == NULL)
        return OSAFL_E_NOMEM;
    selection_count(v, stored);
    for (uint32_t i = 0; i < v->stored + v->arrived; i++)
        all[v->label[i]]++;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t label = fullest_label(all, stored, take, v->labels);
        take[label]++;
        all[label]--;
    }
    return selection_by_label(p->host, c, v, take, config->which.index, STREAM_CHOICE, position);
}

static const osafl_param params[] = {
    OSAFL_CHOICE(struct config, which, WHICH_RANDOM, selection_which,
                 "Which samples of a label leave"),
};

static const osafl_deletion_vt vtable = {
    .life = {.struct_size = sizeof(osafl_deletion_vt),
             .create = selection_create_by_label,
             .destroy = free},
    .select = select_samples,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_DELETION,
    .name = "balanced",
    .version = "1.0.0",
    .summary = "Keeps the label histogram of a store as flat as possible",
    .license = "MIT",
    .features = selection_features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
