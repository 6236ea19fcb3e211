/* plugin_statics.c - the static memory of a plugin, before and after it is used. */
#include "plugin_statics.h"

#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A walk over the writable memory of one mapped file. */
struct walk {
    uintptr_t address; /* within the file */
    void (*visit)(struct walk *w, const unsigned char *memory, size_t bytes, uint64_t in_file);
    unsigned char *copy; /* what is visited, one after the other */
    size_t copied;
    struct statics_difference difference;
};

static bool holds(const struct dl_phdr_info *file, uintptr_t address)
{
    for (size_t i = 0; i < file->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &file->dlpi_phdr[i];
        const uintptr_t begin = file->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && address >= begin && address - begin < segment->p_memsz)
            return true;
    }
    return false;
}

static int visit_file(struct dl_phdr_info *file, size_t size, void *arg)
{
    struct walk *w = arg;
    (void)size;
    if (!holds(file, w->address))
        return 0;
    for (size_t i = 0; i < file->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &file->dlpi_phdr[i];
        const uintptr_t begin = file->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) != 0)
            w->visit(w, (const unsigned char *)begin, segment->p_memsz, segment->p_vaddr);
    }
    return 1;
}

static void keep(struct walk *w, const unsigned char *memory, size_t bytes, uint64_t in_file)
{
    (void)in_file;
    w->copy = realloc(w->copy, w->copied + bytes + 1);
    if (w->copy == NULL)
        _exit(70);
    memcpy(w->copy + w->copied, memory, bytes);
    w->copied += bytes;
}

static void compare(struct walk *w, const unsigned char *memory, size_t bytes, uint64_t in_file)
{
    const unsigned char *before = w->copy + w->copied;
    for (size_t i = 0; i < bytes; i++) {
        if (memory[i] == before[i])
            continue;
        if (w->difference.bytes++ == 0)
            w->difference.first = in_file + i;
    }
    w->copied += bytes;
}

void *statics_copy(const void *address_in_plugin)
{
    struct walk w = {.address = (uintptr_t)address_in_plugin, .visit = keep};
    dl_iterate_phdr(visit_file, &w);
    return w.copy;
}

struct statics_difference statics_compare(const void *address_in_plugin, void *copy)
{
    struct walk w = {.address = (uintptr_t)address_in_plugin, .visit = compare, .copy = copy};
    if (copy != NULL)
        dl_iterate_phdr(visit_file, &w);
    free(copy);
    return w.difference;
}
