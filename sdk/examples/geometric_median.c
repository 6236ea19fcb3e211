/* geometric_median.c - robust federated aggregation by the geometric median of the updates.
 *
 * Pillutla, Kakade and Harchaoui, "Robust Aggregation for Federated Learning", IEEE Transactions on
 * Signal Processing 70, 2022.  The point v that minimises sum over k of alpha_k * ||x_k - v|| is
 * found by their smoothed Weiszfeld algorithm:
 *
 *     beta_k = alpha_k / max(nu, ||v - x_k||),   v = sum of beta_k x_k / sum of beta_k.
 *
 * Every such v is a combination of the updates with weights c, and so all distances follow from the
 * products of the updates with each other, G: ||v - x_k||^2 = c'Gc - 2 (Gc)_k + G_kk.  The updates
 * are read twice, however many iterations there are. */
#include <math.h>
#include <stdlib.h>

#include <osafl/aggregator.h>

struct config {
    int64_t iterations;
    double smoothing;
};

static const osafl_param params[] = {
    OSAFL_INT(struct config, iterations, 100, 1, 100000,
              "Most iterations; fewer when the weights have settled"),
    OSAFL_REAL(struct config, smoothing, 1e-6, 0.0, 1e6,
               "nu, the distance below which an update attracts no more", .flags = OSAFL_P_LO_OPEN),
};

enum { METRIC_ITERATIONS, METRIC_WEIGHT };
static const osafl_metric metrics[] = {
    {.name = "iterations", .doc = "Iterations until the weights settled", .scope = OSAFL_PER_ROUND},
    {.name = "weight", .doc = "Weight of the client in the median", .scope = OSAFL_PER_CLIENT},
};

/* Weights that change by less than this have settled. */
#define SETTLED 1e-12

struct rule {
    const osafl_host *host;
    const struct config *config;
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)facts;
    struct rule *rule = malloc(sizeof *rule);
    if (rule == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *rule = (struct rule){.host = h, .config = config};
    *self = rule;
    return OSAFL_OK;
}

static osafl_status describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    (void)self;
    (void)c;
    out->sends = OSAFL_SENDS_DELTA;
    out->optimizer = "sgd";
    return OSAFL_OK;
}

/* One step of Weiszfeld's algorithm on the weights; returns the largest change. */
static double improve(const double *gram, const double *alpha, uint32_t n, double smoothing,
                      double *weight, double *product, double *next)
{
    double norm2 = 0.0; /* of v */
    double total = 0.0;
    double change = 0.0;
    for (uint32_t k = 0; k < n; k++) {
        product[k] = 0.0;
        for (uint32_t l = 0; l < n; l++)
            product[k] += gram[(size_t)k * n + l] * weight[l];
        norm2 += weight[k] * product[k];
    }
    for (uint32_t k = 0; k < n; k++) {
        const double distance2 = norm2 - 2.0 * product[k] + gram[(size_t)k * n + k];
        const double distance = sqrt(fmax(distance2, 0.0)); /* rounding may lead below zero */
        next[k] = alpha[k] / fmax(distance, smoothing);
        total += next[k];
    }
    for (uint32_t k = 0; k < n; k++) {
        next[k] /= total;
        change = fmax(change, fabs(next[k] - weight[k]));
        weight[k] = next[k];
    }
    return change;
}

static osafl_status aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    const struct rule *rule = self;
    const osafl_host *h = rule->host;
    const uint32_t n = u->n;
    double *gram = h->scratch(c, (uint64_t)n * n * sizeof *gram);
    double *weight = h->scratch(c, 3 * (uint64_t)n * sizeof *weight);
    if (gram == NULL || weight == NULL)
        return OSAFL_E_NOMEM;
    OSAFL_TRY(u->ops->gram(u, 0, gram));

    double total = 0.0;
    for (uint32_t k = 0; k < n; k++)
        total += u->alpha[k];
    for (uint32_t k = 0; k < n; k++)
        weight[k] = u->alpha[k] / total;

    int64_t iterations = 0;
    double change = 1.0;
    while (iterations < rule->config->iterations && change > SETTLED) {
        if (h->cancelled(c))
            return OSAFL_E_CANCELLED;
        change = improve(gram, u->alpha, n, rule->config->smoothing, weight, weight + n,
                         weight + 2 * (size_t)n);
        iterations++;
    }
    h->metric(c, METRIC_ITERATIONS, OSAFL_NO_CLIENT, (double)iterations);
    for (uint32_t k = 0; k < n; k++)
        h->metric(c, METRIC_WEIGHT, u->client[k], weight[k]);
    return u->ops->add(u, 0, weight, w);
}

static const char *const features[] = {"sole_update", "mean",   "permutation_invariant",
                                       "scale_free",  "robust", NULL};

static const osafl_aggregator_vt vtable = {
    .life = {.struct_size = sizeof(osafl_aggregator_vt), .create = create, .destroy = free},
    .describe = describe,
    .aggregate = aggregate,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_AGGREGATOR,
    .name = "geometric_median",
    .version = "1.0.0",
    .summary = "RFA: the geometric median of the updates",
    .cite = "Pillutla, Kakade, Harchaoui: Robust Aggregation for Federated Learning, IEEE "
            "Transactions on Signal Processing, 2022",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    OSAFL_PLUGIN_METRICS(metrics),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
