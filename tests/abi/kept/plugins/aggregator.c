/* kept.c - an aggregator: how do the updates of one round change the global model?
 *
 * As generated it is federated averaging with a server learning rate:
 *
 *     w <- w + server_rate * sum over k of weight_k * update_k,   weight_k = alpha_k / sum of alpha
 *
 * To make it yours, change aggregate(); osafl/aggregator.h tells all that it may ask. */
#include <math.h>
#include <stdlib.h>

#include <osafl/aggregator.h>

/* The settings, and the table from which the program reads, checks and explains them. */
struct config {
    double server_rate;
};

static const osafl_param params[] = {
    OSAFL_REAL(struct config, server_rate, 1.0, 0.0, 100.0,
               "Factor of the mean update; 1 is federated averaging", .flags = OSAFL_P_LO_OPEN),
};

/* Numbers that each round reports; they become columns of rounds.csv. */
enum { METRIC_STEP_NORM };
static const osafl_metric metrics[] = {
    {.name = "step_norm", .doc = "Norm of the step of the global model", .scope = OSAFL_PER_ROUND},
};

/* One instance.  The host, the config and its strings outlive it. */
struct rule {
    const osafl_host *host;
    const struct config *config;
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)facts; /* number of clients and rounds, the data set, the model: osafl/plugin.h */
    struct rule *rule = malloc(sizeof *rule);
    if (rule == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *rule = (struct rule){.host = h, .config = config};
    *self = rule;
    return OSAFL_OK;
}

static void destroy(void *self)
{
    free(self);
}

/* What clients send, and how they train where the experiment does not say it. */
static osafl_status describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    (void)self;
    (void)c;
    out->sends = OSAFL_SENDS_DELTA; /* update_k = w_k - w */
    out->optimizer = "sgd";
    return OSAFL_OK;
}

/* w[0..dim) holds the global model on entry, and the next one on return. */
static osafl_status aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    const struct rule *rule = self;
    const osafl_host *h = rule->host;

    /* Memory of the host, which takes it back when this call returns. */
    double *weight = h->scratch(c, u->n * sizeof *weight);
    float *mean = h->scratch(c, u->dim * sizeof *mean);
    if (weight == NULL || mean == NULL)
        return OSAFL_E_NOMEM;

    double total = 0.0;
    for (uint32_t k = 0; k < u->n; k++)
        total += u->alpha[k];
    if (!(total > 0.0))
        return OSAFL_OK; /* those who take part have no data: w stays */
    for (uint32_t k = 0; k < u->n; k++)
        weight[k] = u->alpha[k] / total;

    /* The host keeps the updates in the form in which they arrived; it multiplies and adds them. */
    OSAFL_TRY(u->ops->combine(u, 0, weight, mean));

    const double rate = rule->config->server_rate;
    double norm2 = 0.0;
    OSAFL_TRY(u->ops->inner_product(u, mean, mean, &norm2));
    for (uint64_t i = 0; i < u->dim; i++)
        w[i] = (float)((double)w[i] + rate * (double)mean[i]);

    h->metric(c, METRIC_STEP_NORM, OSAFL_NO_CLIENT, rate * sqrt(norm2));
    return OSAFL_OK;
}

/* Laws that the rule keeps.  What stands here is tested by "osafl plugin check". */
static const char *const features[] = {"sole_update", "mean", "permutation_invariant", "scale_free",
                                       NULL};

static const osafl_aggregator_vt vtable = {
    .life = {.struct_size = sizeof(osafl_aggregator_vt), .create = create, .destroy = destroy},
    .describe = describe,
    .aggregate = aggregate,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_AGGREGATOR,
    .name = "kept",
    .version = "0.1.0",
    .summary = "Adds the mean update, weighted by the clients' share of the data",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    OSAFL_PLUGIN_METRICS(metrics),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
