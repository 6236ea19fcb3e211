/* folding.h - a round whose updates are added up as they are made, some clients at a time, so that
 * memory holds a few of them however many take part.
 *
 * The aggregator must describe itself so (osafl_aggregator_info.one_sum).  Its aggregate() begins
 * before anybody has trained, and the sum that it asks for makes the updates.  They are added in
 * the order and arithmetic of combine(), so that no byte of the results differs. */
#ifndef OSAFL_CORE_FOLDING_H
#define OSAFL_CORE_FOLDING_H

#include "engine.h"

/* Updates that are held at a time, for each thread. */
#define FOLDING_PER_THREAD 8

/* Whether rounds of more clients than that are folded: nobody asks for all updates together, and
 * none is late or left out because it diverged. */
bool folding_is_possible(const struct session *s);
/* Whether the round in hand is. */
bool folding_suits(const struct engine *e);

/* Trains for the tasks of the round and aggregates.  *train_s: of that, the seconds of training. */
osafl_status folding_round(struct engine *e, double *train_s, struct error *error);

#endif
