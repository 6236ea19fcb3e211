/* deletion_base.h - a deletion plugin that keeps every rule; a file that includes it defines
 * beforehand what it wants to break. */
#include "osafl/deletion.h"

#ifndef BASE_NAME
#error "define BASE_NAME, the file's own name"
#endif
#ifndef BASE_MINOR
#define BASE_MINOR OSAFL_ABI_MINOR
#endif
#ifndef BASE_KIND
#define BASE_KIND OSAFL_KIND_DELETION
#endif
#ifndef BASE_CREATE
#define BASE_CREATE base_create
#endif
#ifndef BASE_SELECT
#define BASE_SELECT base_select
#endif
#ifndef BASE_BEFORE_RETURN
#define BASE_BEFORE_RETURN
#endif

static inline osafl_status base_create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                                       const void *config, void **self)
{
    (void)h;
    (void)c;
    (void)facts;
    (void)config;
    (void)self;
    return OSAFL_OK;
}

static void base_destroy(void *self)
{
    (void)self;
}

static inline osafl_status base_select(void *self, osafl_call *c, const osafl_store_view *v,
                                       uint32_t n, uint32_t *position)
{
    (void)self;
    (void)c;
    (void)v;
    for (uint32_t i = 0; i < n; i++)
        position[i] = i;
    return OSAFL_OK;
}

static const osafl_deletion_vt vtable = {
    .life = {.struct_size = sizeof(osafl_deletion_vt),
             .state_version = 1,
             .create = BASE_CREATE,
             .destroy = base_destroy},
    .select = BASE_SELECT,
};

static const osafl_plugin plugin = {
    .struct_size = sizeof(osafl_plugin),
    .abi_major = OSAFL_ABI_MAJOR,
    .abi_minor = BASE_MINOR,
    .fingerprint = OSAFL_FINGERPRINT,
    .kind = BASE_KIND,
    .name = BASE_NAME,
    .version = "1.0.0",
    .summary = "Removes the first samples",
    .license = "MIT",
    .vtable = &vtable.life,
};

#ifdef BASE_ENTRY
OSAFL_EXPORT const osafl_plugin *BASE_ENTRY(void);
#else
#define BASE_ENTRY osafl_plugin_entry_v0
#endif
OSAFL_EXPORT const osafl_plugin *BASE_ENTRY(void)
{
    BASE_BEFORE_RETURN
    return &plugin;
}
