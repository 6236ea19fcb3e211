/* writes_input.c - normalises the clients' shares where they lie.  Caught by numbers.guards. */
#include "template_with.h"

static osafl_status aggregate_in_place(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    double *alpha;
    memcpy(&alpha, &u->alpha, sizeof alpha);
    for (uint32_t k = 0; k < u->n; k++)
        alpha[k] *= 2.0;
    return aggregate(self, c, u, w);
}

CHANGE(vt.aggregate = aggregate_in_place;)
