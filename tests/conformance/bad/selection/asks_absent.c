/* asks_absent.c - asks clients that are not there.  Caught by selection.present. */
#include "template_with.h"

static osafl_status everybody(void *self, osafl_call *c, const osafl_selection_problem *problem,
                              uint8_t *asked)
{
    (void)self;
    (void)c;
    memset(asked, 1, problem->clients);
    return OSAFL_OK;
}

CHANGE(vt.choose = everybody;)
