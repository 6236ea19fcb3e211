/* sudden.c - all clients draw a new label mix at once.
 *
 * Draws are independent and of the partition's distribution, so that a drift keeps it. */
#include "osafl/drift.h"

struct config {
    int64_t round;
};

static const osafl_param params[] = {
    OSAFL_INT(struct config, round, 10, 0, INT32_MAX,
              "Round, from 0, at whose end the mixes change", .unit = "rounds"),
};

static osafl_status at(void *self, osafl_call *c, uint32_t client, uint32_t round,
                       osafl_drift_mix *out)
{
    (void)c;
    (void)client;
    const struct config *config = self;
    out->draw_a = (int64_t)round >= config->round ? 1 : 0;
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
    .name = "sudden",
    .version = "1.0.0",
    .summary = "Draws a new label mix for every client after a given round",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
