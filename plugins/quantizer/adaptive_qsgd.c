/* adaptive_qsgd.c - stochastic quantization to as many levels as the client's link carries
 * (ALGORITHMS.md 5; after Amiri and Gunduz 2020, with the quantizer of Alistarh et al. 2017).
 *
 * A client may send for upload_share of the deadline at its greatest power.  It takes the most
 * levels s = 2, 4, 8, ..., of those between least_levels and most_levels, whose payload
 * N (1 + log2 s) + 32 is no more than that; the least ones where even they are.
 * Code: one word, log2 s, then the code of level_code.h. */
#include <stdlib.h>
#include <string.h>

#include "level_code.h"
#include "osafl/quantizer.h"

enum { NORM_WHOLE, NORM_TENSOR };
static const char *const norm_choices[] = {"whole", "tensor", NULL};

#define HEAD 8        /* bytes of log2 s; on the air it takes HEAD_BITS */
#define HEAD_BITS 4.0 /* it is at most 15 */

struct config {
    int64_t least_levels;
    int64_t most_levels;
    double upload_share;
    osafl_choice norm;
};

struct adaptive {
    const osafl_host *host;
    double upload_s;
    unsigned least; /* log2 s */
    unsigned most;
    struct level_code code; /* without levels */
};

static unsigned log2_of(int64_t levels)
{
    unsigned n = 0;
    while (levels >> (n + 1) > 0)
        n++;
    return n;
}

static osafl_status check(const osafl_host *h, osafl_call *c, const void *config)
{
    const struct config *s = config;
    if ((s->least_levels & (s->least_levels - 1)) != 0 ||
        (s->most_levels & (s->most_levels - 1)) != 0)
        return h->fail(c, OSAFL_E_CONFIG,
                       "least_levels and most_levels must be powers of two: 1, 2, 4, ..., 32768");
    if (s->least_levels > s->most_levels)
        return h->fail(c, OSAFL_E_CONFIG,
                       "least_levels is above most_levels; lower the one or raise the other");
    return OSAFL_OK;
}

static void destroy(void *self)
{
    struct adaptive *a = self;
    level_code_destroy(&a->code);
    free(a);
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const struct config *settings = config;
    struct adaptive *a = calloc(1, sizeof *a);
    if (a == NULL ||
        !level_code_create(&a->code, h, facts->model, settings->norm.index == NORM_TENSOR)) {
        free(a);
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    }
    a->host = h;
    a->upload_s = settings->upload_share * facts->deadline_s;
    a->least = log2_of(settings->least_levels);
    a->most = log2_of(settings->most_levels);
    *self = a;
    return OSAFL_OK;
}

/* The code with 2^log_levels levels. */
static struct level_code code_of(const struct adaptive *a, unsigned log_levels)
{
    struct level_code code = a->code;
    level_code_set(&code, UINT32_C(1) << log_levels);
    return code;
}

static double bits_of(const struct adaptive *a, unsigned log_levels)
{
    const struct level_code code = code_of(a, log_levels);
    return level_code_payload_bits(&code);
}

static unsigned log_levels_for(const struct adaptive *a, const osafl_packet *p)
{
    unsigned n = a->most;
    while (n > a->least && !(bits_of(a, n) <= a->upload_s * p->most_bits_per_s))
        n--;
    return n;
}

static double payload_bits(void *self)
{
    const struct adaptive *a = self;
    return bits_of(a, a->most);
}

static osafl_status packet_bits(void *self, osafl_call *c, const osafl_packet *p, double *bits)
{
    (void)c;
    const struct adaptive *a = self;
    *bits = bits_of(a, log_levels_for(a, p));
    return OSAFL_OK;
}

static uint64_t max_bytes(void *self)
{
    const struct adaptive *a = self;
    const struct level_code code = code_of(a, a->most);
    return HEAD + level_code_max_bytes(&code);
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
    const struct adaptive *a = self;
    const uint64_t log_levels = log_levels_for(a, p);
    const struct level_code k = code_of(a, (unsigned)log_levels);
    memcpy(code, &log_levels, HEAD);
    OSAFL_TRY(level_code_encode(&k, c, p, x, code + HEAD, bytes, air_bits));
    *bytes += HEAD;
    *air_bits += HEAD_BITS;
    return OSAFL_OK;
}

/* The code that a packet has, of which verify() has approved. */
static struct level_code code_in(const struct adaptive *a, const uint8_t *code)
{
    uint64_t log_levels;
    memcpy(&log_levels, code, HEAD);
    return code_of(a, (unsigned)log_levels);
}

static osafl_status verify(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes)
{
    const struct adaptive *a = self;
    uint64_t log_levels = UINT64_MAX;
    if (bytes >= HEAD)
        memcpy(&log_levels, code, HEAD);
    if (log_levels < a->least || log_levels > a->most)
        return a->host->fail(c, OSAFL_E_DATA,
                             "this is no adaptive_qsgd code: its levels are out of range");
    const struct level_code k = code_of(a, (unsigned)log_levels);
    const char *wrong = level_code_wrong(&k, code + HEAD, bytes - HEAD);
    if (wrong == NULL)
        return OSAFL_OK;
    return a->host->fail(c, OSAFL_E_DATA, "this is no adaptive_qsgd code of %u levels: %s",
                         k.levels, wrong);
}

static osafl_status decode(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes,
                           uint64_t begin, uint64_t end, float *out)
{
    (void)c;
    (void)bytes;
    const struct level_code k = code_in(self, code);
    level_code_decode(&k, code + HEAD, begin, end, out);
    return OSAFL_OK;
}

static osafl_status axpy(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes,
                         uint64_t begin, uint64_t end, double a, double *acc)
{
    (void)c;
    (void)bytes;
    const struct level_code k = code_in(self, code);
    level_code_axpy(&k, code + HEAD, begin, end, a, acc);
    return OSAFL_OK;
}

static osafl_status dot(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes,
                        uint64_t begin, uint64_t end, const float *v, double *out)
{
    (void)c;
    (void)bytes;
    const struct level_code k = code_in(self, code);
    *out = level_code_dot(&k, code + HEAD, begin, end, v);
    return OSAFL_OK;
}

static const osafl_param params[] = {
    OSAFL_INT(struct config, least_levels, 2, 1, 32768, "Fewest levels, a power of two",
              .unit = "levels"),
    OSAFL_INT(struct config, most_levels, 256, 1, 32768, "Most levels, a power of two",
              .unit = "levels"),
    OSAFL_REAL(struct config, upload_share, 0.1, 0, 1,
               "Share of the deadline for which a client may send at its greatest power",
               .flags = OSAFL_P_LO_OPEN),
    OSAFL_CHOICE(struct config, norm, NORM_WHOLE, norm_choices,
                 "What shares one norm: the whole vector, as in the paper, or each tensor"),
};

static const char *const features[] = {"unbiased", NULL};

static const osafl_quantizer_vt vtable = {
    .life = {.struct_size = sizeof(osafl_quantizer_vt),
             .check = check,
             .create = create,
             .destroy = destroy},
    .describe = describe,
    .encode = encode,
    .verify = verify,
    .decode = decode,
    .axpy = axpy,
    .dot = dot,
    .packet_bits = packet_bits,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_QUANTIZER,
    .name = "adaptive_qsgd",
    .version = "1.0.0",
    .summary = "Unbiased stochastic quantization to as many levels as the client's link carries",
    .cite = "Amiri, Gunduz: Federated Learning over Wireless Fading Channels, IEEE Transactions on "
            "Wireless Communications 2020; Alistarh et al.: QSGD, NeurIPS 2017",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
