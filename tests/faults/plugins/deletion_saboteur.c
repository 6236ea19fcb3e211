/* deletion_saboteur.c - fifo that may do a deed at "select"; spoilt is a position named twice. */
#define osafl_plugin_entry_v0 honest_entry
#include "../../../plugins/deletion/fifo.c"
#undef osafl_plugin_entry_v0
#include "deeds.h"

static osafl_status bad_select(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                               uint32_t *position)
{
    OSAFL_TRY(select_samples(self, c, v, n, position));
    if (deed("select", v->round, v->client))
        position[n - 1] = n > 1 ? position[0] : ANY;
    return OSAFL_OK;
}

static const osafl_deletion_vt bad = {
    .life = {.struct_size = sizeof(osafl_deletion_vt), .create = selection_create, .destroy = free},
    .select = bad_select,
};

SABOTEUR(&bad)
