/* fedavg.c - federated averaging (McMahan et al. 2017; ALGORITHMS.md 6).
 *
 * renormalized  w <- w + eta_g * sum_S a_u Q(Delta_u), with a_u = alpha_u / sum_S alpha
 * literal       w <- sum_S alpha_u (w + Q(Delta_u)), as the paper prints M-FedAvg: without
 *               renormalization every client that sits out shrinks the model */
#include "osafl/aggregator.h"
#include "shared/participants.h"

enum { PARTICIPATION_RENORMALIZED, PARTICIPATION_LITERAL };
static const char *const participation_choices[] = {"renormalized", "literal", NULL};

struct config {
    osafl_choice participation;
    double server_learning_rate;
};

static osafl_status check(const osafl_host *h, osafl_call *c, const void *config)
{
    const struct config *settings = config;
    if (settings->participation.index == PARTICIPATION_LITERAL &&
        settings->server_learning_rate != 1.0)
        return h->fail(c, OSAFL_E_CONFIG,
                       "server_learning_rate scales the renormalized step; with participation = "
                       "\"literal\" it must be 1");
    return OSAFL_OK;
}

static osafl_status describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    const struct stateless_rule *r = self;
    const struct config *config = r->config;
    (void)c;
    out->sends = OSAFL_SENDS_DELTA;
    out->optimizer = "sgd";
    out->one_sum = config->participation.index == PARTICIPATION_RENORMALIZED;
    return OSAFL_OK;
}

static osafl_status aggregate_literally(const osafl_updates *u, float *w)
{
    const double kept = participants_alpha(u);
    for (uint64_t i = 0; i < u->dim; i++)
        w[i] = (float)(kept * (double)w[i]);
    return u->ops->add(u, 0, u->alpha, w);
}

static osafl_status aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    const struct stateless_rule *r = self;
    const struct config *config = r->config;
    if (config->participation.index == PARTICIPATION_LITERAL)
        return aggregate_literally(u, w);
    return participants_add_mean(r->host, c, u, config->server_learning_rate, w);
}

static const osafl_param params[] = {
    OSAFL_CHOICE(struct config, participation, PARTICIPATION_RENORMALIZED, participation_choices,
                 "Weights of the participants: renormalized to sum 1, or literally alpha_u"),
    OSAFL_REAL(struct config, server_learning_rate, 1, 0, 1e6,
               "Factor of the renormalized step; 1 is FedAvg", .flags = OSAFL_P_LO_OPEN),
};

static const char *const features[] = {"sole_update", "mean", "permutation_invariant", "scale_free",
                                       NULL};

static const osafl_aggregator_vt vtable = {
    .life = {.struct_size = sizeof(osafl_aggregator_vt),
             .check = check,
             .create = stateless_create,
             .destroy = free},
    .describe = describe,
    .aggregate = aggregate,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_AGGREGATOR,
    .name = "fedavg",
    .version = "1.0.0",
    .summary = "Averages the participants' updates by their share of the data",
    .cite = "McMahan, Moore, Ramage, Hampson, Aguera y Arcas: Communication-Efficient Learning of "
            "Deep Networks from Decentralized Data, AISTATS 2017",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
