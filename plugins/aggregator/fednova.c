/* fednova.c - averages normalized updates, so that clients with more local rounds do not pull the
 * model toward their own optimum (Wang et al. 2020; ALGORITHMS.md 6).
 *
 * Q_u = Q((w_0 - w_k) / (kappa_u eta)), a_u = alpha_u / sum_S alpha.
 *   original  w <- w - (sum_S a_u kappa_u) eta sum_S a_u Q_u
 *   printed   w <- w - (sum_S alpha_u kappa_u) eta sum_S a_u kappa_u Q_u, as the OSAFL paper prints
 *             M-FedNova; its second kappa_u undoes the normalization */
#include "osafl/aggregator.h"
#include "shared/participants.h"

enum { VARIANT_ORIGINAL, VARIANT_PRINTED };
static const char *const variant_choices[] = {"original", "printed", NULL};

struct config {
    osafl_choice variant;
};

static osafl_status describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    (void)self;
    (void)c;
    out->sends = OSAFL_SENDS_PER_RATE;
    out->optimizer = "sgd";
    out->one_sum = 1;
    return OSAFL_OK;
}

static osafl_status aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    const struct stateless_rule *r = self;
    const struct config *config = r->config;
    const bool printed = config->variant.index == VARIANT_PRINTED;
    double *weight = r->host->scratch(c, (uint64_t)u->n * sizeof *weight);
    if (weight == NULL)
        return OSAFL_E_NOMEM;

    participants_shares(u, weight);
    double local_rounds = 0.0; /* the mean that the server gives back: tau_eff of FedNova */
    for (uint32_t k = 0; k < u->n; k++)
        local_rounds += (printed ? u->alpha[k] : weight[k]) * (double)u->local_rounds[k];
    for (uint32_t k = 0; k < u->n; k++) {
        weight[k] *= -local_rounds * u->rate[k];
        if (printed)
            weight[k] *= (double)u->local_rounds[k];
    }
    return u->ops->add(u, 0, weight, w);
}

static const osafl_param params[] = {
    OSAFL_CHOICE(struct config, variant, VARIANT_ORIGINAL, variant_choices,
                 "FedNova as published, or as the OSAFL paper prints it"),
};

static const char *const features[] = {"permutation_invariant", "scale_free", NULL};

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
    .name = "fednova",
    .version = "1.0.0",
    .summary = "Averages updates normalized by the local rounds that made them",
    .cite = "Wang, Liu, Liang, Joshi, Poor: Tackling the Objective Inconsistency Problem in "
            "Heterogeneous Federated Optimization, NeurIPS 2020",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
