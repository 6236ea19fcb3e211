/* kept.c - an arrival process: how many samples arrive, and is the client available?
 *
 * As generated a client receives E_u samples (clients.arrivals) in every `period`-th round, and
 * nothing in between; clients take turns.
 *
 * To make it yours, change arrive(); osafl/arrival.h tells more. */
#include <osafl/arrival.h>

/* The settings, and the table from which the program reads, checks and explains them.  The plugin
 * keeps nothing else, so it has no create(): self is this struct. */
struct config {
    int64_t period;
};

static const osafl_param params[] = {
    OSAFL_INT(struct config, period, 3, 1, 1000000, "Rounds from one delivery to the next",
              .unit = "rounds"),
};

/* n[u], at most p->capacity[u]; present[u] is 1 already. */
static osafl_status arrive(void *self, osafl_call *c, const osafl_arrival_problem *p, uint32_t *n,
                           uint8_t *present)
{
    (void)c;
    (void)present;
    const struct config *config = self;
    for (uint32_t u = 0; u < p->clients; u++) {
        if (((uint64_t)p->round + u) % (uint64_t)config->period == 0)
            n[u] = p->arrivals[u];
    }
    return OSAFL_OK;
}

static const osafl_arrival_vt vtable = {
    .life = {.struct_size = sizeof(osafl_arrival_vt)},
    .arrive = arrive,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_ARRIVAL,
    .name = "kept",
    .version = "0.1.0",
    .summary = "Deliveries every few rounds",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
