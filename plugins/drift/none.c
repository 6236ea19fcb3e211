/* none.c - no drift: a client keeps the mix with which it began. */
#include "osafl/drift.h"

static osafl_status at(void *self, osafl_call *c, uint32_t client, uint32_t round,
                       osafl_drift_mix *out)
{
    (void)self;
    (void)c;
    (void)client;
    (void)round;
    out->draw_a = 0;
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
    .name = "none",
    .version = "1.0.0",
    .summary = "Keeps every client's label mix as it is",
    .license = "MIT",
    .features = features,
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
