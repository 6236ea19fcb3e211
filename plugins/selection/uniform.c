/* uniform.c - asks so many of the clients that are there, each set being equally likely.
 *
 * Selection sampling (Knuth, TAOCP volume 2, 3.4.2, algorithm S): exactly that many. */
#include "shared/pick.h"

struct settings {
    PICK_SIZE_MEMBERS
};

static const osafl_param params[] = {PICK_SIZE_PARAMS(struct settings)};

static osafl_status choose(void *self, osafl_call *c, const osafl_selection_problem *p,
                           uint8_t *asked)
{
    const struct settings *s = self;
    uint32_t left = pick_there(p);
    uint32_t wanted = pick_size(p, s->count, s->share);
    for (uint32_t u = 0; u < p->clients; u++) {
        if (!p->present[u])
            continue;
        uint32_t word[2];
        c->host->random_fill(c, 0, u, p->round, 0, word, 2);
        asked[u] = osafl_below(word, left) < wanted;
        wanted -= asked[u];
        left--;
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
    .name = "uniform",
    .version = "1.0.0",
    .summary = "Asks a number or a share of the clients, uniformly at random",
    .cite = "McMahan et al., AISTATS 2017",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct settings),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
