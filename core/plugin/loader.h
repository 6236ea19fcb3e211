/* loader.h - finds, checks and loads plugins by kind and name. */
#ifndef OSAFL_CORE_LOADER_H
#define OSAFL_CORE_LOADER_H

#include <stddef.h>

#include "base/names.h"
#include "kinds.h"
#include "libraries.h"
#include "osafl/plugin.h"

struct loader; /* search path; what was loaded belongs to the process and is never unloaded */
struct diagnostics;
struct plugin_path;

/* A loaded plugin.  Lives as long as the process. */
struct loaded_plugin {
    const osafl_plugin *plugin;
    char path[4096]; /* canonical path of the file */
    char hash[33];   /* XXH3-128 of the file, hexadecimal */
    struct libraries libraries;
};

/* extra_dirs: --plugin-dir, absolute or relative to the working directory, in order.  Then
 * OSAFL_PLUGIN_PATH, next to the executable, the compiled-in folder.  NULL with the reason in d.
 * Also sets the environment of plugins (cpu_set_environment()), so it comes before any thread. */
struct loader *loader_create(const char *const *extra_dirs, size_t n_extra_dirs,
                             struct diagnostics *d);
void loader_destroy(struct loader *l);
/* The folders in which it looks; valid as long as it. */
const struct plugin_path *loader_path(const struct loader *l);

/* From now on a file is mapped by a process of its own before this one maps it, so that one which
 * ends whoever maps it is refused under its name.  Before any thread exists. */
void loader_try_first(struct loader *l);

/* Loads KIND/NAME.so, or returns the one loaded before.  On failure NULL, with one error in d at
 * file:line that says what was looked for and where, "did you mean", and what exists.
 * Coordinator only, and before any thread exists: a library may change the floating-point mode
 * of the thread that maps it, and threads inherit the mode of their creator. */
const struct loaded_plugin *loader_load(struct loader *l, uint32_t kind, const char *name,
                                        struct diagnostics *d, const char *file, unsigned line);

/* Names of the files DIR/KIND/NAME.so of the search path, sorted, without loading them; shadowed
 * ones once.  Freed by names_free(). */
osafl_status loader_names(struct loader *l, uint32_t kind, struct names *names);

/* What is known about a plugin file without having it in this process. */
struct probed_plugin {
    char path[4096];  /* canonical; empty: no such file */
    char version[64]; /* the plugin's own; empty when broken */
    char summary[256];
    char problem[1024]; /* empty: usable */
    char died[64];      /* how the process ended that mapped it, as in "signal 11"; empty: it did
                           not, and what the problem says was found */
};

/* Loads KIND/NAME.so in a child process that is killed after limit_s seconds, so that a list of
 * plugins outlives a broken one.  Before any thread exists: the child is a fork.  OSAFL_E_IO when
 * no child could be made; a broken plugin is OSAFL_OK with its problem. */
osafl_status loader_probe(struct loader *l, uint32_t kind, const char *name, double limit_s,
                          struct probed_plugin *out);

#endif
