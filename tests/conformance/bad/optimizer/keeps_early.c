/* keeps_early.c - changes what it keeps of a client before its update has arrived.  Caught by
 * numbers.guards. */
#include "template_with.h"

static osafl_status describe_state(void *self, osafl_call *c, osafl_optimizer_info *out)
{
    OSAFL_TRY(describe(self, c, out));
    out->client_floats = 1;
    return OSAFL_OK;
}

static osafl_status leave_at_once(void *self, osafl_call *c, const osafl_local *l, float *w)
{
    (void)self;
    (void)c;
    l->client_state[0] = w[0];
    return OSAFL_OK;
}

static osafl_status receive(void *self, osafl_call *c, const osafl_local *l, const float *update,
                            const float *const *uplink)
{
    (void)self;
    (void)c;
    (void)uplink;
    l->client_state[0] = update[0];
    return OSAFL_OK;
}

CHANGE(vt.describe = describe_state; vt.leave = leave_at_once; vt.received = receive;)
