/* kept.c - a drift: which of its label mixes does a client have in a round?
 *
 * As generated all clients change to their next mix at once, every `period` rounds.
 *
 * To make it yours, change at(); osafl/drift.h tells more. */
#include <osafl/drift.h>

/* The settings, and the table from which the program reads, checks and explains them.  The plugin
 * keeps nothing else, so it has no create(): self is this struct. */
struct config {
    int64_t period;
};

static const osafl_param params[] = {
    OSAFL_INT(struct config, period, 10, 1, 1000000, "Rounds from one change to the next",
              .unit = "rounds"),
};

/* A pure function of client and round. */
static osafl_status at(void *self, osafl_call *c, uint32_t client, uint32_t round,
                       osafl_drift_mix *out)
{
    (void)c;
    (void)client;
    const struct config *config = self;
    out->draw_a = (uint32_t)(round / config->period);
    out->weight = 0.0; /* nothing of a second draw */
    return OSAFL_OK;
}

static const osafl_drift_vt vtable = {
    .life = {.struct_size = sizeof(osafl_drift_vt)},
    .at = at,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_DRIFT,
    .name = "kept",
    .version = "0.1.0",
    .summary = "Changes every client's mix every few rounds",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
