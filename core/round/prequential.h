/* prequential.h - test, then train: how well the model of a round does on the samples that arrive
 * in it, before anyone trains on them (ALGORITHMS.md 8). */
#ifndef OSAFL_CORE_PREQUENTIAL_H
#define OSAFL_CORE_PREQUENTIAL_H

#include <stdbool.h>

#include "base/error.h"
#include "session.h"
#include "worker.h"

/* Of the round in hand. */
struct prequential {
    double *mean; /* [n_measures]; sums until prequential_end(); NULL: nobody asks */
    uint64_t samples;
    double *value; /* [room][n_measures]: of one client's arrivals */
    uint64_t room;
};

/* false: out of memory. */
bool prequential_create(const struct session *s, struct prequential *p);
void prequential_destroy(struct prequential *p);

void prequential_begin(const struct session *s, struct prequential *p);

/* What arrives at a client; sample: numbers in the training split. */
struct arrivals {
    uint32_t client;
    uint32_t round;
    uint32_t n;
    const uint64_t *sample;
};

/* Judges them by w[0..dim), by their own labels.  Works in chunks of EVALUATION_BATCH, in parallel;
 * sums run in the order of the samples.  [coord] */
osafl_status prequential_add(const struct session *s, struct worker *const *workers, const float *w,
                             const struct arrivals *a, struct prequential *p, struct error *error);

/* p->mean become means, NAN where nothing arrived. */
void prequential_end(const struct session *s, struct prequential *p);

#endif
