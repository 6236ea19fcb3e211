/* libraries.h - the shared libraries that a plugin has brought into the process: results depend on
 * them as on the plugin itself. */
#ifndef OSAFL_CORE_LIBRARIES_H
#define OSAFL_CORE_LIBRARIES_H

#include "base/error.h"
#include "plugin_file.h"

struct library {
    const char *path; /* the linker's own string; a library is never unmapped */
    const char *name; /* last part of it */
    char hash[PLUGIN_HASH_BYTES];
};

struct libraries {
    struct library *item; /* as the linker found them; from malloc() */
    size_t n;
};

/* What the plugin of this dlopen() handle needs, directly or not, and the program itself does not.
 * OSAFL_E_NOMEM, or OSAFL_E_IO for a file that cannot be read. */
osafl_status libraries_find(void *handle, struct libraries *out, struct error *error);

#endif
