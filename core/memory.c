/* memory.c - aligned, zeroed memory whose size cannot overflow. */
#include "memory.h"

#include <assert.h>
#include <stdlib.h>

void *memory_zeroed(uint64_t count, uint64_t size, size_t alignment)
{
    assert(alignment >= sizeof(void *) && (alignment & (alignment - 1)) == 0);
    const size_t overhead = sizeof(void *) + alignment;
    if (size != 0 && count > ((uint64_t)PTRDIFF_MAX - overhead) / size)
        return NULL;
    /* calloc() and not aligned_alloc(): large blocks come as pages that the kernel zeroes on first
     * use.  The address that free() wants stands just before the aligned part. */
    void *const base = calloc(1, (size_t)(count * size) + overhead);
    if (base == NULL)
        return NULL;
    const uintptr_t first = (uintptr_t)base + sizeof(void *);
    const size_t shift = (size_t)((alignment - first % alignment) % alignment);
    void **const p = (void **)(void *)((char *)base + sizeof(void *) + shift);
    p[-1] = base;
    return p;
}

void memory_free(void *p)
{
    if (p != NULL)
        free(((void **)p)[-1]);
}
