/* participation.h - who takes part in a round, and with what effort: the clients that the server
 * asks, the channel's gains and the resource policy's answer.  ALGORITHMS.md 2.
 *
 * The model and the training have no say in it, so that it can be known before a run. */
#ifndef OSAFL_CORE_PARTICIPATION_H
#define OSAFL_CORE_PARTICIPATION_H

#include "session.h"
#include "world/world.h"

struct participation {
    const struct session *session;
    const struct world *world;
    /* Of the round decided last; [clients]. */
    uint8_t *present;             /* 1: the server asks the client */
    double *gain;                 /* linear */
    osafl_resource_answer answer; /* checked: see participation_decide() */
    double *answer_memory;
};

/* Session and world outlive it.  False without memory; then, too, participation_destroy(). */
bool participation_create(const struct session *s, const struct world *world,
                          struct participation *out);
void participation_destroy(struct participation *p);

/* Decides round t; rounds come in ascending order.  Only for sessions with a link.  The answer
 * keeps what resource.h asks of it: a policy that does not is named (OSAFL_E_BUG,
 * OSAFL_E_NUMERIC). */
osafl_status participation_decide(struct participation *p, uint32_t round, char *message);

#endif
