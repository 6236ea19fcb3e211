/* feddisco.c - weighs clients by their data and by how far their labels are from uniform (Ye et al.
 * 2023; ALGORITHMS.md 6).
 *
 * weight_u = max(alpha_u - A disc_u + B, 0), normalized over the participants; a_u when all are 0.
 *   l2  disc_u = || h_u - 1/C ||, with h_u the label histogram of the store over its size
 *   kl  disc_u = sum h_u ln(h_u C), divided by its sum over the participants, as the official code
 *       does */
#include <math.h>

#include "osafl/aggregator.h"
#include "osafl/dataset.h"
#include "shared/participants.h"

enum { DISCREPANCY_L2, DISCREPANCY_KL };
static const char *const discrepancy_choices[] = {"l2", "kl", NULL};

struct config {
    osafl_choice discrepancy;
    double a;
    double b;
};

enum metric_number { METRIC_DISCREPANCY, METRIC_WEIGHT };

static osafl_status describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    (void)self;
    (void)c;
    out->sends = OSAFL_SENDS_DELTA;
    out->optimizer = "sgd";
    out->one_sum = 1;
    return OSAFL_OK;
}

static double discrepancy_of(const uint32_t *histogram, uint32_t labels, bool kl)
{
    uint64_t samples = 0;
    for (uint32_t l = 0; l < labels; l++)
        samples += histogram[l];
    if (samples == 0)
        return 0.0;
    double sum = 0.0;
    for (uint32_t l = 0; l < labels; l++) {
        const double share = (double)histogram[l] / (double)samples;
        const double gap = share - 1.0 / (double)labels;
        if (kl)
            sum += share > 0.0 ? share * log(share * (double)labels) : 0.0;
        else
            sum += gap * gap;
    }
    return kl ? sum : sqrt(sum);
}

static void find_discrepancies(const osafl_updates *u, bool kl, double *discrepancy)
{
    double total = 0.0;
    for (uint32_t k = 0; k < u->n; k++) {
        discrepancy[k] = discrepancy_of(u->histogram[k], u->labels, kl);
        total += discrepancy[k];
    }
    for (uint32_t k = 0; kl && total > 0.0 && k < u->n; k++)
        discrepancy[k] /= total;
}

static osafl_status aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    const struct stateless_rule *r = self;
    const struct config *config = r->config;
    double *discrepancy = r->host->scratch(c, (uint64_t)u->n * sizeof *discrepancy);
    double *weight = r->host->scratch(c, (uint64_t)u->n * sizeof *weight);
    if (discrepancy == NULL || weight == NULL)
        return OSAFL_E_NOMEM;

    find_discrepancies(u, config->discrepancy.index == DISCREPANCY_KL, discrepancy);
    double total = 0.0;
    for (uint32_t k = 0; k < u->n; k++) {
        weight[k] = fmax(u->alpha[k] - config->a * discrepancy[k] + config->b, 0.0);
        total += weight[k];
    }
    if (total > 0.0) {
        for (uint32_t k = 0; k < u->n; k++)
            weight[k] /= total;
    } else {
        participants_shares(u, weight);
    }
    for (uint32_t k = 0; k < u->n; k++) {
        r->host->metric(c, METRIC_DISCREPANCY, u->client[k], discrepancy[k]);
        r->host->metric(c, METRIC_WEIGHT, u->client[k], weight[k]);
    }
    return u->ops->add(u, 0, weight, w);
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    if (facts->dataset->target_type == OSAFL_TARGET_REAL && facts->dataset->labels == 1)
        return h->fail(c, OSAFL_E_CONFIG,
                       "the targets are real numbers, so there are no labels to weigh clients by; "
                       "choose another aggregator, such as \"fedavg\"");
    return stateless_create(h, c, facts, config, self);
}

static const osafl_param params[] = {
    OSAFL_CHOICE(struct config, discrepancy, DISCREPANCY_L2, discrepancy_choices,
                 "Distance of a client's labels from uniform: Euclidean, or the Kullback-Leibler "
                 "divergence normalized over the participants"),
    OSAFL_REAL(struct config, a, 0.15, 0, 1e6, "A, how much the discrepancy lowers the weight"),
    OSAFL_REAL(struct config, b, 0.1, -1e6, 1e6, "B, added to every weight before clamping at 0"),
};

static const osafl_metric metrics[] = {
    [METRIC_DISCREPANCY] = {.name = "discrepancy",
                            .doc = "Distance of the client's label histogram from uniform",
                            .scope = OSAFL_PER_CLIENT},
    [METRIC_WEIGHT] = {.name = "weight",
                       .doc = "Weight of the client's update in the mean",
                       .scope = OSAFL_PER_CLIENT},
};

static const char *const features[] = {"sole_update", "mean", "permutation_invariant", NULL};

static const osafl_aggregator_vt vtable = {
    .life = {.struct_size = sizeof(osafl_aggregator_vt), .create = create, .destroy = free},
    .describe = describe,
    .aggregate = aggregate,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_AGGREGATOR,
    .name = "feddisco",
    .version = "1.0.0",
    .summary = "Weighs updates by data size and label discrepancy",
    .cite = "Ye, Xu, Wang, Xu, Chen, Wang: FedDisco: Federated Learning with Discrepancy-Aware "
            "Collaboration, ICML 2023",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    OSAFL_PLUGIN_METRICS(metrics),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
