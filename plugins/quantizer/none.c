/* none.c - sends every entry as it is, in 32 bits.
 *
 * A code is the vector itself; the host accumulates and multiplies what decode() copies out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "osafl/quantizer.h"

struct lossless {
    const osafl_host *host;
    uint64_t dim;
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)config;
    struct lossless *q = calloc(1, sizeof *q);
    if (q == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    q->host = h;
    q->dim = facts->dim;
    *self = q;
    return OSAFL_OK;
}

static double payload_bits(void *self)
{
    const struct lossless *q = self;
    return 32.0 * (double)q->dim;
}

static uint64_t max_bytes(void *self)
{
    const struct lossless *q = self;
    return q->dim * sizeof(float);
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
    (void)c;
    (void)p;
    (void)state;
    *bytes = max_bytes(self);
    *air_bits = payload_bits(self);
    memcpy(code, x, *bytes);
    return OSAFL_OK;
}

/* Codes are 8-byte aligned floats, so they can be read where they lie. */
static const float *entries(const uint8_t *code)
{
    return (const float *)(const void *)code;
}

static osafl_status verify(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes)
{
    const struct lossless *q = self;
    if (bytes != max_bytes(self))
        return q->host->fail(c, OSAFL_E_DATA, "a code of %llu bytes instead of %llu",
                             (unsigned long long)bytes, (unsigned long long)max_bytes(self));
    const float *x = entries(code);
    for (uint64_t i = 0; i < q->dim; i++) {
        if (!isfinite(x[i]))
            return q->host->fail(c, OSAFL_E_DATA, "entry %llu of a code is not finite",
                                 (unsigned long long)i);
    }
    return OSAFL_OK;
}

static osafl_status decode(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes,
                           uint64_t begin, uint64_t end, float *out)
{
    (void)c;
    (void)self;
    (void)bytes;
    memcpy(out, entries(code) + begin, (end - begin) * sizeof *out);
    return OSAFL_OK;
}

static const char *const features[] = {"unbiased", "lossless", NULL};

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
    .name = "none",
    .version = "1.0.0",
    .summary = "No quantization: float32, 32 bits an entry",
    .license = "MIT",
    .features = features,
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
