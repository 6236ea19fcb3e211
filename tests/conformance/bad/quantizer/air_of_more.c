/* air_of_more.c - states more bits on the air than its code has.  Caught by quantizer.sizes. */
#include "template_with.h"

static osafl_status encode_and_boast(void *self, osafl_call *c, const osafl_packet *packet,
                                     const float *x, float *state, uint8_t *code, uint64_t *bytes,
                                     double *air_bits)
{
    OSAFL_TRY(encode(self, c, packet, x, state, code, bytes, air_bits));
    *air_bits *= 2.0;
    return OSAFL_OK;
}

CHANGE(vt.encode = encode_and_boast;)
