/* kept.c - a selection: which clients are asked in this round?
 *
 * As generated each client that is there is asked with a fixed probability.
 *
 * To make it yours, change choose(); osafl/selection.h tells what is known of the clients. */
#include <osafl/random.h>
#include <osafl/selection.h>

/* The settings, and the table from which the program reads, checks and explains them.  The plugin
 * keeps nothing else, so it has no create(): self is this struct. */
struct config {
    double probability;
};

static const osafl_param params[] = {
    OSAFL_REAL(struct config, probability, 0.5, 0.0, 1.0, "Probability that a client is asked"),
};

/* asked[u] is 0 already. */
static osafl_status choose(void *self, osafl_call *c, const osafl_selection_problem *p,
                           uint8_t *asked)
{
    const struct config *config = self;
    for (uint32_t u = 0; u < p->clients; u++) {
        uint32_t word[2];
        c->host->random_fill(c, 0, u, p->round, 0, word, 2);
        asked[u] = p->present[u] && osafl_uniform(word) < config->probability;
    }
    return OSAFL_OK;
}

static const osafl_selection_vt vtable = {
    .life = {.struct_size = sizeof(osafl_selection_vt)},
    .choose = choose,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_SELECTION,
    .name = "kept",
    .version = "0.1.0",
    .summary = "Asks each client with a fixed probability",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
