/* elf_file.h - what the file of a shared object says about it, read without mapping it as code. */
#ifndef OSAFL_CONFORM_ELF_FILE_H
#define OSAFL_CONFORM_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include <stdint.h>

struct elf_file {
    unsigned char *data; /* the whole file */
    size_t bytes;
    bool text_relocations;
    bool has_stack_note; /* without one the stack becomes executable */
    bool executable_stack;
    const char *run_path; /* DT_RUNPATH or DT_RPATH; NULL: none */
};

/* Reads a file that has passed plugin_file_check().  Else OSAFL_E_IO, and *f is empty. */
osafl_status elf_open(struct elf_file *f, const char *path, struct error *error);
void elf_close(struct elf_file *f);

/* Visits the names of the libraries that it needs. */
void elf_needed(const struct elf_file *f, void (*visit)(void *arg, const char *name), void *arg);

/* Visits the symbols that it exports (defined) or needs from elsewhere; weak ones that may stay
 * undefined are left out.  False: the file has no table of dynamic symbols. */
bool elf_symbols(const struct elf_file *f, bool defined, void (*visit)(void *arg, const char *name),
                 void *arg);

#endif
