/* guarded_memory.c - buffers that a plugin is given, and what it did beside them. */
#include "guarded_memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((size_t)4096)
#define SLACK ((size_t)64) /* bytes on each side of an unguarded buffer */
#define CANARY 0xc5

struct guarded_block {
    struct guarded_block *next;     /* of the arena */
    struct guarded_block *registry; /* of all guarded blocks */
    char name[48];
    unsigned char *map; /* the whole */
    size_t map_bytes;
    unsigned char *begin; /* of what is accessible: the buffer, and what alignment leaves */
    unsigned char *end;
    unsigned char *data;
    size_t bytes;
    bool guarded;
};

/* Guarded blocks of all arenas; read without the lock by a handler that ends the process. */
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct guarded_block *registry;

static _Noreturn void out_of_memory(const char *name)
{
    fprintf(stderr, "osafl: the check itself is out of memory for \"%s\"\n", name);
    _exit(70);
}

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* Lays the buffer against the page behind it. */
static void place_guarded(struct guarded_block *b, size_t alignment)
{
    const size_t inner = round_up(b->bytes > 0 ? b->bytes : 1, PAGE);
    b->map_bytes = inner + 2 * PAGE;
    b->map = mmap(NULL, b->map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (b->map == MAP_FAILED || mprotect(b->map + PAGE, inner, PROT_READ | PROT_WRITE) != 0)
        out_of_memory(b->name);
    b->begin = b->map + PAGE;
    b->end = b->begin + inner;
    b->data = b->end - round_up(b->bytes, alignment); /* inner is a multiple of any alignment */
    memset(b->begin, CANARY, (size_t)(b->data - b->begin));
    memset(b->data + b->bytes, CANARY, (size_t)(b->end - b->data) - b->bytes);
    pthread_mutex_lock(&registry_lock);
    b->registry = registry;
    registry = b;
    pthread_mutex_unlock(&registry_lock);
}

static void place_plainly(struct guarded_block *b, size_t alignment)
{
    if (alignment < sizeof(void *))
        alignment = sizeof(void *);
    const size_t before = round_up(SLACK, alignment);
    b->map_bytes = round_up(before + b->bytes + SLACK, alignment);
    b->map = aligned_alloc(alignment, b->map_bytes);
    if (b->map == NULL)
        out_of_memory(b->name);
    b->begin = b->map;
    b->end = b->map + b->map_bytes;
    b->data = b->map + before;
}

static struct guarded_block *new_block(struct arena *a, const char *name, uint64_t count,
                                       size_t size, size_t alignment)
{
    struct guarded_block *b = calloc(1, sizeof *b);
    if (b == NULL || count > (SIZE_MAX / 4) / size)
        out_of_memory(name);
    snprintf(b->name, sizeof b->name, "%s", name);
    b->bytes = (size_t)count * size;
    b->guarded = a->guarded;
    if (a->guarded)
        place_guarded(b, alignment);
    else
        place_plainly(b, alignment);
    b->next = a->blocks;
    a->blocks = b;
    return b;
}

void *arena_output(struct arena *a, const char *name, uint64_t count, size_t size, size_t alignment)
{
    struct guarded_block *b = new_block(a, name, count, size, alignment);
    memset(b->data, a->fill, b->bytes);
    return b->data;
}

void *arena_inout(struct arena *a, const char *name, const void *data, uint64_t count, size_t size,
                  size_t alignment)
{
    struct guarded_block *b = new_block(a, name, count, size, alignment);
    if (data == NULL)
        memset(b->data, 0, b->bytes);
    else if (b->bytes > 0)
        memcpy(b->data, data, b->bytes);
    return b->data;
}

const void *arena_input(struct arena *a, const char *name, const void *data, uint64_t count,
                        size_t size, size_t alignment)
{
    void *buffer = arena_inout(a, name, data, count, size, alignment);
    arena_protect(a, buffer, true);
    return buffer;
}

void arena_protect(const struct arena *a, void *buffer, bool read_only)
{
    for (struct guarded_block *b = a->blocks; b != NULL; b = b->next) {
        if (b->data != buffer || !b->guarded)
            continue;
        if (mprotect(b->begin, (size_t)(b->end - b->begin),
                     read_only ? PROT_READ : PROT_READ | PROT_WRITE) != 0)
            out_of_memory(b->name);
    }
}

static bool rest_is_whole(const unsigned char *from, const unsigned char *to)
{
    for (; from < to; from++) {
        if (*from != CANARY)
            return false;
    }
    return true;
}

const char *arena_damage(const struct arena *a)
{
    static _Thread_local char text[128];
    for (const struct guarded_block *b = a->blocks; b != NULL; b = b->next) {
        const char *what = NULL;
        if (!b->guarded)
            continue;
        if (!rest_is_whole(b->begin, b->data))
            what = "before the start of";
        else if (!rest_is_whole(b->data + b->bytes, b->end))
            what = "behind the end of";
        if (what != NULL) {
            snprintf(text, sizeof text, "wrote %s \"%s\" (a buffer of %zu bytes)", what, b->name,
                     b->bytes);
            return text;
        }
    }
    return NULL;
}

static void unregister(const struct guarded_block *b)
{
    pthread_mutex_lock(&registry_lock);
    for (struct guarded_block **at = &registry; *at != NULL; at = &(*at)->registry) {
        if (*at == b) {
            *at = b->registry;
            break;
        }
    }
    pthread_mutex_unlock(&registry_lock);
}

void arena_clear(struct arena *a)
{
    while (a->blocks != NULL) {
        struct guarded_block *b = a->blocks;
        a->blocks = b->next;
        if (b->guarded) {
            unregister(b);
            munmap(b->map, b->map_bytes);
        } else {
            free(b->map);
        }
        free(b);
    }
}

bool guarded_memory_explain(const void *address, char *out, size_t size)
{
    const unsigned char *at = address;
    for (const struct guarded_block *b = registry; b != NULL; b = b->registry) {
        if (at < b->map || at >= b->map + b->map_bytes)
            continue;
        const char *what = at < b->begin  ? "before the start of"
                           : at >= b->end ? "behind the end of"
                                          : "into the read-only";
        snprintf(out, size, "went %s \"%s\" (a buffer of %zu bytes)", what, b->name, b->bytes);
        return true;
    }
    return false;
}
