/* gradual.c - all clients go over from one label mix to another, sample by sample: at the end of
 * round `round` the first samples come from the new mix, and each round's share of them grows until
 * `length` rounds later all do.
 *
 * Before and after, a client has one draw of the partition's distribution. */
#include "osafl/drift.h"

struct config {
    int64_t round;
    int64_t length;
};

static const osafl_param params[] = {
    OSAFL_INT(struct config, round, 10, 0, INT32_MAX,
              "Round, from 0, at whose end the change begins", .unit = "rounds"),
    OSAFL_INT(struct config, length, 10, 1, INT32_MAX,
              "Rounds that the change takes; 1: all at once", .unit = "rounds"),
};

static osafl_status at(void *self, osafl_call *c, uint32_t client, uint32_t round,
                       osafl_drift_mix *out)
{
    (void)c;
    (void)client;
    const struct config *config = self;
    const int64_t steps = (int64_t)round - config->round + 1;
    out->draw_a = steps >= config->length ? 1 : 0;
    out->draw_b = 1;
    out->weight =
        steps > 0 && steps < config->length ? (double)steps / (double)config->length : 0.0;
    return OSAFL_OK;
}

static const osafl_drift_vt vtable = {
    .life = {.struct_size = sizeof(osafl_drift_vt)},
    .at = at,
};

static const char *const features[] = {"concurrent", NULL};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_DRIFT,
    .name = "gradual",
    .version = "1.0.0",
    .summary = "Changes to a new label mix, sample by sample, over a number of rounds",
    .cite = "Gama et al., A Survey on Concept Drift Adaptation, ACM Computing Surveys 46(4), 2014",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
