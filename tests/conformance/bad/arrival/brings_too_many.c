/* brings_too_many.c - brings a sample more than fits.  Caught by arrival.counts. */
#include "template_with.h"

static osafl_status flood(void *self, osafl_call *c, const osafl_arrival_problem *problem,
                          uint32_t *n, uint8_t *present)
{
    (void)self;
    (void)c;
    (void)present;
    for (uint32_t u = 0; u < problem->clients; u++)
        n[u] = (uint32_t)problem->capacity[u] + 1;
    return OSAFL_OK;
}

CHANGE(vt.arrive = flood;)
