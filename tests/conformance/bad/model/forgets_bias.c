/* forgets_bias.c - has no gradient for its biases, which does not show along the gradient that it
 * gives.  Caught by model.gradient. */
#include "template_with.h"

static osafl_status gradient_without(void *self, osafl_call *c, void *workspace, const float *w,
                                     const osafl_batch *b, const osafl_step *step, float *grad,
                                     double *loss)
{
    const struct model *m = self;
    OSAFL_TRY(gradient(self, c, workspace, w, b, step, grad, loss));
    for (uint64_t i = 0; i < m->classes; i++)
        grad[m->classes * m->inputs + i] = 0.0f;
    return OSAFL_OK;
}

CHANGE(vt.gradient = gradient_without;)
