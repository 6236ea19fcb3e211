/* plugin_allocations.c - the memory that a plugin allocates itself: counted, and refused on
 * demand. */
#include "plugin_allocations.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin_calls.h"

/* ---- the account --------------------------------------------------------------------------- */

/* Blocks that are held, by address: open addressing, a power of two of slots, half full at most. */
static struct {
    pthread_mutex_t lock;
    void **block; /* NULL: free; TAKEN_OUT: was used */
    size_t slots;
    size_t used; /* slots that are not free */
    uint64_t live;
    uint64_t bytes;
    uint64_t requests;
    uint64_t failing; /* number of the request that is to fail; 0: none */
} account = {.lock = PTHREAD_MUTEX_INITIALIZER};

static char taken_out_mark;
#define TAKEN_OUT ((void *)&taken_out_mark)

static size_t slot_of(const void *p)
{
    return (size_t)(((uintptr_t)p >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (account.slots - 1);
}

static void insert(void **slots, void *p)
{
    size_t i = slot_of(p);
    while (slots[i] != NULL)
        i = (i + 1) & (account.slots - 1);
    slots[i] = p;
}

/* Makes room; slots that were used and are not any more are free again afterwards. */
static void rehash(void)
{
    const size_t before = account.slots;
    void **old = account.block;
    if (before == 0)
        account.slots = 1024;
    else if (4 * account.live > before)
        account.slots = 2 * before;
    account.block = calloc(account.slots, sizeof *account.block);
    if (account.block == NULL)
        _exit(70);
    account.used = 0;
    for (size_t i = 0; i < before; i++) {
        if (old[i] == NULL || old[i] == TAKEN_OUT)
            continue;
        insert(account.block, old[i]);
        account.used++;
    }
    free(old);
}

static void note_block(void *p)
{
    if (p == NULL)
        return;
    pthread_mutex_lock(&account.lock);
    if (2 * (account.used + 1) > account.slots)
        rehash();
    insert(account.block, p);
    account.used++;
    account.live++;
    account.bytes += malloc_usable_size(p);
    pthread_mutex_unlock(&account.lock);
}

/* A block of a library (getline(), realpath(), ...) is not in the account, and may be freed. */
static void forget_block(void *p)
{
    if (p == NULL)
        return;
    pthread_mutex_lock(&account.lock);
    for (size_t i = account.slots > 0 ? slot_of(p) : 0; account.slots > 0;
         i = (i + 1) & (account.slots - 1)) {
        if (account.block[i] == NULL)
            break;
        if (account.block[i] != p)
            continue;
        account.block[i] = TAKEN_OUT;
        account.live--;
        account.bytes -= malloc_usable_size(p);
        break;
    }
    pthread_mutex_unlock(&account.lock);
}

bool allocations_allow(void)
{
    pthread_mutex_lock(&account.lock);
    const bool allowed = ++account.requests != account.failing;
    pthread_mutex_unlock(&account.lock);
    if (!allowed)
        errno = ENOMEM;
    return allowed;
}

uint64_t allocations_requested(void)
{
    return account.requests;
}

void allocations_fail(uint64_t n)
{
    pthread_mutex_lock(&account.lock);
    account.requests = 0;
    account.failing = n;
    pthread_mutex_unlock(&account.lock);
}

uint64_t allocations_live_blocks(void)
{
    return account.live;
}

uint64_t allocations_live_bytes(void)
{
    return account.bytes;
}

/* ---- in the place of the C library's functions --------------------------------------------- */

static void *watched_malloc(size_t size)
{
    void *p = allocations_allow() ? malloc(size) : NULL;
    note_block(p);
    return p;
}

static void *watched_calloc(size_t n, size_t size)
{
    void *p = allocations_allow() ? calloc(n, size) : NULL;
    note_block(p);
    return p;
}

static void *watched_realloc(void *old, size_t size)
{
    if (!allocations_allow())
        return NULL;
    forget_block(old);
    void *p = realloc(old, size);
    if (p == NULL && size > 0)
        note_block(old); /* still there */
    note_block(p);
    return p;
}

static void *watched_reallocarray(void *old, size_t n, size_t size)
{
    if (size > 0 && n > SIZE_MAX / size) {
        errno = ENOMEM;
        return NULL;
    }
    return watched_realloc(old, n * size);
}

static void *watched_aligned_alloc(size_t alignment, size_t size)
{
    void *p = allocations_allow() ? aligned_alloc(alignment, size) : NULL;
    note_block(p);
    return p;
}

static int watched_posix_memalign(void **out, size_t alignment, size_t size)
{
    if (!allocations_allow())
        return ENOMEM;
    const int error = posix_memalign(out, alignment, size);
    if (error == 0)
        note_block(*out);
    return error;
}

static char *watched_strdup(const char *s)
{
    char *p = allocations_allow() ? strdup(s) : NULL;
    note_block(p);
    return p;
}

static char *watched_strndup(const char *s, size_t n)
{
    char *p = allocations_allow() ? strndup(s, n) : NULL;
    note_block(p);
    return p;
}

static void watched_free(void *p)
{
    forget_block(p);
    free(p);
}

static const struct replacement replacements[] = {
    {"malloc", (any_function *)watched_malloc},
    {"calloc", (any_function *)watched_calloc},
    {"realloc", (any_function *)watched_realloc},
    {"reallocarray", (any_function *)watched_reallocarray},
    {"aligned_alloc", (any_function *)watched_aligned_alloc},
    {"posix_memalign", (any_function *)watched_posix_memalign},
    {"strdup", (any_function *)watched_strdup},
    {"__strdup", (any_function *)watched_strdup},
    {"strndup", (any_function *)watched_strndup},
    {"__strndup", (any_function *)watched_strndup},
    {"free", (any_function *)watched_free},
};

bool allocations_watch(const void *address_in_plugin)
{
    return plugin_calls_redirect(address_in_plugin, replacements,
                                 sizeof replacements / sizeof replacements[0]);
}
