/* all.c - asks everybody who is there. */
#include <string.h>

#include "osafl/selection.h"

/* Asks every available client. */
static osafl_status choose(void *self, osafl_call *c, const osafl_selection_problem *p,
                           uint8_t *asked)
{
    (void)self;
    (void)c;
    memcpy(asked, p->present, p->clients);
    return OSAFL_OK;
}

static const osafl_selection_vt vtable = {
    .life = {.struct_size = sizeof(osafl_selection_vt)},
    .choose = choose,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_SELECTION,
    .name = "all",
    .version = "1.0.0",
    .summary = "Asks every available client",
    .license = "MIT",
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
