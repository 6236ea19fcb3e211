/* run_command.h - the commands of the program that need the engine. */
#ifndef OSAFL_CORE_RUN_COMMAND_H
#define OSAFL_CORE_RUN_COMMAND_H

#include <stdbool.h>

struct experiment;
struct loader;

struct run_options {
    unsigned threads;    /* >= 1; no effect on results */
    const char *out;     /* results folder of the run; NULL: BASE/NAME/CASE/seed-N-HASH8 */
    const char *base;    /* NULL: "results" */
    double max_time_s;   /* wall clock; then save and stop as if interrupted; 0: no limit */
    bool force;          /* overwrite the results of another run in the folder */
    bool accept_changes; /* go on although program, plugin, CPU type or BLAS kernel changed */
    bool quiet;          /* no progress */
};

/* Runs one experiment, or goes on with it where its folder holds a checkpoint.  e and l stay the
 * caller's; e may be changed (an optimizer left open is chosen).  Prints progress and errors to
 * stderr, and the results' place to stdout where that is no terminal.  Returns an exit status of cli.h. */
int run_command(struct experiment *e, struct loader *l, const struct run_options *o);

/* Everything but training: data files, every plugin's create(), how the pieces fit, who will take
 * part, and an estimate of memory and work, on stdout.  Returns EXIT_RUN_OK or EXIT_USAGE. */
int check_command(struct experiment *e, struct loader *l);

#endif
