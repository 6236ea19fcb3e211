/* signsgd.c - one bit an entry: its sign, times the mean magnitude (Bernstein et al. 2018, with the
 * scale and the error feedback of Karimireddy et al. 2019).
 *
 * Q(d)_i = (||d||_1 / N) sign(d_i); 0 counts as positive.  With error feedback d is the vector plus
 * what earlier codes of the same client left out.  Code: the scale as float32 in a word of its own,
 * then N bits, 1 for a negative entry. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "osafl/quantizer.h"
#include "packing/bit_stream.h"

struct config {
    bool error_feedback;
};

struct signs {
    const osafl_host *host;
    const struct config *config;
    uint64_t dim;
};

#define HEADER_BYTES 8

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    struct signs *q = calloc(1, sizeof *q);
    if (q == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *q = (struct signs){.host = h, .config = config, .dim = facts->dim};
    *self = q;
    return OSAFL_OK;
}

static double payload_bits(void *self)
{
    const struct signs *q = self;
    return (double)q->dim + 32.0;
}

static uint64_t max_bytes(void *self)
{
    const struct signs *q = self;
    return HEADER_BYTES + 8 * bit_stream_words(q->dim, 1);
}

static osafl_status describe(void *self, osafl_call *c, osafl_quantizer_info *out)
{
    (void)c;
    const struct signs *q = self;
    out->payload_bits = payload_bits(self);
    out->max_bytes = max_bytes(self);
    out->client_floats = q->config->error_feedback ? q->dim : 0;
    return OSAFL_OK;
}

static float clamped(double value)
{
    return (float)fmax(fmin(value, (double)FLT_MAX), -(double)FLT_MAX);
}

static osafl_status encode(void *self, osafl_call *c, const osafl_packet *p, const float *x,
                           float *state, uint8_t *code, uint64_t *bytes, double *air_bits)
{
    (void)c;
    (void)p;
    const struct signs *q = self;
    float *left_out = q->config->error_feedback ? state : NULL;
    double sum = 0.0;
    if (left_out != NULL) {
        for (uint64_t i = 0; i < q->dim; i++)
            left_out[i] = clamped((double)left_out[i] + (double)x[i]);
        x = left_out; /* what is to be coded now */
    }
    for (uint64_t i = 0; i < q->dim; i++)
        sum += fabs((double)x[i]);
    const float scale = (float)(sum / (double)q->dim);

    struct bit_writer writer = {.out = code + HEADER_BYTES};
    memset(code, 0, HEADER_BYTES);
    memcpy(code, &scale, sizeof scale);
    for (uint64_t i = 0; i < q->dim; i++)
        bit_write(&writer, x[i] < 0.0f, 1);
    bit_write_end(&writer);
    for (uint64_t i = 0; left_out != NULL && i < q->dim; i++) {
        const double sent = left_out[i] < 0.0f ? -(double)scale : (double)scale;
        left_out[i] = clamped((double)left_out[i] - sent);
    }
    *bytes = max_bytes(self);
    *air_bits = payload_bits(self);
    return OSAFL_OK;
}

static float code_scale(const uint8_t *code)
{
    float scale;
    memcpy(&scale, code, sizeof scale);
    return scale;
}

static osafl_status verify(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes)
{
    const struct signs *q = self;
    if (bytes != max_bytes(self))
        return q->host->fail(c, OSAFL_E_DATA, "a sign code of %llu bytes instead of %llu",
                             (unsigned long long)bytes, (unsigned long long)max_bytes(self));
    const float scale = code_scale(code);
    if (!(scale >= 0.0f && scale <= FLT_MAX) || signbit(scale))
        return q->host->fail(c, OSAFL_E_DATA, "the scale of a sign code is negative or not finite");
    uint32_t padding;
    memcpy(&padding, code + sizeof scale, sizeof padding);
    if (padding != 0 || !bit_stream_ends_clean(code + HEADER_BYTES, q->dim))
        return q->host->fail(c, OSAFL_E_DATA, "the padding of a sign code is not zero");
    return OSAFL_OK;
}

static osafl_status decode(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes,
                           uint64_t begin, uint64_t end, float *out)
{
    (void)c;
    (void)self;
    (void)bytes;
    const float scale = code_scale(code);
    for (uint64_t i = begin; i < end; i++)
        out[i - begin] = bit_read(code + HEADER_BYTES, i, 1) != 0 ? -scale : scale;
    return OSAFL_OK;
}

static const osafl_param params[] = {
    OSAFL_BOOL(struct config, error_feedback, false,
               "Adds what earlier codes of a client left out to its next vector"),
};

static const osafl_quantizer_vt vtable = {
    .life = {.struct_size = sizeof(osafl_quantizer_vt), .create = create, .destroy = free},
    .describe = describe,
    .encode = encode,
    .verify = verify,
    .decode = decode,
};

static const char *const features[] = {"error_feedback", NULL};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_QUANTIZER,
    .name = "signsgd",
    .version = "1.0.0",
    .summary = "One bit an entry: its sign, times the mean magnitude",
    .cite = "Bernstein, Wang, Azizzadenesheli, Anandkumar: signSGD: Compressed Optimisation for "
            "Non-Convex Problems, ICML 2018; Karimireddy, Rebjock, Stich, Jaggi: Error Feedback "
            "Fixes SignSGD and other Gradient Compression Schemes, ICML 2019",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
