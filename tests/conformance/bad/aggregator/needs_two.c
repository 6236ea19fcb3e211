/* needs_two.c - reads a second parameter that need not be there.  Caught by numbers.sizes. */
#include "template_with.h"

static osafl_status aggregate_pair(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    float *pair = u->dim < 2 ? w + 16 : w + 1; /* beyond what alignment leaves */
    *pair += 0.0f;
    return aggregate(self, c, u, w);
}

CHANGE(vt.aggregate = aggregate_pair;)
