/* memory.h - aligned, zeroed memory whose size cannot overflow. */
#ifndef OSAFL_CORE_MEMORY_H
#define OSAFL_CORE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define VECTOR_ALIGNMENT 64      /* bytes; of every parameter vector that plugins see */
#define WORKSPACE_ALIGNMENT 4096 /* bytes */

/* count * size zeroed bytes at a multiple of alignment (a power of two).  Large pieces cost
 * physical memory only where they are touched.  NULL: out of memory, or the product overflows. */
void *memory_zeroed(uint64_t count, uint64_t size, size_t alignment);
/* What malloc() takes for a block: the bytes and its own word before them, rounded up to its
 * alignment, and two times that at least (glibc). */
uint64_t memory_block_bytes(uint64_t bytes);
void memory_free(void *p); /* of memory_zeroed() only; NULL is allowed */

#endif
