/* topk_sparse.c - sends the k entries of greatest magnitude in full (Stich et al. 2018).
 *
 * Of equal magnitudes the lower index goes first.  With error feedback the entries that were left
 * out are added to the client's next vector.  Code: one word with the number of entries (k, or
 * fewer when fewer are non-zero), then for each entry its index and its float32, packed, indices
 * ascending. */
#include <math.h>
#include <stdlib.h>

#include "osafl/quantizer.h"
#include "packing/bit_stream.h"

struct config {
    double fraction;
    bool error_feedback;
};

struct topk {
    const osafl_host *host;
    const struct config *config;
    uint64_t dim;
    uint64_t k;
    unsigned entry_bits; /* index, then the 32 bits of the value */
};

#define HEADER_BYTES 8

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const struct config *settings = config;
    struct topk *q = calloc(1, sizeof *q);
    if (q == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    q->host = h;
    q->config = settings;
    q->dim = facts->dim;
    const double wanted = ceil(settings->fraction * (double)q->dim);
    q->k = wanted < (double)q->dim ? (uint64_t)wanted : q->dim;
    q->entry_bits = bits_for(q->dim) + 32;
    *self = q;
    return OSAFL_OK;
}

static double payload_bits(void *self)
{
    const struct topk *q = self;
    return (double)(q->k * q->entry_bits) + 8.0 * HEADER_BYTES;
}

static uint64_t max_bytes(void *self)
{
    const struct topk *q = self;
    return HEADER_BYTES + 8 * bit_stream_words(q->k, q->entry_bits);
}

static osafl_status describe(void *self, osafl_call *c, osafl_quantizer_info *out)
{
    (void)c;
    const struct topk *q = self;
    out->payload_bits = payload_bits(self);
    out->max_bytes = max_bytes(self);
    out->client_floats = q->config->error_feedback ? q->dim : 0;
    return OSAFL_OK;
}

/* --- encoding ------------------------------------------------------------------------------- */

/* The bits of |x|, which are ordered as the magnitudes are; 0 only for x = 0. */
static uint32_t magnitude_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & UINT32_C(0x7fffffff);
}

#define RADIX 65536u

/* Finds the k-th greatest magnitude by counting its upper, then its lower 16 bits.  *at_threshold:
 * how many entries of exactly that magnitude belong to the k. */
static uint32_t find_threshold(const float *x, uint64_t n, uint64_t k, uint64_t *count,
                               uint64_t *at_threshold)
{
    uint32_t high = RADIX;
    uint32_t low = RADIX;
    for (uint64_t i = 0; i < n; i++)
        count[magnitude_bits(x[i]) >> 16]++;
    while (count[--high] < k)
        k -= count[high];
    memset(count, 0, RADIX * sizeof *count);
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t bits = magnitude_bits(x[i]);
        if (bits >> 16 == high)
            count[bits & (RADIX - 1)]++;
    }
    while (count[--low] < k)
        k -= count[low];
    *at_threshold = k;
    return high << 16 | low;
}

/* Sums of finite floats may leave the range of float. */
static float finite_sum(float a, float b)
{
    const float sum = a + b;
    return isfinite(sum) ? sum : copysignf(3.40282347e38f, sum);
}

static osafl_status encode(void *self, osafl_call *c, const osafl_packet *p, const float *x,
                           float *state, uint8_t *code, uint64_t *bytes, double *air_bits)
{
    (void)p;
    const struct topk *q = self;
    float *left_out = q->config->error_feedback ? state : NULL;
    uint64_t *count = q->host->scratch(c, RADIX * sizeof *count);
    if (count == NULL)
        return OSAFL_E_NOMEM;
    if (left_out != NULL) {
        for (uint64_t i = 0; i < q->dim; i++)
            left_out[i] = finite_sum(left_out[i], x[i]);
        x = left_out; /* what is to be coded now */
    }

    uint64_t ties = 0;
    const uint32_t threshold = find_threshold(x, q->dim, q->k, count, &ties);
    struct bit_writer writer = {.out = code + HEADER_BYTES};
    uint64_t entries = 0;
    for (uint64_t i = 0; i < q->dim; i++) {
        const uint32_t magnitude = magnitude_bits(x[i]);
        if (magnitude == 0 || magnitude < threshold || (magnitude == threshold && ties == 0))
            continue;
        if (magnitude == threshold)
            ties--;
        uint32_t value;
        memcpy(&value, &x[i], sizeof value);
        bit_write(&writer, i << 32 | value, q->entry_bits);
        entries++;
        if (left_out != NULL)
            left_out[i] = 0.0f;
    }
    bit_write_end(&writer);
    memcpy(code, &entries, HEADER_BYTES);
    *bytes = HEADER_BYTES + 8 * bit_stream_words(entries, q->entry_bits);
    *air_bits = (double)(entries * q->entry_bits) + 8.0 * HEADER_BYTES;
    return OSAFL_OK;
}

/* --- reading codes -------------------------------------------------------------------------- */

static uint64_t code_entries(const uint8_t *code)
{
    uint64_t entries;
    memcpy(&entries, code, sizeof entries);
    return entries;
}

static uint64_t entry_index(const struct topk *q, const uint8_t *code, uint64_t entry)
{
    const uint64_t at = entry * q->entry_bits + 32;
    return q->entry_bits > 32 ? bit_read(code + HEADER_BYTES, at, q->entry_bits - 32) : 0;
}

static float entry_value(const struct topk *q, const uint8_t *code, uint64_t entry)
{
    const uint32_t bits = (uint32_t)bit_read(code + HEADER_BYTES, entry * q->entry_bits, 32);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The first entry at or after coordinate `begin`. */
static uint64_t find_entry(const struct topk *q, const uint8_t *code, uint64_t begin)
{
    uint64_t low = 0;
    uint64_t high = code_entries(code);
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (entry_index(q, code, middle) < begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static osafl_status verify(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes)
{
    const struct topk *q = self;
    const uint64_t entries = bytes >= HEADER_BYTES ? code_entries(code) : UINT64_MAX;
    if (entries > q->k || bytes != HEADER_BYTES + 8 * bit_stream_words(entries, q->entry_bits))
        return q->host->fail(c, OSAFL_E_DATA,
                             "the length of a top-k code does not fit its number of entries");
    if (!bit_stream_ends_clean(code + HEADER_BYTES, entries * q->entry_bits))
        return q->host->fail(c, OSAFL_E_DATA, "the padding of a top-k code is not zero");
    uint64_t least = 0; /* that the next index may be */
    for (uint64_t e = 0; e < entries; e++) {
        const uint64_t index = entry_index(q, code, e);
        const float value = entry_value(q, code, e);
        if (index < least || index >= q->dim)
            return q->host->fail(c, OSAFL_E_DATA,
                                 "the indices of a top-k code do not ascend within the vector");
        if (!isfinite(value) || value == 0.0f)
            return q->host->fail(c, OSAFL_E_DATA, "an entry of a top-k code is 0 or not finite");
        least = index + 1;
    }
    return OSAFL_OK;
}

static osafl_status decode(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes,
                           uint64_t begin, uint64_t end, float *out)
{
    (void)c;
    (void)bytes;
    const struct topk *q = self;
    const uint64_t entries = code_entries(code);
    memset(out, 0, (end - begin) * sizeof *out);
    for (uint64_t e = find_entry(q, code, begin); e < entries; e++) {
        const uint64_t index = entry_index(q, code, e);
        if (index >= end)
            break;
        out[index - begin] = entry_value(q, code, e);
    }
    return OSAFL_OK;
}

static osafl_status axpy(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes,
                         uint64_t begin, uint64_t end, double a, double *acc)
{
    (void)c;
    (void)bytes;
    const struct topk *q = self;
    const uint64_t entries = code_entries(code);
    for (uint64_t e = find_entry(q, code, begin); e < entries; e++) {
        const uint64_t index = entry_index(q, code, e);
        if (index >= end)
            break;
        acc[index - begin] += a * (double)entry_value(q, code, e);
    }
    return OSAFL_OK;
}

static osafl_status dot(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes,
                        uint64_t begin, uint64_t end, const float *v, double *out)
{
    (void)c;
    (void)bytes;
    const struct topk *q = self;
    const uint64_t entries = code_entries(code);
    double sum = 0.0;
    for (uint64_t e = find_entry(q, code, begin); e < entries; e++) {
        const uint64_t index = entry_index(q, code, e);
        if (index >= end)
            break;
        sum += (double)entry_value(q, code, e) * (double)v[index - begin];
    }
    *out = sum;
    return OSAFL_OK;
}

/* --- plugin --------------------------------------------------------------------------------- */

static const osafl_param params[] = {
    OSAFL_REAL(struct config, fraction, 0.01, 0, 1,
               "Share of the entries that is sent, rounded up to whole entries",
               .flags = OSAFL_P_LO_OPEN),
    OSAFL_BOOL(struct config, error_feedback, true,
               "Adds what earlier codes of a client left out to its next vector"),
};

static const osafl_quantizer_vt vtable = {
    .life = {.struct_size = sizeof(osafl_quantizer_vt), .create = create, .destroy = free},
    .describe = describe,
    .encode = encode,
    .verify = verify,
    .decode = decode,
    .axpy = axpy,
    .dot = dot,
};

static const char *const features[] = {"error_feedback", NULL};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_QUANTIZER,
    .name = "topk_sparse",
    .version = "1.0.0",
    .summary = "Sends the entries of greatest magnitude in full, with error feedback",
    .cite = "Stich, Cordonnier, Jaggi: Sparsified SGD with Memory, NeurIPS 2018",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
