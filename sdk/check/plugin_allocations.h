/* plugin_allocations.h - the memory that a plugin allocates itself: counted, and refused on demand.
 *
 * Calls from the plugin to malloc() and its kin are redirected where the dynamic linker has written
 * their addresses into the plugin, so that neither the program's own calls nor those of libraries
 * are touched.  What a library allocates for a plugin is therefore not seen. */
#ifndef OSAFL_CONFORM_PLUGIN_ALLOCATIONS_H
#define OSAFL_CONFORM_PLUGIN_ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Redirects the calls of the plugin whose code holds this address.  False: this is not possible
 * here (a machine whose relocations are unknown).  Once per process. */
bool allocations_watch(const void *address_in_plugin);

/* Requests since the last allocations_fail(). */
uint64_t allocations_requested(void);

/* Request number n from now on, counted from 1, and no other fails; 0: none fails. */
void allocations_fail(uint64_t n);
/* Counts one request of memory that is not the plugin's own, such as host->scratch(); false: it is
 * to fail. */
bool allocations_allow(void);

/* Blocks and bytes that the plugin holds now. */
uint64_t allocations_live_blocks(void);
uint64_t allocations_live_bytes(void);

#endif
