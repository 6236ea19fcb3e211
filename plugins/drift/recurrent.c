/* recurrent.c - old label mixes come back: every client takes turns with a few of them.
 *
 * At any time a client has one draw of the partition's distribution. */
#include "osafl/drift.h"

struct config {
    int64_t period;
    int64_t mixes;
};

static const osafl_param params[] = {
    OSAFL_INT(struct config, period, 10, 1, INT32_MAX, "Rounds for which a mix is in force",
              .unit = "rounds"),
    OSAFL_INT(struct config, mixes, 2, 2, INT32_MAX, "Mixes of a client, one after the other"),
};

static osafl_status at(void *self, osafl_call *c, uint32_t client, uint32_t round,
                       osafl_drift_mix *out)
{
    (void)c;
    (void)client;
    const struct config *config = self;
    out->draw_a = (uint32_t)(round / config->period % config->mixes);
    out->weight = 0.0;
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
    .name = "recurrent",
    .version = "1.0.0",
    .summary = "Returns to each client's earlier label mixes in turn",
    .cite = "Gama et al., A Survey on Concept Drift Adaptation, ACM Computing Surveys 46(4), 2014",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
