/* trimmed_mean.c - coordinate-wise mean without the extremes (Yin et al. 2018; ALGORITHMS.md 6).
 *
 * Of |S| values floor(trim |S|) are dropped at each end. */
#include <math.h>

#include "osafl/aggregator.h"
#include "shared/order_statistics.h"

struct config {
    double trim;
};

static osafl_status describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    (void)self;
    (void)c;
    out->sends = OSAFL_SENDS_DELTA;
    out->optimizer = "sgd";
    return OSAFL_OK;
}

static double trimmed_mean(const float *sorted, uint32_t n, const void *config)
{
    const struct config *settings = config;
    /* 0.29 * 100 is a little less than 29 in binary; a share that is meant to be whole stays so. */
    const uint32_t dropped = (uint32_t)floor(settings->trim * (double)n * (1.0 + 1e-12));
    double sum = 0.0;
    for (size_t k = dropped; k < n - dropped; k++)
        sum += (double)sorted[k * LANES];
    return sum / (double)(n - 2 * dropped);
}

static osafl_status aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    (void)c;
    const struct stateless_rule *r = self;
    return add_location(r->host, u, trimmed_mean, r->config, w);
}

static const osafl_param params[] = {
    OSAFL_REAL(struct config, trim, 0.2, 0, 0.49,
               "Share of the values that is dropped at each end of every coordinate"),
};

static const char *const features[] = {"sole_update", "mean",   "permutation_invariant",
                                       "scale_free",  "robust", NULL};

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
    .name = "trimmed_mean",
    .version = "1.0.0",
    .summary = "Coordinate-wise mean of the updates without the extremes",
    .cite = "Yin, Chen, Ramchandran, Bartlett: Byzantine-Robust Distributed Learning: Towards "
            "Optimal Statistical Rates, ICML 2018",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
