/* asks_address.c - gains that depend on where the code lies.  Caught by numbers.process. */
#include "template_with.h"

static osafl_status placed_gains(void *self, osafl_call *c, uint32_t round, double *gain)
{
    OSAFL_TRY(gains(self, c, round, gain));
    gain[0] *= 1.0 + 1e-6 * (double)((uintptr_t)&vt >> 12 & 0xfff);
    return OSAFL_OK;
}

CHANGE(vt.gains = placed_gains;)
