/* qsgd.c - stochastic quantization to s levels of the norm (ALGORITHMS.md 5; Alistarh et al. 2017);
 * level_code.h tells how. */
#include <stdlib.h>

#include "level_code.h"
#include "osafl/quantizer.h"

enum { NORM_WHOLE, NORM_TENSOR };
static const char *const norm_choices[] = {"whole", "tensor", NULL};

struct config {
    int64_t levels;
    osafl_choice norm;
};

static void destroy(void *self)
{
    level_code_destroy(self);
    free(self);
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const struct config *settings = config;
    struct level_code *q = calloc(1, sizeof *q);
    if (q == NULL || !level_code_create(q, h, facts->model, settings->norm.index == NORM_TENSOR)) {
        free(q);
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    }
    level_code_set(q, (uint32_t)settings->levels);
    *self = q;
    return OSAFL_OK;
}

static double payload_bits(void *self)
{
    return level_code_payload_bits(self);
}

static uint64_t max_bytes(void *self)
{
    return level_code_max_bytes(self);
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
    return level_code_encode(self, c, p, x, code, bytes, air_bits);
}

static osafl_status decode(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes,
                           uint64_t begin, uint64_t end, float *out)
{
    (void)c;
    (void)bytes;
    level_code_decode(self, code, begin, end, out);
    return OSAFL_OK;
}

static osafl_status axpy(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes,
                         uint64_t begin, uint64_t end, double a, double *acc)
{
    (void)c;
    (void)bytes;
    level_code_axpy(self, code, begin, end, a, acc);
    return OSAFL_OK;
}

static osafl_status dot(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes,
                        uint64_t begin, uint64_t end, const float *v, double *out)
{
    (void)c;
    (void)bytes;
    *out = level_code_dot(self, code, begin, end, v);
    return OSAFL_OK;
}

static osafl_status verify(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes)
{
    const struct level_code *q = self;
    const char *wrong = level_code_wrong(q, code, bytes);
    if (wrong == NULL)
        return OSAFL_OK;
    return q->host->fail(c, OSAFL_E_DATA, "this is no qsgd code of %u levels: %s", q->levels,
                         wrong);
}

static const osafl_param params[] = {
    OSAFL_INT(struct config, levels, 2, 1, MAX_LEVELS,
              "s, the number of levels of an entry's magnitude above 0", .unit = "levels"),
    OSAFL_CHOICE(struct config, norm, NORM_WHOLE, norm_choices,
                 "What shares one norm: the whole vector, as in the paper, or each tensor"),
};

static const char *const features[] = {"unbiased", NULL};

static const osafl_quantizer_vt vtable = {
    .life = {.struct_size = sizeof(osafl_quantizer_vt), .create = create, .destroy = destroy},
    .describe = describe,
    .encode = encode,
    .verify = verify,
    .decode = decode,
    .axpy = axpy,
    .dot = dot,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_QUANTIZER,
    .name = "qsgd",
    .version = "1.0.0",
    .summary = "Unbiased stochastic quantization to s levels of the norm",
    .cite = "Alistarh, Grubic, Li, Tomioka, Vojnovic: QSGD: Communication-Efficient SGD via "
            "Gradient Quantization and Encoding, NeurIPS 2017",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
