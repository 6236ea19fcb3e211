/* conform.h - what every check of the conformance kit knows: the plugin that is checked, and how
 * to end with a verdict. */
#ifndef OSAFL_CONFORM_CONFORM_H
#define OSAFL_CONFORM_CONFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "osafl/plugin.h"

struct conform;
struct trial_samples;

/* What a plugin promises, and how that is tried. */
struct check {
    const char *id;                 /* "group.name" */
    const char *promise;            /* "exports its entry point and nothing else" */
    unsigned rule;                  /* number in sdk/RULES.md */
    uint32_t kind;                  /* OSAFL_KIND_*; 0: plugins of all kinds */
    bool of_instance;               /* only for kinds that experiments name, which have instances */
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
    const struct trial_samples *samples; /* NULL: none are asked for */
    uint64_t seed;
    const struct check *check;
    const osafl_plugin *described; /* what the file says of itself; NULL until conform_load() */
    const osafl_plugin *plugin;    /* the same as the program works with it: plugin_adapt() */
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

/* The same without a verdict: NULL with the reason in *error. */
const osafl_plugin *conform_try_load(const char *path, struct error *error);

/* "fedavg" of ".../fedavg.so"; returns whether the file is called so. */
bool conform_name_of(const char *path, char *name, size_t size);

#endif
