/* shares_scratch.c - encodes through a static variable.  Caught by threads.workers. */
#include "template_with.h"

static uint32_t shared_client;

static osafl_status encode_through(void *self, osafl_call *c, const osafl_packet *packet,
                                   const float *x, float *state, uint8_t *code, uint64_t *bytes,
                                   double *air_bits)
{
    osafl_packet other = *packet;
    *(volatile uint32_t *)&shared_client = packet->client;
    let_others_in();
    other.client = *(volatile uint32_t *)&shared_client;
    return encode(self, c, &other, x, state, code, bytes, air_bits);
}

CHANGE(vt.encode = encode_through;)
