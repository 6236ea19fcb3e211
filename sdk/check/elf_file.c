/* elf_file.c - what the file of a shared object says about it.
 *
 * Everything read from the file is compared with its length first: it may be damaged. */
#include "elf_file.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_read.h"

/* n objects of size bytes at an offset; NULL: not within the file, or not where its format aligns
 * tables. */
static const void *part(const struct elf_file *f, uint64_t offset, uint64_t n, uint64_t size)
{
    if (offset > f->bytes || size == 0 || n > (f->bytes - offset) / size ||
        (size > 1 && offset % sizeof(uint64_t) != 0))
        return NULL;
    return f->data + offset;
}

static const ElfW(Ehdr) * head_of(const struct elf_file *f)
{
    return part(f, 0, 1, sizeof(ElfW(Ehdr)));
}

static const ElfW(Phdr) * segments(const struct elf_file *f, size_t *n)
{
    const ElfW(Ehdr) *head = head_of(f);
    *n = head->e_phnum;
    return part(f, head->e_phoff, head->e_phnum, sizeof(ElfW(Phdr)));
}

/* The string at an offset of a string table; NULL: it does not end within the table. */
static const char *string_at(const char *table, uint64_t bytes, uint64_t offset)
{
    if (table == NULL || offset >= bytes || memchr(table + offset, '\0', bytes - offset) == NULL)
        return NULL;
    return table + offset;
}

/* The section of a type, and the one that it links to; false: there is none. */
static bool find_section(const struct elf_file *f, uint32_t type, const ElfW(Shdr) * *section,
                         const ElfW(Shdr) * *linked)
{
    const ElfW(Ehdr) *head = head_of(f);
    const ElfW(Shdr) *all = part(f, head->e_shoff, head->e_shnum, sizeof(ElfW(Shdr)));
    for (unsigned i = 0; all != NULL && i < head->e_shnum; i++) {
        if (all[i].sh_type != type || all[i].sh_link >= head->e_shnum)
            continue;
        *section = &all[i];
        *linked = &all[all[i].sh_link];
        return true;
    }
    return false;
}

static const ElfW(Dyn) * dynamic_entries(const struct elf_file *f, size_t *n, const char **strings,
                                         uint64_t *string_bytes)
{
    const ElfW(Shdr) * dynamic;
    const ElfW(Shdr) * names;
    *n = 0;
    if (!find_section(f, SHT_DYNAMIC, &dynamic, &names))
        return NULL;
    *n = dynamic->sh_size / sizeof(ElfW(Dyn));
    *strings = part(f, names->sh_offset, names->sh_size, 1);
    *string_bytes = names->sh_size;
    return part(f, dynamic->sh_offset, *n, sizeof(ElfW(Dyn)));
}

static void read_flags(struct elf_file *f)
{
    size_t n;
    const ElfW(Phdr) *segment = segments(f, &n);
    for (size_t i = 0; segment != NULL && i < n; i++) {
        if (segment[i].p_type != PT_GNU_STACK)
            continue;
        f->has_stack_note = true;
        f->executable_stack = (segment[i].p_flags & PF_X) != 0;
    }
    const char *strings = NULL;
    uint64_t string_bytes = 0;
    const ElfW(Dyn) *entry = dynamic_entries(f, &n, &strings, &string_bytes);
    for (size_t i = 0; entry != NULL && i < n && entry[i].d_tag != DT_NULL; i++) {
        if (entry[i].d_tag == DT_TEXTREL)
            f->text_relocations = true;
        if (entry[i].d_tag == DT_FLAGS && (entry[i].d_un.d_val & DF_TEXTREL) != 0)
            f->text_relocations = true;
        if (entry[i].d_tag == DT_RPATH || entry[i].d_tag == DT_RUNPATH)
            f->run_path = string_at(strings, string_bytes, entry[i].d_un.d_val);
    }
}

osafl_status elf_open(struct elf_file *f, const char *path, struct error *error)
{
    int number = 0;
    *f = (struct elf_file){0};
    f->data = file_read(path, SIZE_MAX - 1, &f->bytes, &number);
    if (f->data != NULL && head_of(f) != NULL) {
        read_flags(f);
        return OSAFL_OK;
    }
    const char *problem =
        f->data == NULL ? file_read_problem(number) : "no ELF file of this machine";
    elf_close(f);
    return error_set(error, OSAFL_E_IO, "cannot be read: %s", problem);
}

void elf_close(struct elf_file *f)
{
    free(f->data);
    *f = (struct elf_file){0};
}

void elf_needed(const struct elf_file *f, void (*visit)(void *arg, const char *name), void *arg)
{
    size_t n;
    const char *strings = NULL;
    uint64_t string_bytes = 0;
    const ElfW(Dyn) *entry = dynamic_entries(f, &n, &strings, &string_bytes);
    for (size_t i = 0; entry != NULL && i < n && entry[i].d_tag != DT_NULL; i++) {
        const char *name = NULL;
        if (entry[i].d_tag == DT_NEEDED)
            name = string_at(strings, string_bytes, entry[i].d_un.d_val);
        if (name != NULL)
            visit(arg, name);
    }
}

bool elf_symbols(const struct elf_file *f, bool defined, void (*visit)(void *arg, const char *name),
                 void *arg)
{
    const ElfW(Shdr) * table;
    const ElfW(Shdr) * names;
    if (!find_section(f, SHT_DYNSYM, &table, &names))
        return false;
    const size_t n = table->sh_size / sizeof(ElfW(Sym));
    const ElfW(Sym) *symbol = part(f, table->sh_offset, n, sizeof(ElfW(Sym)));
    const char *strings = part(f, names->sh_offset, names->sh_size, 1);
    for (size_t i = 1; symbol != NULL && i < n; i++) { /* number 0 stands for none */
        const unsigned binding = ELF64_ST_BIND(symbol[i].st_info);
        const char *name = string_at(strings, names->sh_size, symbol[i].st_name);
        const bool is_defined = symbol[i].st_shndx != SHN_UNDEF;
        /* Names of versions are absolute symbols. */
        if (name == NULL || is_defined != defined || binding == STB_LOCAL ||
            symbol[i].st_shndx == SHN_ABS)
            continue;
        if (defined || binding != STB_WEAK)
            visit(arg, name);
    }
    return symbol != NULL;
}
