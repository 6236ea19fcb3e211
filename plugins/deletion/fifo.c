/* fifo.c - first in, first out: the oldest stored samples leave. */
#include "osafl/deletion.h"
#include "selection/leaving.h"

static osafl_status select_samples(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                                   uint32_t *position)
{
    const struct selection_policy *p = self;
    OSAFL_TRY(selection_check(p->host, c, v, n));
    uint32_t *candidate = p->host->scratch(c, (uint64_t)v->stored * sizeof *candidate);
    struct selection_aged *aged = p->host->scratch(c, (uint64_t)v->stored * sizeof *aged);
    if (candidate == NULL || aged == NULL)
        return OSAFL_E_NOMEM;
    for (uint32_t i = 0; i < v->stored; i++)
        candidate[i] = i;
    selection_oldest(v, candidate, v->stored, aged);
    for (uint32_t i = 0; i < n; i++)
        position[i] = candidate[i];
    return OSAFL_OK;
}

static const osafl_deletion_vt vtable = {
    .life = {.struct_size = sizeof(osafl_deletion_vt), .create = selection_create, .destroy = free},
    .select = select_samples,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_DELETION,
    .name = "fifo",
    .version = "1.0.0",
    .summary = "Deletes the oldest samples of a store",
    .license = "MIT",
    .features = selection_features,
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
