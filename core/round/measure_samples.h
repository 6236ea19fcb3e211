/* measure_samples.h - what the model makes of single samples of a client, for a deletion policy
 * that goes by it. */
#ifndef OSAFL_CORE_MEASURE_SAMPLES_H
#define OSAFL_CORE_MEASURE_SAMPLES_H

#include "session.h"
#include "worker.h"

struct measuring {
    const struct session *session;
    struct worker *const *workers; /* one for each thread of the session's pool */
    uint32_t round;
    uint32_t client;
    const float *w;
    const uint64_t *sample; /* numbers in the training split */
    double *value;          /* session->deletion.measure of each; DBL_MAX where it is not finite */
};

/* Measures n samples, with the labels that the client's filter gives them.  Works in chunks of
 * EVALUATION_BATCH, in parallel; no value depends on the number of threads.  [coord] */
osafl_status measure_samples(const struct measuring *m, uint32_t n, struct error *error);

#endif
