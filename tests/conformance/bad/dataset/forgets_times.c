/* forgets_times.c - knows when every other sample came.  Caught by dataset.labels. */
#include "template_with.h"

static osafl_status time_of_some(void *self, osafl_call *c, uint64_t i, double *when)
{
    (void)self;
    (void)c;
    *when = i % 2 == 0 ? (double)i : (double)NAN;
    return OSAFL_OK;
}

static const char *const timed[] = {"timed", NULL};

CHANGE(vt.time_of = time_of_some; p.features = timed;)
