/* kept.c - a quantizer: what does a vector look like after the uplink, and how many bits is it?
 *
 * As generated it sends the upper 16 bits of every float (the format bfloat16) and rounds at random
 * to one of the two neighbours, so that the expected value is the entry itself.
 *
 * To make it yours, change encode(), decode() and what verify() refuses; osafl/quantizer.h tells
 * more, and which operations can be added for speed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <osafl/quantizer.h>

/* Streams of random numbers, in the plugin's own numbering: one for each vector of a client. */
enum { STREAM_ROUNDING = 1 };

/* Entries that are rounded with one request for random words.  Part of the results. */
#define CHUNK 256

/* The largest finite bfloat16. */
#define LARGEST 0x7f7f

/* One instance.  encode() runs on several threads at once, so that nothing here changes in it. */
struct quantizer {
    const osafl_host *host;
    uint64_t dim;
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)config; /* NULL: this plugin has no settings */
    struct quantizer *q = malloc(sizeof *q);
    if (q == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *q = (struct quantizer){.host = h, .dim = facts->dim};
    *self = q;
    return OSAFL_OK;
}

static void destroy(void *self)
{
    free(self);
}

/* What a vector costs on the air, for the resource policy: known before there is any vector. */
static double payload_bits(void *self)
{
    const struct quantizer *q = self;
    return 16.0 * (double)q->dim;
}

static uint64_t max_bytes(void *self)
{
    const struct quantizer *q = self;
    return q->dim * sizeof(uint16_t);
}

static osafl_status describe(void *self, osafl_call *c, osafl_quantizer_info *out)
{
    (void)c;
    out->payload_bits = payload_bits(self);
    out->max_bytes = max_bytes(self);
    return OSAFL_OK;
}

/* The bfloat16 below or above |x|, with the sign of x; random: 16 uniform bits. */
static uint16_t round_entry(float x, uint32_t random)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t sign = bits >> 31;
    uint32_t magnitude = ((bits & UINT32_C(0x7fffffff)) + random) >> 16;
    if (magnitude > LARGEST)
        magnitude = LARGEST;
    return (uint16_t)(sign << 15 | magnitude);
}

static float entry_value(uint16_t code)
{
    const uint32_t bits = (uint32_t)code << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static osafl_status encode(void *self, osafl_call *c, const osafl_packet *p, const float *x,
                           float *state, uint8_t *code, uint64_t *bytes, double *air_bits)
{
    (void)state; /* what is kept for each client: nothing, see client_floats */
    const struct quantizer *q = self;
    for (uint64_t begin = 0; begin < q->dim; begin += CHUNK) {
        const uint64_t n = q->dim - begin < CHUNK ? q->dim - begin : CHUNK;
        uint32_t word[CHUNK];
        uint16_t entry[CHUNK];
        /* A function of its arguments and the run's seed: the same on every thread. */
        q->host->random_fill(c, STREAM_ROUNDING + p->slot, p->client, p->round, begin, word, n);
        for (uint64_t i = 0; i < n; i++)
            entry[i] = round_entry(x[begin + i], word[i] >> 16);
        memcpy(code + begin * sizeof entry[0], entry, n * sizeof entry[0]);
    }
    *bytes = max_bytes(self);
    *air_bits = payload_bits(self);
    return OSAFL_OK;
}

/* A code may come from a damaged file: whatever passes here must be safe to decode. */
static osafl_status verify(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes)
{
    const struct quantizer *q = self;
    if (bytes != max_bytes(self))
        return q->host->fail(c, OSAFL_E_DATA, "a code of %llu bytes instead of %llu",
                             (unsigned long long)bytes, (unsigned long long)max_bytes(self));
    for (uint64_t i = 0; i < q->dim; i++) {
        uint16_t entry;
        memcpy(&entry, code + i * sizeof entry, sizeof entry);
        if (!isfinite(entry_value(entry)))
            return q->host->fail(c, OSAFL_E_DATA, "entry %llu of a code is not finite",
                                 (unsigned long long)i);
    }
    return OSAFL_OK;
}

/* out[i - begin] = decoded x[i], begin <= i < end. */
static osafl_status decode(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes,
                           uint64_t begin, uint64_t end, float *out)
{
    (void)c;
    (void)self;
    (void)bytes;
    for (uint64_t i = begin; i < end; i++) {
        uint16_t entry;
        memcpy(&entry, code + i * sizeof entry, sizeof entry);
        out[i - begin] = entry_value(entry);
    }
    return OSAFL_OK;
}

/* Laws that it keeps.  What stands here is tested by "osafl plugin check". */
static const char *const features[] = {"unbiased", NULL};

static const osafl_quantizer_vt vtable = {
    .life = {.struct_size = sizeof(osafl_quantizer_vt), .create = create, .destroy = destroy},
    .describe = describe,
    .encode = encode,
    .verify = verify,
    .decode = decode,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_QUANTIZER,
    .name = "kept",
    .version = "0.1.0",
    .summary = "Sends 16 bits an entry, rounded at random without bias",
    .license = "MIT",
    .features = features,
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
