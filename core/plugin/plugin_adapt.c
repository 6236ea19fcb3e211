/* plugin_adapt.c - a plugin of another minor in structs of this program's size. */
#include "plugin_adapt.h"

#include <string.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

const osafl_plugin *plugin_adapt(const osafl_plugin *p, struct adapted_plugin *own)
{
    if (p->abi_minor == OSAFL_ABI_MINOR)
        return p;
    memset(own, 0, sizeof *own);
    memcpy(&own->plugin, p, smaller(p->struct_size, sizeof own->plugin));
    memcpy(&own->vtable, p->vtable, smaller(p->vtable->struct_size, sizeof own->vtable));
    own->plugin.struct_size = sizeof own->plugin;
    own->plugin.vtable = &own->vtable.life;
    return &own->plugin;
}
