/* sends_nothing.c - sends a vector and has no operation that fills it.  Caught by
 * optimizer.description. */
#include "template_with.h"

static osafl_status describe_more(void *self, osafl_call *c, osafl_optimizer_info *out)
{
    OSAFL_TRY(describe(self, c, out));
    out->uplink_vectors = 1;
    return OSAFL_OK;
}

CHANGE(vt.describe = describe_more;)
