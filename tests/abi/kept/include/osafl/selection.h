/* osafl/selection.h - which clients are asked in this round?
 *
 * The server asks some of the clients that are there; the resource policy then says who of them can
 * take part. */
#ifndef OSAFL_SELECTION_H
#define OSAFL_SELECTION_H

#include "history.h"
#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* What a selection uses that the host measures only on request. */
enum { OSAFL_USES_UPDATE_NORM = 1 };

typedef struct osafl_selection_info {
    uint32_t struct_size;
    uint32_t uses; /* OSAFL_USES_*, or 0 */
} osafl_selection_info;

typedef struct osafl_selection_vt {
    osafl_lifecycle life;
    /* REQUIRED.  asked[u]: 1 for a client that is asked, 0 (as filled) for the others; only clients
     * that are there can be asked.  It may ask no client at all; the round is then empty.  Once a
     * round, ascending; after a resume from the next round on, so what an instance keeps between
     * rounds belongs in save().  [coord] */
    osafl_status (*choose)(void *self, osafl_call *c, const osafl_selection_problem *p,
                           uint8_t *asked);
    /* The same answer every time; out is filled with 0.  (optional) [coord] */
    osafl_status (*describe)(void *self, osafl_call *c, osafl_selection_info *out);
} osafl_selection_vt;

#ifdef __cplusplus
}
#endif
#endif
