/* guarded_memory.h - buffers that a plugin is given, and what it did beside them.
 *
 * A buffer of a guarded arena ends at a page that must not be touched, begins after one as closely
 * as its alignment allows, and is read-only when it is an input: a wrong access is a fault at once,
 * and guarded_memory_explain() names the buffer.  The few bytes that alignment leaves hold
 * a known value.  An arena that is not guarded forgives small mistakes, so that checks of other
 * things can go on. */
#ifndef OSAFL_CONFORM_GUARDED_MEMORY_H
#define OSAFL_CONFORM_GUARDED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guarded_block;

/* Buffers of one call or a few.  Zero but for what is set; one thread at a time. */
struct arena {
    bool guarded;
    unsigned char fill; /* what outputs hold before the plugin writes them */
    struct guarded_block *blocks;
};

/* count * size bytes at a multiple of alignment (a power of two, at most 4096), filled with
 * arena->fill.  name: for messages; copied.  Ends the process where memory is short. */
void *arena_output(struct arena *a, const char *name, uint64_t count, size_t size,
                   size_t alignment);
/* The same, holding a copy of data that the plugin may change (data NULL: zeros). */
void *arena_inout(struct arena *a, const char *name, const void *data, uint64_t count, size_t size,
                  size_t alignment);
/* The same, holding a copy of data that the plugin must not change. */
const void *arena_input(struct arena *a, const char *name, const void *data, uint64_t count,
                        size_t size, size_t alignment);

/* Makes a buffer of this arena read-only, or writable again; does nothing without guards. */
void arena_protect(const struct arena *a, void *buffer, bool read_only);

/* What was written beside a guarded buffer, in words; NULL: nothing. */
const char *arena_damage(const struct arena *a);

/* Frees all buffers; the arena can be used again. */
void arena_clear(struct arena *a);

/* For a handler of faults: says to which buffer the address belongs; false: to none. */
bool guarded_memory_explain(const void *address, char *out, size_t size);

#endif
