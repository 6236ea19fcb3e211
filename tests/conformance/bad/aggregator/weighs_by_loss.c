/* weighs_by_loss.c - says that it needs one sum and no losses, and weighs by losses.  Caught by
 * aggregator.one_sum. */
#include "template_with.h"

static osafl_status describe_one_sum(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    OSAFL_TRY(describe(self, c, out));
    out->one_sum = 1;
    return OSAFL_OK;
}

static osafl_status add_by_loss(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    double weight[16];
    (void)self;
    (void)c;
    for (uint32_t k = 0; k < u->n; k++)
        weight[k] = u->train_loss[k] > 0.2 ? 0.1 : 0.2;
    return u->ops->add(u, 0, weight, w);
}

CHANGE(vt.describe = describe_one_sum; vt.aggregate = add_by_loss;)
