/* until_command.h - "osafl run FILE --until ...": seeds are added until an interval is narrow. */
#ifndef OSAFL_CORE_UNTIL_COMMAND_H
#define OSAFL_CORE_UNTIL_COMMAND_H

#include "cell_runner.h"
#include "experiment/grid.h"
#include "until_plan.h"

struct diagnostics;

struct until_options {
    struct cell_runner_options runner; /* run.base: where results go */
    const char *file;
    struct grid_request request;
    const char *const *set; /* "key.path=value"; [n_set] */
    size_t n_set;
    struct until_plan plan;
};

/* Records the plan, runs the cells of the file with more and more seeds, and prints the interval of
 * each pair at every look.  With varied settings the width of every pair counts.  The same command
 * goes on after an interruption, and comes to the same answer.  Returns an exit status:
 * EXIT_RUN_FAILED also where all seeds did not make it narrow enough. */
int until_command(const struct until_options *o, struct loader *l, struct diagnostics *d);

#endif
