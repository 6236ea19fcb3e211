/* declares_nothing.c - declares no optimizer.  Caught by aggregator.describe. */
#include "template_with.h"

static osafl_status describe_less(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    OSAFL_TRY(describe(self, c, out));
    out->optimizer = "";
    return OSAFL_OK;
}

CHANGE(vt.describe = describe_less;)
