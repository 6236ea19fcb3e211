/* sums_up.c - adds the updates up instead of averaging.  Caught by aggregator.mean. */
#include "template_with.h"

static osafl_status aggregate_sum(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    (void)self;
    (void)c;
    double one[64];
    for (uint32_t k = 0; k < u->n; k++)
        one[k] = 1.0;
    return u->ops->add(u, 0, one, w);
}

CHANGE(vt.aggregate = aggregate_sum;)
