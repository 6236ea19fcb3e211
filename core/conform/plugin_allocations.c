/* plugin_allocations.c - the memory that a plugin allocates itself: counted, and refused on
 * demand. */
#include "plugin_allocations.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Relocations by which a plugin gets the address of a function. */
#if defined(__x86_64__)
#define IS_ADDRESS_RELOCATION(type)                                                                \
    ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT || (type) == R_X86_64_64)
#elif defined(__aarch64__)
#define IS_ADDRESS_RELOCATION(type)                                                                \
    ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT || (type) == R_AARCH64_ABS64)
#endif

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
    void **const old = account.block;
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

/* ---- redirecting --------------------------------------------------------------------------- */

#ifdef IS_ADDRESS_RELOCATION

typedef void any_function(void);
static const struct {
    const char *name;
    any_function *replacement;
} replacements[] = {
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

/* What the plugin's dynamic section says. */
struct dynamic {
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * tables[2];
    size_t bytes[2];
};

/* The C library has relocated these addresses when it mapped the file. */
static struct dynamic read_dynamic(const struct link_map *map)
{
    struct dynamic d = {0};
    for (const ElfW(Dyn) *at = map->l_ld; at->d_tag != DT_NULL; at++) {
        const void *const pointer = (const void *)at->d_un.d_ptr;
        switch (at->d_tag) {
        case DT_SYMTAB:
            d.symbols = pointer;
            break;
        case DT_STRTAB:
            d.strings = pointer;
            break;
        case DT_RELA:
            d.tables[0] = pointer;
            break;
        case DT_RELASZ:
            d.bytes[0] = at->d_un.d_val;
            break;
        case DT_JMPREL:
            d.tables[1] = pointer;
            break;
        case DT_PLTRELSZ:
            d.bytes[1] = at->d_un.d_val;
            break;
        default:
            break;
        }
    }
    return d;
}

/* The place is read-only after relocation (-z relro). */
static bool write_address(uintptr_t place, any_function *function)
{
    const uintptr_t page = place & ~(uintptr_t)4095;
    const size_t bytes = place + sizeof function - page;
    if (mprotect((void *)page, bytes, PROT_READ | PROT_WRITE) != 0)
        return false;
    memcpy((void *)place, &function, sizeof function);
    return true;
}

static bool redirect(const struct link_map *map, const struct dynamic *d, const ElfW(Rela) * r)
{
    const unsigned type = (unsigned)ELF64_R_TYPE(r->r_info);
    const char *name = d->strings + d->symbols[ELF64_R_SYM(r->r_info)].st_name;
    if (!IS_ADDRESS_RELOCATION(type))
        return true;
    for (size_t i = 0; i < sizeof replacements / sizeof replacements[0]; i++) {
        if (strcmp(name, replacements[i].name) == 0)
            return write_address(map->l_addr + r->r_offset, replacements[i].replacement);
    }
    return true;
}

bool allocations_watch(const void *address_in_plugin)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (dladdr1(address_in_plugin, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL)
        return false;
    const struct dynamic d = read_dynamic(map);
    if (d.symbols == NULL || d.strings == NULL)
        return false;
    for (size_t t = 0; t < 2; t++) {
        for (size_t i = 0; d.tables[t] != NULL && i < d.bytes[t] / sizeof(ElfW(Rela)); i++) {
            if (!redirect(map, &d, &d.tables[t][i]))
                return false;
        }
    }
    return true;
}

#else

bool allocations_watch(const void *address_in_plugin)
{
    (void)address_in_plugin;
    return false;
}

#endif
