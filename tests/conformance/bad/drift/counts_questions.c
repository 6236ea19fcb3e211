/* counts_questions.c - moves on each time it is asked.  Caught by drift.pure. */
#include "template_with.h"

static osafl_status next(void *self, osafl_call *c, uint32_t client, uint32_t round,
                         osafl_drift_mix *out)
{
    static uint32_t asked;
    (void)self;
    (void)c;
    (void)client;
    (void)round;
    out->draw_a = asked++;
    out->weight = 0.0;
    return OSAFL_OK;
}

CHANGE(vt.at = next;)
