/* ignores_schedule.c - steps with the learning rate of round 0 in all rounds.  Caught by
 * optimizer.rate. */
#include "template_with.h"

static double first_rate;

static osafl_status falling_rate(void *self, osafl_call *c, uint32_t round, double *out)
{
    OSAFL_TRY(rate(self, c, round, out));
    first_rate = *out;
    *out /= 1.0 + round;
    return OSAFL_OK;
}

static osafl_status first_step(void *self, osafl_call *c, const osafl_local *l, float *w,
                               float *grad)
{
    osafl_local other = *l;
    other.rate = first_rate;
    return step(self, c, &other, w, grad);
}

CHANGE(vt.rate = falling_rate; vt.step = first_step;)
