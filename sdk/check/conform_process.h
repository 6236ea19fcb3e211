/* conform_process.h - a check in a process of its own: limits, verdicts, crashes. */
#ifndef OSAFL_CONFORM_CONFORM_PROCESS_H
#define OSAFL_CONFORM_CONFORM_PROCESS_H

#include "base/error.h"
#include "conform.h"

enum outcome { OUTCOME_PASS = 1, OUTCOME_SKIP, OUTCOME_FAIL };

#define VERDICT_BYTES 1024

struct verdict {
    uint32_t outcome;
    bool late;          /* failed because its time was over */
    struct error error; /* "" for a pass */
};

/* What a plugin says of itself, and which checks that makes applicable. */
struct probe {
    uint32_t kind;
    char name[64];
    char version[64];
    struct error problem; /* "" when it could be loaded */
    bool applies[128];    /* by number of the check; those that need no loading where it failed */
};

/* Runs one check in a child process that is killed after limit_s seconds. */
struct verdict conform_in_child(const struct conform *c, double limit_s);

/* Runs it in this process, which then ends with status 0 or 1 after having printed the verdict. */
_Noreturn void conform_here(struct conform *c);

/* Loads the plugin in a child process and asks it.  False: no process could be made. */
bool conform_probe(const char *path, double limit_s, struct probe *out);

#endif
