/* verify_command.h - "osafl verify DIR...": computes kept runs again and compares the bytes. */
#ifndef OSAFL_CORE_VERIFY_COMMAND_H
#define OSAFL_CORE_VERIFY_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loader;

struct verify_options {
    const char *const *folder; /* [folders]: runs, or what holds them */
    size_t folders;
    const char *const *only; /* as those of osafl report; [n_only] */
    size_t n_only;
    const char *const *set; /* laid over the settings of each run; [n_set] */
    size_t n_set;
    uint32_t rounds; /* so many of each run; 0: all */
    unsigned threads;
    bool quiet;
};

/* Prints a line for each run to standard output.  Exit status: EXIT_RUN_OK when all are the same,
 * EXIT_RUN_FAILED when one differs, EXIT_USAGE when one lacks something, EXIT_INTERRUPTED. */
int verify_command(const struct verify_options *o, struct loader *l);

#endif
