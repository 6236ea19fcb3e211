/* air_of_less.c - states an eighth of the bits that it sends.  Caught by quantizer.bits. */
#include "template_with.h"

static osafl_status encode_cheaply(void *self, osafl_call *c, const osafl_packet *packet,
                                   const float *x, float *state, uint8_t *code, uint64_t *bytes,
                                   double *air_bits)
{
    OSAFL_TRY(encode(self, c, packet, x, state, code, bytes, air_bits));
    *air_bits /= 8.0;
    return OSAFL_OK;
}

CHANGE(vt.encode = encode_cheaply;)
