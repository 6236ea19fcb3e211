/* plugin_calls.c - redirects the calls of one plugin to functions of libraries. */
#include "plugin_calls.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* Relocations by which a plugin gets the address of a function. */
#if defined(__x86_64__)
#define IS_ADDRESS_RELOCATION(type)                                                                \
    ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT || (type) == R_X86_64_64)
#elif defined(__aarch64__)
#define IS_ADDRESS_RELOCATION(type)                                                                \
    ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT || (type) == R_AARCH64_ABS64)
#endif

#ifdef IS_ADDRESS_RELOCATION

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
        const void *pointer = (const void *)at->d_un.d_ptr;
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

static bool redirect(const struct link_map *map, const struct dynamic *d, const ElfW(Rela) * r,
                     const struct replacement *replacements, size_t n)
{
    const unsigned type = (unsigned)ELF64_R_TYPE(r->r_info);
    const char *name = d->strings + d->symbols[ELF64_R_SYM(r->r_info)].st_name;
    if (!IS_ADDRESS_RELOCATION(type))
        return true;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(name, replacements[i].name) == 0)
            return write_address(map->l_addr + r->r_offset, replacements[i].function);
    }
    return true;
}

bool plugin_calls_redirect(const void *address_in_plugin, const struct replacement *replacements,
                           size_t n)
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
            if (!redirect(map, &d, &d.tables[t][i], replacements, n))
                return false;
        }
    }
    return true;
}

#else

bool plugin_calls_redirect(const void *address_in_plugin, const struct replacement *replacements,
                           size_t n)
{
    (void)address_in_plugin;
    (void)replacements;
    (void)n;
    return false;
}

#endif
