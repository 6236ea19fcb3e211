/* goes_by_order.c - says that at() is concurrent, and answers by who asked before.  Caught by
 * threads.workers. */
#include "template_with.h"

static const char *const concurrent[] = {"concurrent", NULL};
static uint32_t previous;

static osafl_status at_after(void *self, osafl_call *c, uint32_t client, uint32_t round,
                             osafl_drift_mix *out)
{
    OSAFL_TRY(at(self, c, client, round, out));
    out->draw_a += previous > client;
    previous = client;
    return OSAFL_OK;
}

CHANGE(vt.at = at_after; p.features = concurrent;)
