/* loader.h - finds, checks and loads plugins by kind and name. */
#ifndef OSAFL_CORE_LOADER_H
#define OSAFL_CORE_LOADER_H

#include <stddef.h>

#include "osafl/plugin.h"

struct loader;      /* search path and everything loaded so far; files are never unloaded */
struct diagnostics;

/* A loaded plugin.  Lives as long as the process. */
struct loaded_plugin {
    const osafl_plugin *plugin;
    char path[4096];  /* canonical path of the file */
    char hash[33];    /* XXH3-128 of the file, hexadecimal */
};

#define LOADER_KINDS 8

/* "dataset", ...; NULL for an unknown kind.  kind_from_name: 0 for an unknown name. */
const char *kind_name(uint32_t kind);
uint32_t kind_from_name(const char *name);

/* extra_dirs: --plugin-dir, absolute or relative to the working directory, in order.  Then
 * OSAFL_PLUGIN_PATH, beside the executable, the compiled-in folder.  NULL with the reason in d. */
struct loader *loader_create(const char *const *extra_dirs, size_t n_extra_dirs,
                             struct diagnostics *d);
void loader_destroy(struct loader *l);

/* Loads KIND/NAME.so, or returns the one loaded before.  On failure NULL, with one error in d at
 * file:line that says what was looked for and where, "did you mean", and what exists. */
const struct loaded_plugin *loader_load(struct loader *l, uint32_t kind, const char *name,
                                        struct diagnostics *d, const char *file, unsigned line);

/* Names of the files DIR/KIND/NAME.so of the search path, sorted, without loading them; shadowed
 * ones once.  Freed by loader_free_names(). */
osafl_status loader_names(struct loader *l, uint32_t kind, char ***names, size_t *n);
void loader_free_names(char **names, size_t n);

#endif
