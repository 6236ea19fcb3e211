/* conformance.h - the conformance kit behind "osafl plugin check": does a plugin keep the rules
 * of sdk/RULES.md?
 *
 * Each check runs in a process of its own with limits of time and memory, loads the plugin there,
 * and ends that process with its verdict.  So a plugin may crash, hang or exit, and a check needs
 * to clean nothing up. */
#ifndef OSAFL_CONFORM_CONFORMANCE_H
#define OSAFL_CONFORM_CONFORMANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "osafl/osafl.h"

/* The samples with which models are tried. */
struct trial_samples {
    uint32_t rank, shape[OSAFL_SAMPLE_RANK], x_type, target_type, target_size;
};

struct conform_options {
    const char *const *only; /* ids of checks or names of groups; none: all checks */
    size_t n_only;
    const char *const *skip; /* the same: left out, which is printed */
    size_t n_skip;
    const char *const *set; /* "key=value": settings with which the plugin is tried */
    size_t n_set;
    const struct trial_samples *samples; /* with which models are tried; NULL: as they accept */
    uint64_t seed;
    double limit_s;  /* of one check, in seconds that it computes (child_ask()) */
    bool tap;        /* Test Anything Protocol instead of lines for people */
    bool quiet;      /* only what failed, and the summary */
    bool in_process; /* for debuggers: the one check of `only`, here and without limits */
};

/* Prints all checks with what each promises and the rule it enforces. */
void conform_list(FILE *to);

/* True when some check has this id or group. */
bool conform_knows(const char *id_or_group);

/* Tries one file; prints to `to`.  Returns whether no check failed.  Before any thread exists. */
bool conform_file(const char *path, const struct conform_options *o, FILE *to);

#endif
