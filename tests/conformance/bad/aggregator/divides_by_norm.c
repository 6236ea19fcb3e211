/* divides_by_norm.c - divides by the norm of the step, which may be zero.  Caught by
 * numbers.finite. */
#include "template_with.h"

static osafl_status aggregate_normalised(void *self, osafl_call *c, const osafl_updates *u,
                                         float *w)
{
    double norm2 = 0.0;
    OSAFL_TRY(aggregate(self, c, u, w));
    OSAFL_TRY(u->ops->inner_product(u, w, w, &norm2));
    for (uint64_t i = 0; i < u->dim; i++)
        w[i] = (float)((double)w[i] / sqrt(norm2));
    return OSAFL_OK;
}

CHANGE(vt.aggregate = aggregate_normalised;)
