/* plugin_path.h - the folders in which plugins are looked for. */
#ifndef OSAFL_CORE_PLUGIN_PATH_H
#define OSAFL_CORE_PLUGIN_PATH_H

#include "base/names.h"
#include "osafl/base.h"

struct diagnostics;

#define PLUGIN_PATH_BYTES 4096 /* of the longest path of a file, with its end */

struct plugin_folder {
    char *path;         /* absolute */
    const char *origin; /* who named it, for messages */
};

/* In the order of the search; the first that has a file wins. */
struct plugin_path {
    struct plugin_folder *folders;
    size_t n;
};

/* The folders of --plugin-dir (absolute or relative to the working directory; each must exist),
 * then those of OSAFL_PLUGIN_PATH, of the program itself and of its installation.  False with the
 * reason in d; plugin_path_free() is right in both cases. */
bool plugin_path_build(struct plugin_path *p, const char *const *extra_dirs, size_t n_extra_dirs,
                       struct diagnostics *d);
void plugin_path_free(struct plugin_path *p);

/* The first folder that has KIND/NAME.so, whose canonical path becomes real (a file that cannot
 * be reached keeps its path as it is); NULL, and real is empty: none has. */
const struct plugin_folder *plugin_path_find(const struct plugin_path *p, const char *kind,
                                             const char *name, char real[PLUGIN_PATH_BYTES]);

/* A folder that would have KIND/NAME.so if it were given: near those that were given by
 * --plugin-dir, where a build leaves its plugins, or in this folder's own builds.  False: there is
 * none. */
bool plugin_path_near(const struct plugin_path *p, const char *kind, const char *name,
                      char dir[PLUGIN_PATH_BYTES]);

/* Sorted names of all files KIND/NAME.so, each once.  Freed by names_free(). */
osafl_status plugin_path_names(const struct plugin_path *p, const char *kind, struct names *names);

#endif
