/* progress.h - what the user sees while a run goes on, and at its end.
 *
 * On a terminal a bar, redrawn at most ten times a second; otherwise one line for every evaluated
 * round.  Nothing here can change a result. */
#ifndef OSAFL_CORE_PROGRESS_H
#define OSAFL_CORE_PROGRESS_H

#include <stdio.h>

#include "results/results.h"

struct progress;

struct progress_options {
    FILE *to;             /* standard error in the program */
    const char *label;    /* of the run: "quickstart osafl seed 1" */
    const char *measure;  /* "accuracy" is shown as a percentage, any other name as a number */
    uint32_t rounds;      /* T */
    uint32_t first_round; /* > 0 after a resume */
    uint32_t clients;
    bool bar;   /* what progress_wants_bar() says of `to` */
    bool quiet; /* shows nothing */
};

/* True for a terminal that can draw a bar. */
bool progress_wants_bar(FILE *to);

/* Strings and file must outlive the progress.  NULL: out of memory. */
struct progress *progress_create(const struct progress_options *o);
/* Takes the bar off the screen.  NULL is allowed. */
void progress_destroy(struct progress *p);

/* Within a round: `done` of `all` pieces of its work.  Cheap; any thread, any number of times. */
void progress_step(struct progress *p, uint32_t round, uint64_t done, uint64_t all);

/* A round has ended.  measure: NAN where it was not evaluated. */
void progress_round(struct progress *p, uint32_t round, uint32_t participants, double measure);

/* Takes the bar off the screen, so that something else can be printed; it comes back with the next
 * step.  Any thread. */
void progress_clear(struct progress *p);

/* "best test accuracy 61.20 % after 12 rounds, last 60.00 % after 30 rounds"; "" when nothing was
 * evaluated. */
void progress_format_summary(char *out, size_t size, const char *split, const char *measure,
                             const struct results_summary *s);

/* The end of a run: best and last value with their rounds, where the results lie, and a note on
 * what the clients were dealt (world_describe_dealing(); "" or NULL: none).  split: "test" or
 * "validation". */
void progress_summary(FILE *to, const char *split, const char *measure,
                      const struct results_summary *s, const char *folder, const char *note);

#endif
