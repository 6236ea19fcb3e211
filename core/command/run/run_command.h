/* run_command.h - the commands of the program that need the engine. */
#ifndef OSAFL_CORE_RUN_COMMAND_H
#define OSAFL_CORE_RUN_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/plugin_host.h"
#include "results/results.h"

struct experiment;
struct loader;

/* Where results go when nobody says otherwise. */
#define RUN_BASE "results"

struct run_options {
    unsigned threads;     /* >= 1; no effect on results */
    const char *out;      /* results folder of the run; NULL: BASE/NAME/CASE/seed-N-HASH8 */
    const char *base;     /* NULL: RUN_BASE */
    double max_time_s;    /* wall clock; then save and stop as if interrupted; 0: no limit */
    bool force;           /* overwrite the results of another run in the folder */
    bool accept_changes;  /* go on although program, plugin, CPU type or BLAS kernel changed */
    bool quiet;           /* no progress, and no warnings of plugins */
    bool no_progress;     /* no progress alone */
    uint32_t until_round; /* pause, ready to go on, when so many rounds are done; 0: never */
};

/* What to say after a run with no participations: it is no error, but hardly what was wanted. */
#define NOBODY_TOOK_PART                                                                           \
    "no update arrived in any round, so the model is what it was at the start; clients.csv says "  \
    "why under reason (osafl help results)"

/* How a run ended, for a caller that tells it itself. */
struct run_outcome {
    int status;                     /* exit status (exit_status.h); EXIT_RUN_OK also for a pause */
    bool was_complete;              /* nothing was left to do */
    uint32_t saved;                 /* rounds that a rerun need not repeat */
    uint32_t rounds;                /* T; 0: it came not so far as to know */
    char split[16];                 /* "test" or "validation" */
    char measure[64];               /* "accuracy" */
    struct results_summary summary; /* evaluations is 0 when nothing is known */
    char folder[4096];              /* "": it came not so far as to have one */
    char message[MESSAGE_BYTES];    /* why status is not EXIT_RUN_OK */
};

/* Runs one experiment, or goes on with it where its folder holds a checkpoint.  e and l stay the
 * caller's; e may be changed (an optimizer left open is chosen).  Prints progress and warnings to
 * stderr.  out: NULL, then errors are printed to stderr too, and the results' place to stdout where
 * that is no terminal.  Returns an exit status (exit_status.h). */
int run_command(struct experiment *e, struct loader *l, const struct run_options *o,
                struct run_outcome *out);

/* Everything but training: data files, every plugin's create(), how the pieces fit, who will take
 * part, and an estimate of memory and work, on stdout.  Returns an exit status (exit_status.h). */
int check_command(struct experiment *e, struct loader *l);

/* Prints e as experiment_write() does.  Where e leaves the optimizer to the aggregator, the plugins
 * are created to learn it, data files included.  Returns an exit status (exit_status.h). */
int resolve_command(struct experiment *e, struct loader *l);

#endif
