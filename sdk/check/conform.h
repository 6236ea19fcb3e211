/* conform.h - the conformance kit behind "osafl plugin check": does a plugin keep the rules of
 * sdk/RULES.md?
 *
 * Each check runs in a process of its own with limits of time and memory, loads the plugin there,
 * and ends that process with its verdict.  So a plugin may crash, hang or exit, and a check needs
 * to clean nothing up. */
#ifndef OSAFL_CONFORM_CONFORM_H
#define OSAFL_CONFORM_CONFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "osafl/plugin.h"

/* ---- for the command ---- */

struct conform_options {
    const char *const *only; /* ids of checks or names of groups; none: all checks */
    size_t n_only;
    const char *const *set; /* "key=value": settings with which the plugin is tried */
    size_t n_set;
    uint64_t seed;
    double limit_s;  /* of one check, in wall-clock seconds */
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

/* ---- for the checks ---- */

struct conform;

/* What a plugin promises, and how that is tried. */
struct check {
    const char *id;                 /* "group.name" */
    const char *promise;            /* "exports its entry point and nothing else" */
    unsigned rule;                  /* number in sdk/RULES.md */
    uint32_t kind;                  /* OSAFL_KIND_*; 0: plugins of all kinds */
    const char *feature;            /* only for plugins that declare it; NULL: for all */
    void (*run)(struct conform *c); /* returns when the promise was kept */
};

extern const struct check checks[];
extern const size_t n_checks;

/* One check of one file in progress. */
struct conform {
    const char *path; /* canonical */
    const char *const *set;
    size_t n_set;
    uint64_t seed;
    const struct check *check;
    const osafl_plugin *plugin; /* NULL until conform_load() */
};

/* Ends the process with a verdict.  One sentence, no full stop; never called while a lock is held
 * that another thread of the check may want. */
_Noreturn void conform_fail(const struct conform *c, const char *fmt, ...) OSAFL_PRINTF(2, 3);
/* The promise cannot be tried, or says nothing about this plugin. */
_Noreturn void conform_skip(const struct conform *c, const char *fmt, ...) OSAFL_PRINTF(2, 3);

/* What the thread is about to do, for the message if it crashes.  text is copied. */
void conform_doing(const char *text);

/* Loads the file as the program does, but from any folder, and sets c->plugin; fails the check when
 * that cannot be done. */
void conform_load(struct conform *c);

/* The same without a verdict: NULL with the reason in why. */
const osafl_plugin *conform_try_load(const char *path, char *why, size_t size);

/* "fedavg" of ".../fedavg.so"; returns whether the file is called so. */
bool conform_name_of(const char *path, char *name, size_t size);

#endif
