/* feeds_back_wrongly.c - keeps what its codes leave out, with the wrong sign.  Caught by
 * quantizer.feedback. */
#include "template_with.h"

static osafl_status describe_memory(void *self, osafl_call *c, osafl_quantizer_info *out)
{
    const struct quantizer *q = self;
    out->client_floats = q->dim;
    return describe(self, c, out);
}

static osafl_status encode_with_memory(void *self, osafl_call *c, const osafl_packet *packet,
                                       const float *x, float *state, uint8_t *code, uint64_t *bytes,
                                       double *air_bits)
{
    const struct quantizer *q = self;
    float *sum = q->host->scratch(c, q->dim * sizeof *sum);
    if (sum == NULL)
        return OSAFL_E_NOMEM;
    for (uint64_t i = 0; i < q->dim; i++)
        sum[i] = x[i] + state[i];
    OSAFL_TRY(encode(self, c, packet, sum, NULL, code, bytes, air_bits));
    OSAFL_TRY(decode(self, c, code, *bytes, 0, q->dim, state));
    for (uint64_t i = 0; i < q->dim; i++)
        state[i] -= sum[i];
    return OSAFL_OK;
}

static const char *const laws[] = {"error_feedback", NULL};

CHANGE(vt.describe = describe_memory; vt.encode = encode_with_memory; p.features = laws;)
