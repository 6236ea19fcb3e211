/* forgets_decay.c - leaves a part of the loss out of the gradient.  Caught by model.gradient. */
#include "template_with.h"

static osafl_status gradient_without(void *self, osafl_call *c, void *workspace, const float *w,
                                     const osafl_batch *b, const osafl_step *step, float *grad,
                                     double *loss)
{
    const struct model *m = self;
    OSAFL_TRY(gradient(self, c, workspace, w, b, step, grad, loss));
    for (uint64_t i = 0; i < m->classes * m->inputs; i++)
        grad[i] *= 0.7f;
    return OSAFL_OK;
}

CHANGE(vt.gradient = gradient_without;)
