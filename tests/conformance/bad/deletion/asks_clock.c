/* asks_clock.c - chooses by the time of day.  Caught by numbers.repeat. */
#include "template_with.h"

#include <time.h>

static osafl_status select_by_time(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                                   uint32_t *position)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    OSAFL_TRY(select_samples(self, c, v, n, position));
    const uint32_t all = v->stored + v->arrived;
    for (uint32_t i = 0; i < n; i++)
        position[i] = (uint32_t)((position[i] + (uint32_t)now.tv_nsec / 64) % all);
    return OSAFL_OK;
}

CHANGE(vt.select = select_by_time;)
