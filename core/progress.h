/* progress.h - what the user sees while a run goes on, and at its end.
 *
 * On a terminal a bar, redrawn at most ten times a second; otherwise one line per evaluated round.
 * Nothing here can change a result. */
#ifndef OSAFL_CORE_PROGRESS_H
#define OSAFL_CORE_PROGRESS_H

#include <stdio.h>

#include "results.h"

struct progress;

struct progress_options {
    FILE *to;             /* standard error in the program */
    const char *label;    /* of the run: "quickstart osafl seed 1" */
    const char *measure;  /* "accuracy": shown as a percentage; any other name as a number */
    uint32_t rounds;      /* T */
    uint32_t first_round; /* > 0 after a resume */
    uint32_t clients;
    bool quiet; /* nothing but errors */
};

struct progress *progress_create(const struct progress_options *o); /* NULL: out of memory */
void progress_destroy(struct progress *p);                          /* NULL is allowed */

/* Within a round: `done` of `all` pieces of its work.  Cheap; may be called often, by the
 * coordinator or from one worker at a time. */
void progress_step(struct progress *p, uint32_t round, uint64_t done, uint64_t all);

/* A round has ended.  measure: NAN where it was not evaluated. */
void progress_round(struct progress *p, uint32_t round, uint32_t participants, double measure);

/* Takes the bar off the screen, so that something else can be printed; the next step draws it
 * again. */
void progress_clear(struct progress *p);

/* Best and last value, where the results lie, and restarts (world_describe_restarts(), "" or NULL:
 * none). */
void progress_summary(struct progress *p, const struct results_summary *s, const char *folder,
                      const char *restarts);

#endif
