/* plugin_statics.h - the static memory of a plugin, before and after it is used. */
#ifndef OSAFL_CONFORM_PLUGIN_STATICS_H
#define OSAFL_CONFORM_PLUGIN_STATICS_H

#include <stdint.h>

struct statics_difference {
    uint64_t bytes;
    uint64_t first; /* address in the file, as nm prints it */
};

/* Copies the writable memory of the mapped file that holds this address. */
void *statics_copy(const void *address_in_plugin);
/* What has changed since the copy was made, which is released. */
struct statics_difference statics_compare(const void *address_in_plugin, void *copy);

#endif
