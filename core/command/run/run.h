/* run.h - one run in its folder: from an experiment to its results, and on from a checkpoint.
 *
 * A run prints nothing.  What it has to say while it goes on goes to a watcher, how it ended into
 * an outcome, and what is wrong into diagnostics (run_print.h prints all three). */
#ifndef OSAFL_CORE_RUN_H
#define OSAFL_CORE_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "results/results.h"

struct diagnostics;
struct experiment;
struct loader;
struct ranks;

/* Where results go when nobody says otherwise. */
#define RUN_BASE "results"

struct run_options {
    unsigned threads;      /* >= 1; no effect on results */
    const char *out;       /* results folder of the run; NULL: BASE/NAME/CASE/seed-N-HASH8 */
    const char *base;      /* NULL: RUN_BASE */
    double max_time_s;     /* wall clock; then save and stop as if interrupted; 0: no limit */
    bool force;            /* overwrite the results of another run in the folder */
    bool accept_changes;   /* go on although program, plugin, CPU type or BLAS kernel changed */
    bool drop_checkpoints; /* once the run is complete */
    bool quiet;            /* no progress, and no warnings of plugins */
    bool longer;           /* go on from a shorter run of the same settings (longer_run.h) */
    uint32_t replicas;     /* theory.h: of each round that is measured; 0: nothing is */
    double smoothness;     /* beta of a model of which it is not known; 0: it is not */
    const char *repeats;   /* folder of a kept run: other data are refused, and what else changed is
                            * told in the outcome; NULL */
    const char *measure;   /* that the model is asked for; run_experiment() does not look at it */
    uint32_t until_round;  /* pause, ready to go on, when so many rounds are done; 0: never */
    struct ranks *ranks;   /* that run it together (plugin/ranks.h); NULL: this process alone */
};

/* A run whose first round is about to begin.  Strings live as long as the run. */
struct run_start {
    const struct experiment *experiment;
    const char *measure;  /* by which runs are compared: "accuracy" */
    uint32_t rounds;      /* T */
    uint32_t first_round; /* > 0: the run goes on from a checkpoint */
    uint32_t clients;     /* that can take part in a round */
};

/* Callbacks of a run while it goes on; each is required. */
struct run_watcher {
    void *arg;
    void (*start)(void *arg, const struct run_start *start);
    /* Work done within a round; any thread, one at a time. */
    void (*step)(void *arg, uint32_t round, uint64_t done, uint64_t all);
    /* measure: NAN where the round was not evaluated. */
    void (*round)(void *arg, uint32_t round, uint32_t participants, double measure);
    void (*log)(void *arg, const char *line);     /* of a plugin; any thread */
    void (*warn)(void *arg, const char *warning); /* of the run itself */
};

/* How a run ended.  Plain data: it can go through a pipe. */
struct run_outcome {
    int status;                     /* exit status (exit_status.h); EXIT_RUN_OK also for a pause */
    bool was_complete;              /* nothing was left to do */
    bool finished;                  /* the last round and the model are on the disk */
    bool stopped;                   /* by a signal or a limit of time (stop_reason()) */
    uint32_t done;                  /* rounds */
    uint32_t saved;                 /* rounds that a rerun need not repeat */
    uint32_t rounds;                /* T; 0: unknown, as the experiment was refused before */
    char split[16];                 /* "test" or "validation" */
    char measure[64];               /* "accuracy" */
    struct results_summary summary; /* evaluations is 0 when nothing is known */
    char folder[4096];              /* "": the run ended before it had one */
    char changes[ERROR_BYTES];      /* since a complete run, or the one that is repeated, began; "":
                                     * none */
    char note[ERROR_BYTES];         /* world_describe_dealing() */
    struct error error;             /* why status is not EXIT_RUN_OK, beside what is in d */
};

/* Runs one experiment, or goes on with it where its folder holds a checkpoint.  e and l stay the
 * caller's; e may be changed (an optimizer left open is chosen).  The caller has called
 * stop_begin(); where it allowed a signal to end the process (stop_allow_end()), that holds until
 * the first round.  Errors and warnings about the experiment are added to d.  Returns out->status.
 */
int run_experiment(struct experiment *e, struct loader *l, const struct run_options *o,
                   const struct run_watcher *watcher, struct diagnostics *d,
                   struct run_outcome *out);

/* The exit status for a failure: EXIT_USAGE for what the user has to change in experiment or
 * command, EXIT_RUN_FAILED for a run that failed. */
int run_exit_status(osafl_status status);

#endif
