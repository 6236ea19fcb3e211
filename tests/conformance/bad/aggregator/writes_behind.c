/* writes_behind.c - writes one parameter too many.  Caught by numbers.guards. */
#include "template_with.h"

static osafl_status aggregate_more(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    OSAFL_TRY(aggregate(self, c, u, w));
    w[u->dim] = 0.0f;
    return OSAFL_OK;
}

CHANGE(vt.aggregate = aggregate_more;)
