/* quantizer_saboteur.c - none, with a vector kept for every client, that may do a deed at "encode",
 * "remember" or "decode". */
#define osafl_plugin_entry_v0 honest_entry
#include "../../../plugins/quantizer/none.c"
#undef osafl_plugin_entry_v0
#include "deeds.h"

static uint32_t one_vector(void *self)
{
    (void)self;
    return 1;
}

static osafl_status bad_encode(void *self, osafl_call *c, const osafl_packet *p, const float *x,
                               float *const *state, uint8_t *code, uint64_t *bytes,
                               double *air_bits)
{
    OSAFL_TRY(encode(self, c, p, x, state, code, bytes, air_bits));
    if (deed("encode", p->round, p->client))
        memset(code, 0xff, sizeof(float)); /* a NaN */
    state[0][0] = deed("remember", p->round, p->client) ? NAN : x[0];
    return OSAFL_OK;
}

static void bad_decode(void *self, const uint8_t *code, uint64_t bytes, uint64_t begin,
                       uint64_t end, float *out)
{
    decode(self, code, bytes, begin, end, out);
    if (deed("decode", ANY, ANY))
        out[0] = NAN;
}

static const osafl_quantizer_vt bad = {
    .life = {.struct_size = sizeof(osafl_quantizer_vt), .create = create, .destroy = free},
    .payload_bits = payload_bits,
    .max_bytes = max_bytes,
    .client_vectors = one_vector,
    .encode = bad_encode,
    .verify = verify,
    .decode = bad_decode,
};

SABOTEUR(&bad)
