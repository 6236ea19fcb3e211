/* drops_arrivals.c - says that it keeps arrivals, and deletes the youngest.  Caught by
 * deletion.keeps_arrivals. */
#include "template_with.h"

static osafl_status select_youngest(void *self, osafl_call *c, const osafl_store_view *v,
                                    uint32_t n, uint32_t *position)
{
    (void)self;
    (void)c;
    for (uint32_t i = 0; i < n; i++)
        position[i] = v->stored + v->arrived - 1 - i;
    return OSAFL_OK;
}

static const char *const pretended[] = {"keeps_arrivals", NULL};

CHANGE(vt.select = select_youngest; p.features = pretended;)
