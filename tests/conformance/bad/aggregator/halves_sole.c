/* halves_sole.c - moves half the way of a single participant.  Caught by aggregator.sole_update. */
#include "template_with.h"

static osafl_status aggregate_cautiously(void *self, osafl_call *c, const osafl_updates *u,
                                         float *w)
{
    if (u->n > 1)
        return aggregate(self, c, u, w);
    const double half = 0.5;
    return u->ops->add(u, 0, &half, w);
}

CHANGE(vt.aggregate = aggregate_cautiously;)
