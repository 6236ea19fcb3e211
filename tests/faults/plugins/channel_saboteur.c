/* channel_saboteur.c - fixed that may do a deed at "create" or "gains". */
#define osafl_plugin_entry_v0 honest_entry
#include "../../../plugins/channel/fixed.c"
#undef osafl_plugin_entry_v0
#include "deeds.h"

static osafl_status bad_create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                               const void *config, void **self)
{
    (void)deed("create", ANY, ANY);
    return create(h, c, facts, config, self);
}

static osafl_status bad_gains(void *self, osafl_call *c, uint32_t round, double *gain)
{
    OSAFL_TRY(gains(self, c, round, gain));
    if (deed("gains", round, ANY))
        gain[0] = (double)NAN;
    return OSAFL_OK;
}

static const osafl_channel_vt bad = {
    .life = {.struct_size = sizeof(osafl_channel_vt), .create = bad_create, .destroy = free},
    .describe = describe_link,
    .gains = bad_gains,
};

SABOTEUR(&bad)
