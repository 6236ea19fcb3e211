/* redraw.c - at random moments a client draws a new label mix.
 *
 * Draws are independent and of the partition's distribution, so that a drift keeps it. */
#include "osafl/drift.h"
#include "osafl/random.h"

struct config {
    double probability;
};

static const osafl_param params[] = {
    OSAFL_REAL(struct config, probability, 0.05, 0.0, 1.0,
               "Probability that a client draws a new mix at the end of a round"),
};

/* The latest change decides: rounds are looked at backwards, 1 / probability of them on average. */
static osafl_status at(void *self, osafl_call *c, uint32_t client, uint32_t round,
                       osafl_drift_mix *out)
{
    const struct config *config = self;
    out->draw_a = 0;
    out->weight = 0.0;
    for (uint32_t r = round + 1; config->probability > 0.0 && r > 0; r--) {
        uint32_t word[2];
        c->host->random_fill(c, 0, client, r - 1, 0, word, 2);
        if (osafl_uniform(word) < config->probability) {
            out->draw_a = r; /* a draw of its own for each round */
            break;
        }
    }
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
    .name = "redraw",
    .version = "1.0.0",
    .summary = "Draws a new label mix for a client with a fixed probability in each round",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
