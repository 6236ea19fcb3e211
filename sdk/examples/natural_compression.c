/* natural_compression.c - a quantizer: powers of two, 9 bits an entry.
 *
 * Horvath, Ho, Horvath, Sahu, Canini and Richtarik, "Natural Compression for Distributed Deep
 * Learning", MSML 2022.  |x| = 2^e (1 + m) becomes 2^(e+1) with probability m, and else 2^e, so
 * that the expected value is x.  In a float e are the exponent's 8 bits and m the mantissa's 23:
 * the comparison of m with 23 random bits is exact, and denormal numbers need no case of their own.
 *
 * A code is dim exponents, a byte each, and behind them the signs, a bit each. */
#include <stdlib.h>
#include <string.h>

#include <osafl/quantizer.h>

enum { STREAM_ROUNDING = 1 };

#define CHUNK 256 /* entries of one request for random words; part of the results */
#define LARGEST_EXPONENT 254

struct quantizer {
    const osafl_host *host;
    uint64_t dim;
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)config;
    struct quantizer *q = malloc(sizeof *q);
    if (q == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *q = (struct quantizer){.host = h, .dim = facts->dim};
    *self = q;
    return OSAFL_OK;
}

static double payload_bits(void *self)
{
    const struct quantizer *q = self;
    return 9.0 * (double)q->dim;
}

static uint64_t max_bytes(void *self)
{
    const struct quantizer *q = self;
    return q->dim + (q->dim + 7) / 8;
}

static osafl_status describe(void *self, osafl_call *c, osafl_quantizer_info *out)
{
    (void)c;
    out->payload_bits = payload_bits(self);
    out->max_bytes = max_bytes(self);
    return OSAFL_OK;
}

static osafl_status encode(void *self, osafl_call *c, const osafl_packet *p, const float *x,
                           float *state, uint8_t *code, uint64_t *bytes, double *air_bits)
{
    (void)state;
    const struct quantizer *q = self;
    uint8_t *sign = code + q->dim;
    memset(sign, 0, (q->dim + 7) / 8);
    for (uint64_t begin = 0; begin < q->dim; begin += CHUNK) {
        const uint64_t n = q->dim - begin < CHUNK ? q->dim - begin : CHUNK;
        uint32_t word[CHUNK];
        q->host->random_fill(c, STREAM_ROUNDING + p->slot, p->client, p->round, begin, word, n);
        for (uint64_t i = begin; i < begin + n; i++) {
            uint32_t bits;
            memcpy(&bits, &x[i], sizeof bits);
            const uint32_t mantissa = bits & UINT32_C(0x7fffff);
            uint32_t exponent = (bits >> 23) & 0xff;
            exponent += (word[i - begin] >> 9) < mantissa;
            code[i] = (uint8_t)(exponent > LARGEST_EXPONENT ? LARGEST_EXPONENT : exponent);
            sign[i / 8] = (uint8_t)(sign[i / 8] | (bits >> 31) << (i % 8));
        }
    }
    *bytes = max_bytes(self);
    *air_bits = payload_bits(self);
    return OSAFL_OK;
}

static osafl_status verify(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes)
{
    const struct quantizer *q = self;
    if (bytes != max_bytes(self))
        return q->host->fail(c, OSAFL_E_DATA, "a code of %llu bytes instead of %llu",
                             (unsigned long long)bytes, (unsigned long long)max_bytes(self));
    for (uint64_t i = 0; i < q->dim; i++) {
        if (code[i] > LARGEST_EXPONENT)
            return q->host->fail(c, OSAFL_E_DATA, "entry %llu of a code is not finite",
                                 (unsigned long long)i);
    }
    if (q->dim % 8 != 0 && code[bytes - 1] >> (q->dim % 8) != 0)
        return q->host->fail(c, OSAFL_E_DATA, "a code has signs behind its last entry");
    return OSAFL_OK;
}

static osafl_status decode(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes,
                           uint64_t begin, uint64_t end, float *out)
{
    (void)c;
    (void)bytes;
    const struct quantizer *q = self;
    const uint8_t *sign = code + q->dim;
    for (uint64_t i = begin; i < end; i++) {
        const uint32_t negative = (uint32_t)(sign[i / 8] >> (i % 8)) & 1;
        const uint32_t bits = negative << 31 | (uint32_t)code[i] << 23;
        memcpy(&out[i - begin], &bits, sizeof bits);
    }
    return OSAFL_OK;
}

static const char *const features[] = {"unbiased", NULL};

static const osafl_quantizer_vt vtable = {
    .life = {.struct_size = sizeof(osafl_quantizer_vt), .create = create, .destroy = free},
    .describe = describe,
    .encode = encode,
    .verify = verify,
    .decode = decode,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_QUANTIZER,
    .name = "natural_compression",
    .version = "1.0.0",
    .summary = "Rounds to powers of two without bias, 9 bits an entry",
    .cite = "Horvath, Ho, Horvath, Sahu, Canini, Richtarik: Natural Compression for Distributed "
            "Deep Learning, MSML 2022",
    .license = "MIT",
    .features = features,
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
