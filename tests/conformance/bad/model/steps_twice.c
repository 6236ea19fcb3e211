/* steps_twice.c - takes a fused step twice as long.  Caught by model.fused. */
#include "template_with.h"

static osafl_status double_step(void *self, osafl_call *c, void *workspace, float *w,
                                const osafl_batch *b, const osafl_step *step, double rate,
                                double *loss)
{
    const struct model *m = self;
    const uint64_t n = m->classes * m->inputs + m->classes;
    float *grad = m->host->scratch(c, n * sizeof *grad);
    if (grad == NULL)
        return OSAFL_E_NOMEM;
    OSAFL_TRY(gradient(self, c, workspace, w, b, step, grad, loss));
    for (uint64_t i = 0; i < n; i++)
        w[i] -= (float)(2.0 * rate * (double)grad[i]);
    return OSAFL_OK;
}

static const char *const pretended[] = {"fused", NULL};

CHANGE(vt.sgd_step = double_step; p.features = pretended;)
