/* declares_nothing.c - declares no optimizer.  Caught by aggregator.declare. */
#include "template_with.h"

static osafl_status declare_less(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    OSAFL_TRY(declare(self, c, out));
    out->optimizer = "";
    return OSAFL_OK;
}

CHANGE(vt.declare = declare_less;)
