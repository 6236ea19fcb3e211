/* streams.h - counter-based random streams (Philox4x32-10).  No generator state exists, so none
 * has to be saved and no order of calls can change a number. */
#ifndef OSAFL_CORE_STREAMS_H
#define OSAFL_CORE_STREAMS_H

#include <stdint.h>

/* Purposes of the core's own streams (kind 0).  Plugins number theirs within their kind.  A
 * purpose is never reused for something else: that would change results. */
enum stream_purpose {
    STREAM_ACTIVITY = 1,   /* p_u */
    STREAM_LABELS,         /* label distribution pi_u */
    STREAM_POOL_ORDER,     /* order in which samples of a label are dealt */
    STREAM_STORE,          /* labels of the initial store */
    STREAM_ARRIVAL_COUNT,  /* binomial arrivals */
    STREAM_ARRIVAL_LABELS, /* labels of arrivals */
    STREAM_DRIFT,          /* where pi_u drifts */
    STREAM_LIMITS,         /* c_u, e_bd, f_max, p_max */
    STREAM_SAMPLING,       /* which clients the server asks */
    STREAM_BATCHES,        /* permutations of a store */
    STREAM_ATTACK,         /* who attacks, and with what */
    STREAM_UPLINK_LOSS,    /* which updates are lost */
    STREAM_BOOTSTRAP,      /* resamples of a report, in no run */
    STREAM_GAIN_ERROR,     /* how wrongly a gain is known */
};

/* Writes n words: a pure function of all other arguments.  kind: 0 for the core, else
 * OSAFL_KIND_*. */
void streams_fill(uint64_t seed, uint32_t kind, uint32_t purpose, uint32_t client, uint32_t round,
                  uint64_t index, uint32_t *out, uint64_t n);

#endif
