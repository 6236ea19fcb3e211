/* run_print.h - a run with what the user sees of it: progress, warnings, and how it ended. */
#ifndef OSAFL_CORE_RUN_PRINT_H
#define OSAFL_CORE_RUN_PRINT_H

#include "run.h"

struct diagnostics;

/* What to say after a run with no participations: it is no error, but hardly what was wanted. */
#define NOBODY_TOOK_PART                                                                           \
    "no update arrived in any round, so the model is what it was at the start; clients.csv says "  \
    "why under reason (osafl help results)"

/* Runs one experiment in this process: progress, warnings and errors to stderr, and the results'
 * folder to stdout where that is no terminal.  Returns an exit status (exit_status.h). */
int run_and_print(struct experiment *e, struct loader *l, const struct run_options *o);

/* The same for one cell of many, whose end the caller prints: out->error holds all errors in one
 * line.  with_progress: whether progress goes to stderr.  A cell_body (cell_runner.h). */
void run_cell_and_print(struct experiment *e, struct loader *l, const struct run_options *o,
                        bool with_progress, struct run_outcome *out);

/* All errors in one line, for an outcome. */
void run_join_errors(const struct diagnostics *d, char out[ERROR_BYTES]);

#endif
