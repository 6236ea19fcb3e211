/* staggered.c - each client draws a new label mix once, at a round of its own.
 *
 * Draws are independent and of the partition's distribution, so that a drift keeps it. */
#include "osafl/drift.h"
#include "osafl/random.h"

struct config {
    int64_t round;
    int64_t spread;
};

static const osafl_param params[] = {
    OSAFL_INT(struct config, round, 10, 0, INT32_MAX,
              "First round, from 0, at whose end mixes change", .unit = "rounds"),
    OSAFL_INT(struct config, spread, 20, 1, INT32_MAX,
              "Rounds over which the changes of the clients are spread, each with the same "
              "probability; 1: all at once",
              .unit = "rounds"),
};

static osafl_status at(void *self, osafl_call *c, uint32_t client, uint32_t round,
                       osafl_drift_mix *out)
{
    const struct config *config = self;
    uint32_t word[2];
    c->host->random_fill(c, 1, client, 0, 0, word, 2);
    const int64_t change = config->round + osafl_below(word, (uint32_t)config->spread);
    out->draw_a = round >= change ? 1 : 0;
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
    .name = "staggered",
    .version = "1.0.0",
    .summary = "Draws a new label mix for each client at a round of its own",
    .cite = "Jothimurugesan et al., Federated Learning under Distributed Concept Drift, AISTATS "
            "2023",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
