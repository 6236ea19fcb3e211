/* natural.c - every client has the samples that the data set says are its own. */
#include "osafl/partition.h"

static osafl_status describe(void *self, osafl_call *c, osafl_partition_info *out)
{
    (void)self;
    (void)c;
    out->gives = OSAFL_PARTITION_NATURAL;
    return OSAFL_OK;
}

static const osafl_partition_vt vtable = {
    .life = {.struct_size = sizeof(osafl_partition_vt)},
    .describe = describe,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_PARTITION,
    .name = "natural",
    .version = "1.0.0",
    .summary = "Gives every client its own samples, as the data set names them",
    .license = "MIT",
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
