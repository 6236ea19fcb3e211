/* rounds_down.c - says that it is unbiased, and always rounds towards zero.  Caught by
 * quantizer.unbiased. */
#include "template_with.h"

static osafl_status encode_down(void *self, osafl_call *c, const osafl_packet *packet,
                                const float *x, float *state, uint8_t *code, uint64_t *bytes,
                                double *air_bits)
{
    const struct quantizer *q = self;
    (void)c;
    (void)packet;
    (void)state;
    for (uint64_t i = 0; i < q->dim; i++) {
        const uint16_t entry = round_entry(x[i], 0);
        memcpy(code + i * sizeof entry, &entry, sizeof entry);
    }
    *bytes = max_bytes(self);
    *air_bits = payload_bits(self);
    return OSAFL_OK;
}

CHANGE(vt.encode = encode_down;)
