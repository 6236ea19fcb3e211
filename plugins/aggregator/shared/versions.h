/* versions.h - for servers that step more or less often than once a round: how many steps back the
 * model is from which an update started. */
#ifndef OSAFL_AGGREGATOR_VERSIONS_H
#define OSAFL_AGGREGATOR_VERSIONS_H

#include <stdlib.h>

#include "osafl/aggregator.h"

/* The server's steps so far, and those at the start of the last `rounds` rounds. */
struct versions {
    uint64_t steps;
    uint64_t rounds;
    uint64_t *at_start; /* [rounds], by round % rounds */
};

/* For updates that are at most max_staleness rounds late.  False: out of memory. */
static inline bool versions_create(struct versions *v, uint32_t max_staleness)
{
    *v = (struct versions){.rounds = (uint64_t)max_staleness + 1};
    v->at_start = calloc(v->rounds, sizeof *v->at_start);
    return v->at_start != NULL;
}

/* Where the round has its place among the last ones. */
static inline uint64_t versions_place(const struct versions *v, uint32_t round)
{
    return round % v->rounds;
}

/* Once in every round, before its steps. */
static inline void versions_begin(struct versions *v, uint32_t round)
{
    v->at_start[versions_place(v, round)] = v->steps;
}

/* Steps that the server has done since the start of a round, with `more` in the round in hand. */
static inline double versions_staleness(const struct versions *v, uint32_t start_round,
                                        uint64_t more)
{
    return (double)(v->steps + more - v->at_start[versions_place(v, start_round)]);
}

/* order[0..u->n): the updates as they arrived, those at the same time by client. */
static inline void arrival_order(const osafl_updates *u, uint32_t *order)
{
    for (uint32_t k = 0; k < u->n; k++) {
        uint32_t at = k;
        for (; at > 0 && u->arrived_s[order[at - 1]] > u->arrived_s[k]; at--)
            order[at] = order[at - 1];
        order[at] = k;
    }
}

static inline osafl_status versions_save(const struct versions *v, osafl_writer *w)
{
    OSAFL_TRY(w->u64(w, "steps", &v->steps, 1));
    return w->u64(w, "at_start", v->at_start, v->rounds);
}

static inline osafl_status versions_load(struct versions *v, osafl_call *c, osafl_reader *r)
{
    OSAFL_TRY(r->u64(r, "steps", &v->steps, 1));
    OSAFL_TRY(r->u64(r, "at_start", v->at_start, v->rounds));
    for (uint64_t j = 0; j < v->rounds; j++)
        if (v->at_start[j] > v->steps || v->steps > (uint64_t)1 << 53)
            return c->host->fail(c, OSAFL_E_STATE, "a round began after more steps than were made");
    return OSAFL_OK;
}

#endif
