/* steady.c - in every round as many samples arrive as can, and everybody is there. */
#include <string.h>

#include "osafl/arrival.h"

static osafl_status arrive(void *self, osafl_call *c, const osafl_arrival_problem *p, uint32_t *n,
                           uint8_t *present)
{
    (void)self;
    (void)c;
    (void)present; /* 1, as it was filled */
    memcpy(n, p->most, p->clients * sizeof *n);
    return OSAFL_OK;
}

static const osafl_arrival_vt vtable = {
    .life = {.struct_size = sizeof(osafl_arrival_vt)},
    .arrive = arrive,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_ARRIVAL,
    .name = "steady",
    .version = "1.0.0",
    .summary = "The same number of samples reaches a client in every round: E_u",
    .license = "MIT",
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
