/* fedyogi.c - yogi on the server, over the mean update (Reddi et al. 2021; ALGORITHMS.md 6).
 *
 * With g = sum_S a_u Q(Delta_u): m <- beta1 m + (1 - beta1) g;
 * v <- v - (1 - beta2) g^2 sign(v - g^2);
 * w <- w + rate m / (sqrt(v) + tau). */
#include "osafl/aggregator.h"
#include "shared/adaptive_server.h"

static double second_moment(double v, double square, double beta2)
{
    if (v > square)
        return v - (1.0 - beta2) * square;
    return v < square ? v + (1.0 - beta2) * square : v;
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    return adaptive_server_create(h, c, facts, config, second_moment, self);
}

static const osafl_param params[] = {ADAPTIVE_SERVER_PARAMS};

static const char *const features[] = {"permutation_invariant", "scale_free", NULL};

static const osafl_aggregator_vt vtable = SERVER_MOMENTS_VTABLE(create);

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_AGGREGATOR,
    .name = "fedyogi",
    .version = "1.0.0",
    .summary = "Yogi on the server, over the mean update",
    .cite = "Reddi, Charles, Zaheer, Garrett, Rush, Konecny, Kumar, McMahan: Adaptive Federated "
            "Optimization, ICLR 2021",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct adaptive_server_config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
