/* plugin_calls.h - redirects the calls of one plugin to functions of libraries.
 *
 * The addresses are changed where the dynamic linker has written them into the plugin, so that
 * neither the program's own calls nor those of libraries are touched. */
#ifndef OSAFL_CONFORM_PLUGIN_CALLS_H
#define OSAFL_CONFORM_PLUGIN_CALLS_H

#include <stdbool.h>
#include <stddef.h>

typedef void any_function(void);

struct replacement {
    const char *name; /* of the function that the plugin calls */
    any_function *function;
};

/* Redirects the calls of the plugin whose code or data hold this address.  False: this is not
 * possible here (a machine whose relocations are unknown). */
bool plugin_calls_redirect(const void *address_in_plugin, const struct replacement *replacements,
                           size_t n);

#endif
