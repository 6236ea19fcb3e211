/* osafl/drift.h - which of its label mixes does a client have in a round?
 *
 * A partition gives every client a sequence of mixes, draw 0, 1, 2, ...  A drift says which of them
 * is in force when samples arrive at the end of a round. */
#ifndef OSAFL_DRIFT_H
#define OSAFL_DRIFT_H

#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The mix in force: (1 - weight) * mix(draw_a) + weight * mix(draw_b). */
typedef struct osafl_drift_mix {
    uint32_t struct_size;
    uint32_t draw_a;
    uint32_t draw_b; /* of no interest while weight is 0 */
    uint32_t reserved;
    double weight; /* 0 .. 1 */
} osafl_drift_mix;

/* Features: "concurrent": at() may run for different clients at the same time, as in [worker]. */
typedef struct osafl_drift_vt {
    osafl_lifecycle life;
    /* REQUIRED.  A pure function of client and round.  The initial stores are drawn from draw 0,
     * whatever it answers.  [coord], or [worker] with the feature "concurrent" */
    osafl_status (*at)(void *self, osafl_call *c, uint32_t client, uint32_t round,
                       osafl_drift_mix *out);
} osafl_drift_vt;

#ifdef __cplusplus
}
#endif
#endif
