/* asks_home.c - gains that depend on the environment.  Caught by numbers.process. */
#include "template_with.h"

static osafl_status home_gains(void *self, osafl_call *c, uint32_t round, double *gain)
{
    const char *home = getenv("HOME");
    OSAFL_TRY(gains(self, c, round, gain));
    gain[0] *= home != NULL ? 1.0 + 1e-3 * (double)home[1] : 1.0;
    return OSAFL_OK;
}

CHANGE(vt.gains = home_gains;)
