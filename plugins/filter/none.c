/* none.c - leaves labels and updates as they are. */
#include "osafl/filter.h"

static const osafl_filter_vt vtable = {
    .life = {.struct_size = sizeof(osafl_filter_vt)},
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_FILTER,
    .name = "none",
    .version = "1.0.0",
    .summary = "Leaves labels and updates as they are",
    .license = "MIT",
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
