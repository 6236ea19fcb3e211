/* prefers_first.c - takes the update of the first client.  Caught by aggregator.permutation. */
#include "template_with.h"

static osafl_status aggregate_first(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    (void)self;
    (void)c;
    double weight[64] = {1.0};
    return u->ops->add(u, 0, weight, w);
}

CHANGE(vt.aggregate = aggregate_first;)
