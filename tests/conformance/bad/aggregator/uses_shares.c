/* uses_shares.c - weighs by the shares as they are.  Caught by aggregator.scale_free. */
#include "template_with.h"

static osafl_status aggregate_literally(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    (void)self;
    (void)c;
    return u->ops->add(u, 0, u->alpha, w);
}

CHANGE(vt.aggregate = aggregate_literally;)
