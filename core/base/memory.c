/* memory.c - aligned, zeroed memory whose size cannot overflow. */
#include "memory.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Blocks from this size on are worth large pages. */
static const uint64_t large_block = UINT64_C(8) << 20;

/* Weights and workspaces are walked through again and again: on pages of 4 KiB, looking up where
 * they lie takes a few per cent of a training step.  Only speed depends on whether the kernel has
 * large pages to give. */
static void ask_for_large_pages(char *block, uint64_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t shift = (page - (uintptr_t)block % page) % page;
    madvise(block + shift, (size_t)(bytes - shift) / page * page, MADV_HUGEPAGE);
}

void *memory_zeroed(uint64_t count, uint64_t size, size_t alignment)
{
    assert(alignment >= sizeof(void *) && (alignment & (alignment - 1)) == 0);
    const size_t overhead = sizeof(void *) + alignment;
    if (size != 0 && count > ((uint64_t)PTRDIFF_MAX - overhead) / size)
        return NULL;
    /* calloc() and not aligned_alloc(): large blocks come as pages that the kernel zeroes on first
     * use.  The address that free() wants stands just before the aligned part. */
    void *base = calloc(1, (size_t)(count * size) + overhead);
    if (base == NULL)
        return NULL;
    if (count * size >= large_block)
        ask_for_large_pages(base, count * size);
    const uintptr_t first = (uintptr_t)base + sizeof(void *);
    const size_t shift = (size_t)((alignment - first % alignment) % alignment);
    void **p = (void **)(void *)((char *)base + sizeof(void *) + shift);
    p[-1] = base;
    return p;
}

uint64_t memory_block_bytes(uint64_t bytes)
{
    const uint64_t unit = _Alignof(max_align_t);
    const uint64_t taken = (bytes + sizeof(size_t) + unit - 1) / unit * unit;
    return taken > 2 * unit ? taken : 2 * unit;
}

void memory_free(void *p)
{
    if (p != NULL)
        free(((void **)p)[-1]);
}
