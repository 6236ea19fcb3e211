/* believes_codes.c - takes every code for one of its own.  Caught by quantizer.garbage. */
#include "template_with.h"

static osafl_status verify_nothing(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes)
{
    (void)self;
    (void)c;
    (void)code;
    (void)bytes;
    return OSAFL_OK;
}

CHANGE(vt.verify = verify_nothing;)
