/* climbs.c - steps along the gradient instead of against it.  Caught by optimizer.descends. */
#include "template_with.h"

static osafl_status step_up(void *self, osafl_call *c, const osafl_local *l, float *w, float *grad)
{
    for (uint64_t i = 0; i < l->dim; i++)
        grad[i] = -grad[i];
    return step(self, c, l, w, grad);
}

CHANGE(vt.step = step_up;)
