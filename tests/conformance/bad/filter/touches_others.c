/* touches_others.c - changes clients that it says it leaves alone.  Caught by filter.touches. */
#include "template_with.h"

static uint32_t touches_odd(void *self, uint32_t client)
{
    (void)self;
    return client % 2;
}

static osafl_status halve(void *self, osafl_call *c, uint32_t client, uint32_t round,
                          const float *w, float *update)
{
    (void)c;
    (void)client;
    (void)round;
    (void)w;
    const struct filter *filter = self;
    for (uint64_t i = 0; i < filter->dim; i++)
        update[i] *= 0.5f;
    return OSAFL_OK;
}

CHANGE(vt.touches = touches_odd; vt.update = halve;)
