/* quantizer_saboteur.c - none, with a float kept for every client, that may do a deed at "encode",
 * "remember" or "decode". */
#define osafl_plugin_entry_v0 honest_entry
#include "../../../plugins/quantizer/none.c"
#undef osafl_plugin_entry_v0
#include "deeds.h"

static osafl_status bad_describe(void *self, osafl_call *c, osafl_quantizer_info *out)
{
    OSAFL_TRY(describe(self, c, out));
    out->client_floats = 1;
    return OSAFL_OK;
}

static osafl_status bad_encode(void *self, osafl_call *c, const osafl_packet *p, const float *x,
                               float *state, uint8_t *code, uint64_t *bytes, double *air_bits)
{
    OSAFL_TRY(encode(self, c, p, x, state, code, bytes, air_bits));
    if (deed("encode", p->round, p->client))
        memset(code, 0xff, sizeof(float)); /* a NaN */
    state[0] = deed("remember", p->round, p->client) ? NAN : x[0];
    return OSAFL_OK;
}

static osafl_status bad_decode(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes,
                               uint64_t begin, uint64_t end, float *out)
{
    OSAFL_TRY(decode(self, c, code, bytes, begin, end, out));
    if (deed("decode", ANY, ANY))
        out[0] = NAN;
    return OSAFL_OK;
}

static const osafl_quantizer_vt bad = {
    .life = {.struct_size = sizeof(osafl_quantizer_vt), .create = create, .destroy = free},
    .describe = bad_describe,
    .encode = bad_encode,
    .verify = verify,
    .decode = bad_decode,
};

SABOTEUR(&bad)
