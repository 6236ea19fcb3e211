/* genie.c - the upper bound that no federation reaches: one place sees all data (ALGORITHMS.md 6).
 *
 * The host pools all stores into one client, without link and quantizer; the model becomes what
 * that client trained. */
#include <string.h>

#include "osafl/aggregator.h"
#include "shared/participants.h"

struct config {
    int64_t steps;
};

static osafl_status describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    (void)self;
    (void)c;
    out->sends = OSAFL_SENDS_DELTA;
    out->optimizer = "sgd";
    return OSAFL_OK;
}

static osafl_status steps_per_round(void *self, osafl_call *c, uint64_t *steps)
{
    (void)c;
    const struct stateless_rule *r = self;
    const struct config *config = r->config;
    *steps = (uint64_t)config->steps;
    return OSAFL_OK;
}

static const void *extension(void *self, const char *id)
{
    static const osafl_pooled pooled = {.struct_size = sizeof pooled, .steps = steps_per_round};
    (void)self;
    return strcmp(id, OSAFL_POOLED_ID) == 0 ? &pooled : NULL;
}

static osafl_status aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    const struct stateless_rule *r = self;
    return participants_add_mean(r->host, c, u, 1.0, w);
}

static const osafl_param params[] = {
    OSAFL_INT(struct config, steps, 0, 0, INT32_MAX,
              "SGD steps of a round; 0: as many as all clients together would take",
              .unit = "steps"),
};

static const char *const features[] = {"sole_update", "mean", "permutation_invariant", "scale_free",
                                       NULL};

static const osafl_aggregator_vt vtable = {
    .life = {.struct_size = sizeof(osafl_aggregator_vt),
             .create = stateless_create,
             .destroy = free,
             .extension = extension},
    .describe = describe,
    .aggregate = aggregate,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_AGGREGATOR,
    .name = "genie",
    .version = "1.0.0",
    .summary = "Centralised training on the union of all stores: an upper bound",
    .cite = "Pervej, Choi, Molisch: Online-Score-Aided Federated Learning for Resource-Constrained "
            "Wireless Clients with Continual Data Arrival",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
