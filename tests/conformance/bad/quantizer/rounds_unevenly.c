/* rounds_unevenly.c - says that it is unbiased, and rounds down a little too often: by less than
 * any single entry shows.  Caught by quantizer.unbiased. */
#include "template_with.h"

static osafl_status encode_unevenly(void *self, osafl_call *c, const osafl_packet *packet,
                                    const float *x, float *state, uint8_t *code, uint64_t *bytes,
                                    double *air_bits)
{
    const struct quantizer *q = self;
    (void)state;
    for (uint64_t i = 0; i < q->dim; i++) {
        uint32_t word;
        q->host->random_fill(c, STREAM_ROUNDING, packet->client, packet->round, i, &word, 1);
        const uint16_t entry = round_entry(x[i], (word >> 16) / 16 * 15);
        memcpy(code + i * sizeof entry, &entry, sizeof entry);
    }
    *bytes = max_bytes(self);
    *air_bits = payload_bits(self);
    return OSAFL_OK;
}

CHANGE(vt.encode = encode_unevenly;)
