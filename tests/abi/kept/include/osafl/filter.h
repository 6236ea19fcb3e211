/* osafl/filter.h - what does a client do to its labels and its update before it is coded?
 *
 * Attacks and privacy mechanisms are filters.  Pooled training has no clients, and no filter. */
#ifndef OSAFL_FILTER_H
#define OSAFL_FILTER_H

#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Feature "private": what the filter promises holds for the update alone, so that methods whose
 * clients send further vectors (osafl_aggregator_info.uplink_vectors) are refused. */
typedef struct osafl_filter_vt {
    osafl_lifecycle life;
    /* 1: the filter changes something of this client; 0: it leaves it alone, and is not called for
     * it.  The same answer every time.  NULL: all clients.  (optional) [any] */
    uint32_t (*touches)(void *self, uint32_t client);
    /* Changes the labels with which a client trains: label[k] of training sample sample[k], each
     * in [0, facts->dataset->labels) before and after.  A pure function of its arguments.
     * (optional) [worker] */
    osafl_status (*labels)(void *self, osafl_call *c, uint32_t client, uint32_t n,
                           const uint64_t *sample, int32_t *label);
    /* Changes update[0 .. facts->dim), what the client is about to send in slot 0
     * (osafl_aggregator_info.sends); w: the global model with which it began.  Finite before and
     * after.  A pure function of its arguments.  (optional) [worker] */
    osafl_status (*update)(void *self, osafl_call *c, uint32_t client, uint32_t round,
                           const float *w, float *update);
    /* At the end of each round, for metrics such as a privacy budget; n: updates that arrived of
     * `asked` clients that were asked.  (optional) [coord] */
    osafl_status (*end_round)(void *self, osafl_call *c, uint32_t round, uint32_t n,
                              uint32_t asked);
} osafl_filter_vt;

#ifdef __cplusplus
}
#endif
#endif
