/* remembers_batch.c - adds up what earlier batches left in its workspace.  Caught by
 * model.workspace. */
#include "template_with.h"

static uint64_t one_more(void *self, uint32_t batch, uint32_t evaluation_batch)
{
    return workspace_bytes(self, batch, evaluation_batch) + sizeof(double);
}

static osafl_status gradient_on_top(void *self, osafl_call *c, void *workspace, const float *w,
                                    const osafl_batch *b, const osafl_step *step, float *grad,
                                    double *loss)
{
    const struct model *m = self;
    double *total = (double *)workspace + m->classes;
    OSAFL_TRY(gradient(self, c, workspace, w, b, step, grad, loss));
    *total += *loss;
    *loss = *total;
    return OSAFL_OK;
}

CHANGE(vt.workspace_bytes = one_more; vt.gradient = gradient_on_top;)
