/* afa_cd.c - anarchic federated averaging, cross-device: the plain mean of whatever normalized
 * updates arrive (Yang et al. 2022; ALGORITHMS.md 6).
 *
 * w <- w - eta_gl (1 / |S|) sum_S Q_u, with Q_u the received (w_0 - w_k) / kappa_u. */
#include "osafl/aggregator.h"
#include "shared/participants.h"

struct config {
    double global_learning_rate;
};

static osafl_status describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    (void)self;
    (void)c;
    out->sends = OSAFL_SENDS_PER_ROUND;
    out->optimizer = "sgd";
    out->one_sum = 1;
    return OSAFL_OK;
}

static osafl_status aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    const struct stateless_rule *r = self;
    const struct config *config = r->config;
    double *weight = r->host->scratch(c, (uint64_t)u->n * sizeof *weight);
    if (weight == NULL)
        return OSAFL_E_NOMEM;
    for (uint32_t k = 0; k < u->n; k++)
        weight[k] = -config->global_learning_rate / (double)u->n;
    return u->ops->add(u, 0, weight, w);
}

static const osafl_param params[] = {
    OSAFL_REAL(struct config, global_learning_rate, 5, 0, 1e6,
               "eta_gl, the server's step; max_local_rounds makes it a FedAvg step",
               .flags = OSAFL_P_LO_OPEN),
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
    .name = "afa_cd",
    .version = "1.0.0",
    .summary = "Anarchic federated averaging, cross-device: the mean of what arrives",
    .cite = "Yang, Zhang, Khanduri, Liu: Anarchic Federated Learning, ICML 2022",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
