/* libraries.c - follows what a mapped file says it needs through the linker's list. */
#include "libraries.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Mapped files: those found so far, each once. */
struct found {
    const struct link_map **map;
    size_t n;
};

static const char *name_of(const struct link_map *map)
{
    const char *slash = strrchr(map->l_name, '/');
    return slash != NULL ? slash + 1 : map->l_name;
}

static void add(struct found *f, const struct link_map *map)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->map[i] == map)
            return;
    f->map[f->n++] = map;
}

/* Adds the mapped file of this name, with or without a folder. */
static void add_named(struct found *f, const struct link_map *all, const char *needed)
{
    const char *slash = strrchr(needed, '/');
    for (const struct link_map *map = all; map != NULL; map = map->l_next)
        if (strcmp(name_of(map), slash != NULL ? slash + 1 : needed) == 0)
            add(f, map);
}

/* Adds what a file needs.  Where its table of strings lies is an address, or for some machines
 * relative to the file. */
static void add_needed(struct found *f, const struct link_map *all, const struct link_map *of)
{
    const char *text = NULL;
    for (const ElfW(Dyn) *d = of->l_ld; d != NULL && d->d_tag != DT_NULL; d++) {
        const ElfW(Addr) at =
            d->d_un.d_ptr < of->l_addr ? d->d_un.d_ptr + of->l_addr : d->d_un.d_ptr;
        if (d->d_tag == DT_STRTAB)
            text = (const char *)at; /* NOLINT(performance-no-int-to-ptr) */
    }
    for (const ElfW(Dyn) *d = of->l_ld; text != NULL && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED)
            add_named(f, all, text + d->d_un.d_val);
}

/* Adds a file and all that it needs. */
static void follow(struct found *f, const struct link_map *all, const struct link_map *from)
{
    size_t next = f->n;
    add(f, from);
    for (; next < f->n; next++)
        add_needed(f, all, f->map[next]);
}

/* The hash of a library that another plugin brought, or of its file. */
static osafl_status hash_library(struct library *l, struct error *error)
{
    static struct libraries known; /* of all plugins */
    struct error why;
    for (size_t i = 0; i < known.n; i++) {
        if (known.item[i].path == l->path) {
            *l = known.item[i];
            return OSAFL_OK;
        }
    }
    struct library *grown = reallocarray(known.item, known.n + 1, sizeof *grown);
    if (grown == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory");
    known.item = grown;
    const osafl_status status = file_hash(l->path, l->hash, &why);
    if (status != OSAFL_OK)
        return error_set(error, status, "needs %s, which %s", l->path, why.text);
    known.item[known.n++] = *l;
    return OSAFL_OK;
}

osafl_status libraries_find(void *handle, struct libraries *out, struct error *error)
{
    const struct link_map *all = _r_debug.r_map; /* it begins with the program */
    struct link_map *plugin = NULL;
    size_t mapped = 1;
    *out = (struct libraries){0};
    if (dlinfo(handle, RTLD_DI_LINKMAP, &plugin) != 0)
        return error_set(error, OSAFL_E_IO, "is not in the linker's list: %s", dlerror());
    for (const struct link_map *map = all; map != NULL; map = map->l_next)
        mapped++;
    struct found f = {.map = calloc(mapped, sizeof *f.map)};
    out->item = calloc(mapped, sizeof *out->item);
    osafl_status status = OSAFL_OK;
    if (f.map == NULL || out->item == NULL)
        status = error_set(error, OSAFL_E_NOMEM, "out of memory");
    if (status == OSAFL_OK) {
        follow(&f, all, all);
        const size_t own = f.n;
        follow(&f, all, plugin);
        for (size_t i = own + 1; i < f.n && status == OSAFL_OK; i++) {
            struct library *l = &out->item[out->n++];
            *l = (struct library){.path = f.map[i]->l_name, .name = name_of(f.map[i])};
            status = hash_library(l, error);
        }
    }
    free(f.map);
    if (status == OSAFL_OK)
        return OSAFL_OK;
    free(out->item);
    *out = (struct libraries){0};
    return status;
}
