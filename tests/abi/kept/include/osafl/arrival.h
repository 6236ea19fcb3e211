/* osafl/arrival.h - how many samples arrive, and is the client available?
 *
 * A client that is not available is left out of that round: it does not train, and nothing
 * arrives unless arrive() says so.  The same holds for a client whose store is empty.
 *
 * A store has room for D_u samples.  It begins as fill() says and grows with what arrives; where
 * more samples arrive than there is room for, the deletion policy says which ones leave.
 *
 * Feature "own_numbers": the numbers of samples do not depend on `arrivals`, E_u.  The experiment's
 * clients.arrivals is then of no effect, need not fit the stores, and E_u is given as 0. */
#ifndef OSAFL_ARRIVAL_H
#define OSAFL_ARRIVAL_H

#include "history.h"
#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Arrays have one element per client. */
typedef struct osafl_arrival_problem {
    uint32_t struct_size;
    uint32_t clients; /* U */
    uint32_t round;
    uint32_t reserved;
    const uint32_t *arrivals; /* E_u = ceil(clients.arrivals * p_u): what the experiment names */
    const uint64_t *capacity; /* D_u = ceil(clients.storage * p_u) */
    const double *activity;   /* p_u */
    /* What the server knows; NULL in fill().  An arrival that uses it makes the world depend on the
     * algorithm: different algorithms then see different arrivals. */
    const osafl_history *history;
    /* Where samples have owners and times (osafl/dataset.h): the times of client u's training
     * samples, ascending, in time[time_first[u]] to time[time_first[u + 1] - 1].  The samples come
     * in this order.  Else both are NULL. */
    const uint64_t *time_first;
    const double *time;
} osafl_arrival_problem;

typedef struct osafl_arrival_vt {
    osafl_lifecycle life;
    /* REQUIRED.  n[u]: samples that reach client u at the end of the round, at most capacity[u];
     * present[u]: 1 when it is there during the round, else 0.  Filled with 0 and 1.  Once a round,
     * ascending, before clients are selected; after a resume from the next round on, so what an
     * instance keeps between rounds belongs in save().  [coord] */
    osafl_status (*arrive)(void *self, osafl_call *c, const osafl_arrival_problem *p, uint32_t *n,
                           uint8_t *present);
    /* n[u]: samples in the store before round 0, at most capacity[u]; p->round is 0.  Where samples
     * have times: those that came before round 0, up to all of the client's; the store holds the
     * last capacity[u] of them.  NULL: stores begin full.  (optional) [coord] */
    osafl_status (*fill)(void *self, osafl_call *c, const osafl_arrival_problem *p, uint64_t *n);
} osafl_arrival_vt;

#ifdef __cplusplus
}
#endif
#endif
