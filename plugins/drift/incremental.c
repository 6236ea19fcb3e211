/* incremental.c - change after change, each in small steps: in every period of `period` rounds a
 * client moves on to its next label mix within `length` rounds and keeps it for the rest.
 *
 * Between changes a client has one draw of the partition's distribution. */
#include "osafl/drift.h"

struct config {
    int64_t period;
    int64_t length;
};

static const osafl_param params[] = {
    OSAFL_INT(struct config, period, 20, 1, INT32_MAX,
              "Rounds from the beginning of a change to that of the next", .unit = "rounds"),
    OSAFL_INT(struct config, length, 5, 1, INT32_MAX,
              "Rounds that a change takes, at most a period; 1: all at once", .unit = "rounds"),
};

static osafl_status check(const osafl_host *h, osafl_call *c, const void *settings)
{
    const struct config *config = settings;
    if (config->length <= config->period)
        return OSAFL_OK;
    return h->fail(c, OSAFL_E_CONFIG,
                   "drift.incremental.length is %lld, more than the period of %lld rounds; lower "
                   "length or raise period",
                   (long long)config->length, (long long)config->period);
}

/* The first period rests: its mix is the one with which the stores began. */
static osafl_status at(void *self, osafl_call *c, uint32_t client, uint32_t round,
                       osafl_drift_mix *out)
{
    (void)c;
    (void)client;
    const struct config *config = self;
    const uint32_t change = (uint32_t)(round / config->period);
    const int64_t steps = round % config->period + 1;
    out->draw_a = change;
    out->weight = 0.0;
    if (change > 0 && steps < config->length) {
        out->draw_a = change - 1;
        out->draw_b = change;
        out->weight = (double)steps / (double)config->length;
    }
    return OSAFL_OK;
}

static const osafl_drift_vt vtable = {
    .life = {.struct_size = sizeof(osafl_drift_vt), .check = check},
    .at = at,
};

static const char *const features[] = {"concurrent", NULL};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_DRIFT,
    .name = "incremental",
    .version = "1.0.0",
    .summary = "Moves on to new label mixes again and again, each time in small steps",
    .cite = "Gama et al., A Survey on Concept Drift Adaptation, ACM Computing Surveys 46(4), 2014",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
