/* negative_gain.c - has a gain below zero.  Caught by channel.gains. */
#include "template_with.h"

static osafl_status negative_gains(void *self, osafl_call *c, uint32_t round, double *gain)
{
    OSAFL_TRY(gains(self, c, round, gain));
    gain[0] = -gain[0];
    return OSAFL_OK;
}

CHANGE(vt.gains = negative_gains;)
