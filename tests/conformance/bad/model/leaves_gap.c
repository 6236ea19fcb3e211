/* leaves_gap.c - leaves a parameter out of its tensors.  Caught by model.tensors. */
#include "template_with.h"

static osafl_status describe_less(void *self, osafl_call *c, osafl_model_info *out)
{
    OSAFL_TRY(describe(self, c, out));
    out->n_parameters++;
    return OSAFL_OK;
}

CHANGE(vt.describe = describe_less;)
