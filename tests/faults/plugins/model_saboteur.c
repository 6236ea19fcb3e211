/* model_saboteur.c - logistic that may do a deed at "gradient" or "evaluate", both on workers. */
#define osafl_plugin_entry_v0 honest_entry
#include "../../../plugins/model/logistic.c"
#undef osafl_plugin_entry_v0
#include "deeds.h"

static osafl_status bad_gradient(void *self, osafl_call *c, void *workspace, const float *w,
                                 const osafl_batch *b, const osafl_step *step, float *grad,
                                 double *loss)
{
    OSAFL_TRY(vtable.gradient(self, c, workspace, w, b, step, grad, loss));
    if (deed("gradient", step->round, step->client))
        grad[0] = NAN;
    return OSAFL_OK;
}

static osafl_status bad_evaluate(void *self, osafl_call *c, void *workspace, const float *w,
                                 const osafl_batch *b, double *value)
{
    OSAFL_TRY(vtable.evaluate(self, c, workspace, w, b, value));
    if (deed("evaluate", ANY, ANY))
        value[0] = (double)NAN;
    return OSAFL_OK;
}

static osafl_model_vt bad;

/* CLASSIFIER_FUNCTIONS, but for what is replaced. */
__attribute__((constructor)) static void fill(void)
{
    bad = vtable;
    bad.gradient = bad_gradient;
    bad.evaluate = bad_evaluate;
    bad.sgd_step = NULL;
}

SABOTEUR(&bad)
