/* asks_process.c - gains that depend on the number of the process.  Caught by numbers.process. */
#include "template_with.h"

#include <unistd.h>

static osafl_status process_gains(void *self, osafl_call *c, uint32_t round, double *gain)
{
    OSAFL_TRY(gains(self, c, round, gain));
    gain[0] *= 1.0 + 1e-9 * (double)getpid();
    return OSAFL_OK;
}

CHANGE(vt.gains = process_gains;)
