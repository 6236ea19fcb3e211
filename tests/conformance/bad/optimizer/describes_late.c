/* describes_late.c - asks for another float of the round once it has made a step.  Caught by
 * describe.late. */
#include "template_with.h"

static uint32_t steps;

static osafl_status describe_so_far(void *self, osafl_call *c, osafl_optimizer_info *out)
{
    OSAFL_TRY(describe(self, c, out));
    out->round_floats += steps > 0;
    return OSAFL_OK;
}

static osafl_status counted_step(void *self, osafl_call *c, const osafl_local *l, float *w,
                                 float *grad)
{
    steps++;
    return step(self, c, l, w, grad);
}

CHANGE(vt.describe = describe_so_far; vt.step = counted_step;)
