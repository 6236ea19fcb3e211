/* osafl/selection.h - who is asked in this round?
 *
 * The server asks some of the clients that are there; the resource policy then says who of them can
 * take part. */
#ifndef OSAFL_SELECTION_H
#define OSAFL_SELECTION_H

#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the server knows about each client from the rounds before.  Arrays have one element per
 * client. */
typedef struct osafl_history {
    uint32_t struct_size;
    uint32_t labels;                /* C */
    const uint32_t *histogram;      /* [clients][labels]: labels in its store now */
    const uint32_t *histogram_then; /* [clients][labels]: when it last took part; 0 before */
    const uint32_t *arrivals;       /* samples that reached it at the end of the round before */
    const uint32_t *participations; /* rounds in which its update arrived */
    const uint32_t *age;            /* rounds since the last of them; round + 1 before the first */
    const double *train_loss;       /* mean over the steps of its last participation; NaN before */
    const double *update_norm;      /* of its last update as received; NaN before */
    const double *joules;           /* spent so far, computing and sending */
} osafl_history;

typedef struct osafl_selection_problem {
    uint32_t struct_size;
    uint32_t clients; /* U */
    uint32_t round;
    uint32_t reserved;
    const uint8_t *present;        /* 1: the client is there */
    const double *gain;            /* of the channel in this round, linear */
    const uint64_t *samples;       /* size of the store */
    const double *energy_budget_j; /* of a round */
    const osafl_history *history;
} osafl_selection_problem;

typedef struct osafl_selection_vt {
    osafl_lifecycle life;
    /* REQUIRED.  asked[u]: 1 for a client that is asked, 0 (as filled) for the others; only clients
     * that are there can be asked.  Nobody at all is allowed: the round then is empty.  Once a
     * round, ascending.  [coord] */
    osafl_status (*choose)(void *self, osafl_call *c, const osafl_selection_problem *p,
                           uint8_t *asked);
} osafl_selection_vt;

#ifdef __cplusplus
}
#endif
#endif
