/* pretends_plain.c - says that it is plain, and steps half as far.  Caught by optimizer.plain. */
#include "template_with.h"

static osafl_status describe_plain(void *self, osafl_call *c, osafl_optimizer_info *out)
{
    OSAFL_TRY(describe(self, c, out));
    out->is_plain = 1;
    return OSAFL_OK;
}

static osafl_status half_step(void *self, osafl_call *c, const osafl_local *l, float *w,
                              float *grad)
{
    for (uint64_t i = 0; i < l->dim; i++)
        grad[i] *= 0.5f;
    return step(self, c, l, w, grad);
}

CHANGE(vt.describe = describe_plain; vt.step = half_step;)
