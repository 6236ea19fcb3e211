/* fedprox.c - FedAvg's server for clients with a proximal term (Li et al. 2020; ALGORITHMS.md 6).
 *
 * What makes it FedProx is the optimizer "proximal", on which this aggregator insists: with another
 * one it would be FedAvg under a wrong name. */
#include "osafl/aggregator.h"
#include "shared/participants.h"

static osafl_status describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    (void)self;
    (void)c;
    out->sends = OSAFL_SENDS_DELTA;
    out->optimizer = "proximal";
    out->optimizer_is_fixed = 1;
    out->one_sum = 1;
    return OSAFL_OK;
}

static osafl_status aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    const struct stateless_rule *r = self;
    return participants_add_mean(r->host, c, u, 1.0, w);
}

static const char *const features[] = {"sole_update", "mean", "permutation_invariant", "scale_free",
                                       NULL};

static const osafl_aggregator_vt vtable = {
    .life = {.struct_size = sizeof(osafl_aggregator_vt),
             .create = stateless_create,
             .destroy = free},
    .describe = describe,
    .aggregate = aggregate,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_AGGREGATOR,
    .name = "fedprox",
    .version = "1.0.0",
    .summary = "FedAvg's server for clients with a proximal term",
    .cite = "Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith: Federated Optimization in Heterogeneous "
            "Networks, MLSys 2020",
    .license = "MIT",
    .features = features,
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
