/* linked_loader.c - stands in for core/loader.c where plugins are linked into the program: all
 * built-in plugins, by kind and name, without a file system, so that a fuzzer sees into them and
 * reaches them fast.  Linked before the core, so that the core's own loader is not taken. */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "fuzz.h"
#include "plugin/cpu.h"
#include "plugin/loader.h"
#include "plugin/plugin_path.h"

#define LINKED(entry) OSAFL_EXPORT const osafl_plugin *entry(void);
#include "linked_plugins.inc"
#undef LINKED

static const osafl_plugin *(*const entries[])(void) = {
#define LINKED(entry) entry,
#include "linked_plugins.inc"
#undef LINKED
};
#define ENTRIES (sizeof entries / sizeof entries[0])

static struct loaded_plugin loaded[ENTRIES];

static const struct loaded_plugin *find(uint32_t kind, const char *name)
{
    for (size_t i = 0; i < ENTRIES; i++) {
        if (loaded[i].plugin == NULL)
            loaded[i].plugin = entries[i]();
        if (loaded[i].plugin->kind == kind && strcmp(loaded[i].plugin->name, name) == 0)
            return &loaded[i];
    }
    return NULL;
}

/* No loader needs a state of its own; the pointer only must not be NULL. */
struct loader *loader_create(const char *const *extra_dirs, size_t n_extra_dirs,
                             struct diagnostics *d)
{
    (void)extra_dirs, (void)n_extra_dirs;
    const enum cpu_isa isa = cpu_isa_chosen(d);
    if (isa == 0 || !cpu_set_environment(isa))
        return NULL;
    return (struct loader *)(void *)loaded;
}

void loader_destroy(struct loader *l)
{
    (void)l;
}

const struct plugin_path *loader_path(const struct loader *l)
{
    static const struct plugin_path none;
    (void)l;
    return &none;
}

const struct loaded_plugin *loader_load(struct loader *l, uint32_t kind, const char *name,
                                        struct diagnostics *d, const char *file, unsigned line)
{
    (void)l;
    const struct loaded_plugin *found = find(kind, name);
    if (found == NULL)
        diagnostics_error(d, file, line, "no %s plugin is called \"%s\"", kind_name(kind), name);
    return found;
}

osafl_status loader_names(struct loader *l, uint32_t kind, struct names *names)
{
    (void)l;
    *names = (struct names){0};
    for (size_t i = 0; i < ENTRIES; i++) {
        const osafl_plugin *p = entries[i]();
        if (p->kind == kind && !names_add(names, p->name))
            return OSAFL_E_NOMEM;
    }
    return OSAFL_OK;
}

const osafl_plugin *fuzz_plugin(uint32_t kind, const char *name)
{
    const struct loaded_plugin *found = find(kind, name);
    FUZZ_REQUIRE(found != NULL);
    return found->plugin;
}

const osafl_plugin *fuzz_plugin_at(uint32_t i)
{
    return i < ENTRIES ? entries[i]() : NULL;
}
