/* median.c - coordinate-wise median of the updates (Yin et al. 2018; ALGORITHMS.md 6).
 *
 * Of an even number of values the mean of the two middle ones. */
#include "osafl/aggregator.h"
#include "shared/order_statistics.h"

static osafl_status describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    (void)self;
    (void)c;
    out->sends = OSAFL_SENDS_DELTA;
    out->optimizer = "sgd";
    return OSAFL_OK;
}

static double median(const float *sorted, uint32_t n, const void *config)
{
    (void)config;
    const float lower = sorted[(size_t)((n - 1) / 2) * LANES];
    const float upper = sorted[(size_t)(n / 2) * LANES];
    return 0.5 * ((double)lower + (double)upper);
}

static osafl_status aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    (void)c;
    const struct stateless_rule *r = self;
    return add_location(r->host, u, median, NULL, w);
}

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
    .name = "median",
    .version = "1.0.0",
    .summary = "Coordinate-wise median of the updates",
    .cite = "Yin, Chen, Ramchandran, Bartlett: Byzantine-Robust Distributed Learning: Towards "
            "Optimal Statistical Rates, ICML 2018",
    .license = "MIT",
    .features = features,
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
