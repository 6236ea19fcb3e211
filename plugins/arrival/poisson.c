/* poisson.c - samples arrive at random moments, independently of each other: their number in a
 * round is Poisson distributed, with mean = variance = rate * E_u. */
#include "counts/counts.h"

struct config {
    double fill;
    double rate;
};

static const osafl_param params[] = {
    OSAFL_REAL(struct config, rate, 1.0, 0.0, 1000.0,
               "Mean number of samples in a round, as a multiple of E_u (clients.arrivals); no "
               "more than a store holds arrive at once"),
    COUNTS_FILL(struct config, 0),
};

static osafl_status arrive(void *self, osafl_call *c, const osafl_arrival_problem *p, uint32_t *n,
                           uint8_t *present)
{
    (void)present; /* 1, as it was filled */
    const struct config *config = self;
    for (uint32_t u = 0; u < p->clients; u++)
        n[u] = counts_poisson(c, 1, u, p->round, config->rate * p->arrivals[u], p->capacity[u]);
    return OSAFL_OK;
}

static const osafl_arrival_vt vtable = {
    .life = {.struct_size = sizeof(osafl_arrival_vt)},
    .arrive = arrive,
    .fill = counts_fill,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_ARRIVAL,
    .name = "poisson",
    .version = "1.0.0",
    .summary = "Poisson arrivals: samples arrive at random times, independently of each other",
    .cite = "Kingman, Poisson Processes, Oxford University Press, 1993",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
