/* shares_scratch.c - encodes through a static buffer.  Caught by threads.workers. */
#include "template_with.h"

static struct {
    float x[64];
    uint32_t client;
} shared;

static osafl_status encode_through(void *self, osafl_call *c, const osafl_packet *packet,
                                   const float *x, float *const *state, uint8_t *code,
                                   uint64_t *bytes, double *air_bits)
{
    osafl_packet other = *packet;
    ((volatile uint32_t *)&shared.client)[0] = packet->client;
    for (uint32_t k = 0; k < 200000; k++) /* long enough for another thread to come in */
        ((volatile float *)shared.x)[k % 64] = x[0];
    other.client = ((volatile uint32_t *)&shared.client)[0];
    return encode(self, c, &other, x, state, code, bytes, air_bits);
}

CHANGE(vt.encode = encode_through;)
