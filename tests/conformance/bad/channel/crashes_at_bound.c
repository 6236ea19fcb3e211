/* crashes_at_bound.c - divides by zero at an end of a range.  Caught by parameters.bounds. */
#include "template_with.h"

static osafl_status gains_by_decibel(void *self, osafl_call *c, uint32_t round, double *gain)
{
    const struct channel *channel = self;
    const int64_t room = (int64_t)(100.0 - channel->config->mean_gain_db);
    if (1000 / room == 0)
        return channel->host->fail(c, OSAFL_E_NUMERIC, "too little gain");
    return gains(self, c, round, gain);
}

CHANGE(vt.gains = gains_by_decibel;)
