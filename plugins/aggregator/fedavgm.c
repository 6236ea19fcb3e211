/* fedavgm.c - FedAvg with server momentum (Hsu et al. 2019; ALGORITHMS.md 6).
 *
 * m <- momentum m + sum_S a_u Q(Delta_u);  w <- w + rate m. */
#include "osafl/aggregator.h"
#include "shared/server_moments.h"

struct config {
    double server_learning_rate;
    double momentum;
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const struct config *settings = config;
    const struct server_moments_config moments = {
        .server_learning_rate = settings->server_learning_rate,
        .first_decay = settings->momentum,
        .first_gain = 1.0,
    };
    return server_moments_create(h, c, facts, &moments, NULL, self);
}

static const osafl_param params[] = {
    OSAFL_REAL(struct config, server_learning_rate, 1, 0, 1e6, "Learning rate of the server's step",
               .flags = OSAFL_P_LO_OPEN),
    OSAFL_REAL(struct config, momentum, 0.9, 0, 1, "Share of the last round's step that is kept",
               .flags = OSAFL_P_HI_OPEN),
};

static const char *const features[] = {"permutation_invariant", "scale_free", NULL};

static const osafl_aggregator_vt vtable = SERVER_MOMENTS_VTABLE(create);

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_AGGREGATOR,
    .name = "fedavgm",
    .version = "1.0.0",
    .summary = "FedAvg with server momentum",
    .cite = "Hsu, Qi, Brown: Measuring the Effects of Non-Identical Data Distribution for "
            "Federated Visual Classification, 2019",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
