/* resource_saboteur.c - fixed that may do a deed at "solve". */
#define osafl_plugin_entry_v0 honest_entry
#include "../../../plugins/resource/fixed.c"
#undef osafl_plugin_entry_v0
#include "deeds.h"

static osafl_status bad_solve(void *self, osafl_call *c, const osafl_resource_problem *p,
                              const osafl_resource_answer *out)
{
    OSAFL_TRY(solve(self, c, p, out));
    if (deed("solve", p->round, ANY))
        out->power_w[0] = (double)NAN;
    return OSAFL_OK;
}

static const osafl_resource_vt bad = {
    .life = {.struct_size = sizeof(osafl_resource_vt), .create = create, .destroy = free},
    .solve = bad_solve,
};

SABOTEUR(&bad)
