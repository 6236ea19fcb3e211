/* hides_times.c - knows when samples came, without the feature.  Caught by dataset.description. */
#include "template_with.h"

static osafl_status same_time(void *self, osafl_call *c, uint64_t i, double *when)
{
    (void)self;
    (void)c;
    (void)i;
    *when = 0.0;
    return OSAFL_OK;
}

CHANGE(vt.time_of = same_time;)
