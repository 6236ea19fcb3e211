/* osafl/history.h - what the server knows of each client from the rounds before, for policies that
 * go by it.  The host keeps it, and saves it in checkpoints. */
#ifndef OSAFL_HISTORY_H
#define OSAFL_HISTORY_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Arrays have one element per client unless said otherwise.  A client takes part in a round when
 * its update of that round arrives, be it in a later one.  What training measures is unknown, as
 * before the first participation, in `osafl check` and in runs with training.enabled = false. */
typedef struct osafl_history {
    uint32_t struct_size;
    uint32_t labels;                /* C */
    const uint32_t *histogram;      /* [clients][labels]: labels in its store now */
    const uint32_t *histogram_then; /* [clients][labels]: when it last took part; 0 before */
    const uint32_t *arrivals;       /* samples that reached it at the end of the round before */
    const uint32_t *participations; /* rounds in which it took part */
    const uint32_t *age;            /* rounds since the last of them; round + 1 before the first */
    const uint32_t *asked_age;      /* rounds since it was last asked; round + 1 before */
    const double *train_loss;       /* mean over the steps of its last participation; NaN before */
    const double *update_norm;      /* of its last update as received; NaN before, and where the
                                     * selection does not say that it uses it */
    /* Receiving counts where there is a downlink (downlink.enabled). */
    const double *seconds; /* of its last participation, receiving, computing and sending; NaN
                            * before */
    const double *joules;  /* spent so far in the same way, lost updates included */
} osafl_history;

#ifdef __cplusplus
}
#endif
#endif
