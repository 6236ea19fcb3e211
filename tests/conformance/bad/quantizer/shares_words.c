/* shares_words.c - draws the same random numbers for all clients.  Caught by
 * quantizer.unbiased. */
#include "template_with.h"

static osafl_status encode_alike(void *self, osafl_call *c, const osafl_packet *packet,
                                 const float *x, float *state, uint8_t *code, uint64_t *bytes,
                                 double *air_bits)
{
    osafl_packet first = *packet;
    first.client = 0;
    return encode(self, c, &first, x, state, code, bytes, air_bits);
}

CHANGE(vt.encode = encode_alike;)
