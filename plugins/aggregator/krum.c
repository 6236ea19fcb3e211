/* krum.c - the one update that lies closest to its neighbours (Blanchard et al. 2017; ALGORITHMS.md
 * 6).
 *
 * The score of an update is the sum of its max(1, |S| - f - 2) smallest squared distances to other
 * updates; the least score wins, the first of equal ones. */
#include "osafl/aggregator.h"
#include "shared/participants.h"

struct config {
    int64_t byzantine;
};

enum metric_number { METRIC_CHOSEN };

static osafl_status describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    (void)self;
    (void)c;
    out->sends = OSAFL_SENDS_DELTA;
    out->optimizer = "sgd";
    return OSAFL_OK;
}

/* The proof needs so many participants; with fewer the rule still has an answer, and no promise. */
static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const struct config *settings = config;
    if (facts->clients < 2 * (uint64_t)settings->byzantine + 3)
        h->log(c, OSAFL_LOG_WARN,
               "byzantine = %lld asks for at least %llu participants, and there are %u clients: "
               "Krum then has no guarantee",
               (long long)settings->byzantine, 2 * (unsigned long long)settings->byzantine + 3,
               facts->clients);
    return stateless_create(h, c, facts, config, self);
}

static int ascending(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* gram[k * n + l] = <x_k, x_l>; distance: room for n numbers. */
static double score_of(const double *gram, uint32_t n, uint32_t k, uint32_t neighbours,
                       double *distance)
{
    const size_t stride = n;
    uint32_t others = 0;
    for (uint32_t l = 0; l < n; l++) {
        if (l != k)
            distance[others++] =
                gram[k * stride + k] + gram[l * stride + l] - 2.0 * gram[k * stride + l];
    }
    qsort(distance, others, sizeof *distance, ascending);
    double score = 0.0;
    for (uint32_t l = 0; l < neighbours && l < others; l++)
        score += distance[l];
    return score;
}

static osafl_status aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    const struct stateless_rule *r = self;
    const struct config *config = r->config;
    const uint64_t n = u->n;
    double *gram = r->host->scratch(c, n * n * sizeof *gram);
    double *distance = r->host->scratch(c, n * sizeof *distance);
    double *weight = r->host->scratch(c, n * sizeof *weight);
    if (gram == NULL || distance == NULL || weight == NULL)
        return OSAFL_E_NOMEM;
    OSAFL_TRY(u->ops->gram(u, 0, gram));

    const int64_t trusted = (int64_t)u->n - config->byzantine - 2;
    const uint32_t neighbours = trusted > 1 ? (uint32_t)trusted : 1;
    uint32_t best = 0;
    double least = 0.0;
    for (uint32_t k = 0; k < u->n; k++) {
        const double score = score_of(gram, u->n, k, neighbours, distance);
        if (k == 0 || score < least) {
            best = k;
            least = score;
        }
    }
    weight[best] = 1.0;
    r->host->metric(c, METRIC_CHOSEN, OSAFL_NO_CLIENT, (double)u->client[best]);
    return u->ops->add(u, 0, weight, w);
}

static const osafl_param params[] = {
    OSAFL_INT(struct config, byzantine, 1, 0, INT32_MAX,
              "f, the number of participants that may send anything", .unit = "clients"),
};

static const osafl_metric metrics[] = {
    [METRIC_CHOSEN] = {.name = "chosen_client",
                       .doc = "The client whose update was taken",
                       .scope = OSAFL_PER_ROUND},
};

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
    .name = "krum",
    .version = "1.0.0",
    .summary = "Takes the one update that lies closest to its neighbours",
    .cite = "Blanchard, El Mhamdi, Guerraoui, Stainer: Machine Learning with Adversaries: "
            "Byzantine Tolerant Gradient Descent, NeurIPS 2017",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    OSAFL_PLUGIN_METRICS(metrics),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
