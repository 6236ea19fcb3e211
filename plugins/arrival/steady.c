/* steady.c - in every round as many samples arrive as the experiment names. */
#include <string.h>

#include "counts/counts.h"

struct config {
    double fill;
};

static const osafl_param params[] = {
    COUNTS_FILL(struct config, OSAFL_P_LATER),
};

static osafl_status arrive(void *self, osafl_call *c, const osafl_arrival_problem *p, uint32_t *n,
                           uint8_t *present)
{
    (void)self;
    (void)c;
    (void)present; /* 1, as it was filled */
    memcpy(n, p->arrivals, p->clients * sizeof *n);
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
    .name = "steady",
    .version = "1.0.0",
    .summary = "The same number of samples reaches a client in every round: E_u",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
