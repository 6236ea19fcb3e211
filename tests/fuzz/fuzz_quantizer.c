/* fuzz_quantizer.c - codes of all built-in quantizers: a code is refused, or decoding, accumulating
 * and multiplying stay within it and agree, whole and in parts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define MOST_DIM 1500 /* several chunks of every quantizer */

struct instance_under_test {
    const char *name;
    const char *setting; /* NULL: defaults */
    double value;
    uint64_t dim;
    struct instance *instance;
    osafl_tensor tensor[3];
    osafl_model_info model;
    osafl_facts facts;
};

static struct instance_under_test instances[] = {
    {.name = "qsgd", .setting = "levels", .value = 1, .dim = 1},
    {.name = "qsgd", .setting = "levels", .value = 2, .dim = 37},
    {.name = "qsgd", .setting = "levels", .value = 65535, .dim = 20},
    {.name = "qsgd", .setting = "norm", .value = 1, .dim = 64},
    {.name = "qsgd", .dim = MOST_DIM},
    {.name = "topk_sparse", .setting = "fraction", .value = 0.3, .dim = 20},
    {.name = "topk_sparse", .setting = "fraction", .value = 1.0, .dim = 1},
    {.name = "topk_sparse", .dim = MOST_DIM},
    {.name = "signsgd", .dim = 9},
    {.name = "signsgd", .dim = 128},
    {.name = "none", .dim = 5},
    {.name = "adaptive_qsgd", .setting = "most_levels", .value = 32768, .dim = 37},
};
#define SUBJECTS (sizeof instances / sizeof instances[0])

static void set_value(const osafl_plugin *p, void *config, const char *name, double value)
{
    void *at = fuzz_setting(p, config, name);
    if (strstr(name, "levels") != NULL)
        *(int64_t *)at = (int64_t)value;
    else if (strcmp(name, "norm") == 0)
        *(osafl_choice *)at = (osafl_choice){(int32_t)value};
    else
        *(double *)at = value;
}

static void prepare(struct instance_under_test *s)
{
    const osafl_plugin *p = fuzz_plugin(OSAFL_KIND_QUANTIZER, s->name);
    void *config = fuzz_defaults(p);
    if (s->setting != NULL)
        set_value(p, config, s->setting, s->value);
    /* Tensors of a fifth, no element, and the rest. */
    const uint64_t bound[] = {0, s->dim / 5, s->dim / 5, s->dim};
    for (unsigned t = 0; t < 3; t++)
        s->tensor[t] = (osafl_tensor){
            .name = "t", .offset = bound[t], .size = bound[t + 1] - bound[t], .rank = 1};
    s->model = (osafl_model_info){.struct_size = sizeof s->model,
                                  .n_tensors = 3,
                                  .n_parameters = s->dim,
                                  .tensors = s->tensor,
                                  .tensor_size = sizeof(osafl_tensor)};
    s->facts = (osafl_facts){.struct_size = sizeof s->facts,
                             .clients = 2,
                             .rounds = 2,
                             .model = &s->model,
                             .dim = s->dim};
    s->instance = fuzz_instance(p, &s->facts, config);
}

static const osafl_quantizer_vt *vtable(const struct instance_under_test *s)
{
    return (const osafl_quantizer_vt *)(const void *)s->instance->plugin->vtable;
}

static osafl_status verify(const struct instance_under_test *s, const uint8_t *code, uint64_t bytes)
{
    osafl_call c;
    call_begin(&c, s->instance, OSAFL_NO_CLIENT, 0);
    const osafl_status status = call_end(&c, vtable(s)->verify(s->instance->self, &c, code, bytes));
    FUZZ_REQUIRE(status == OSAFL_OK || status == OSAFL_E_DATA);
    return status;
}

/* Decodes [begin, end), which must agree with the whole, and with axpy() and dot(). */
static void check_range(const struct instance_under_test *s, const uint8_t *code, uint64_t bytes,
                        const float *whole, uint64_t begin, uint64_t end)
{
    const osafl_quantizer_vt *vt = vtable(s);
    void *self = s->instance->self;
    const uint64_t n = end - begin;
    float *part = malloc(n * sizeof *part + 1); /* a write beyond it is seen */
    double *acc = malloc(n * sizeof *acc + 1);
    FUZZ_REQUIRE(part != NULL && acc != NULL);
    osafl_call c;
    call_begin(&c, s->instance, OSAFL_NO_CLIENT, 0);
    FUZZ_REQUIRE(vt->decode(self, &c, code, bytes, begin, end, part) == OSAFL_OK);
    FUZZ_REQUIRE(n == 0 || memcmp(part, whole + begin, n * sizeof *part) == 0);
    if (vt->axpy != NULL) {
        for (uint64_t i = 0; i < n; i++)
            acc[i] = 0.25 * (double)i;
        FUZZ_REQUIRE(vt->axpy(self, &c, code, bytes, begin, end, -1.5, acc) == OSAFL_OK);
        for (uint64_t i = 0; i < n; i++)
            FUZZ_REQUIRE(acc[i] == 0.25 * (double)i + -1.5 * (double)part[i]);
    }
    if (vt->dot != NULL) {
        double sum = 0.0;
        double got = 0.0;
        for (uint64_t i = 0; i < n; i++)
            sum += (double)part[i] * (double)part[i];
        FUZZ_REQUIRE(vt->dot(self, &c, code, bytes, begin, end, part, &got) == OSAFL_OK);
        FUZZ_REQUIRE(got == sum);
    }
    FUZZ_REQUIRE(call_end(&c, OSAFL_OK) == OSAFL_OK);
    free(part);
    free(acc);
}

static void use_code(const struct instance_under_test *s, const uint8_t *code, uint64_t bytes,
                     struct fuzz_input *in)
{
    static float whole[MOST_DIM];
    osafl_quantizer_info info = {.struct_size = sizeof info};
    osafl_call c;
    call_begin(&c, s->instance, OSAFL_NO_CLIENT, 0);
    FUZZ_REQUIRE(vtable(s)->describe(s->instance->self, &c, &info) == OSAFL_OK);
    FUZZ_REQUIRE(bytes <= info.max_bytes);
    FUZZ_REQUIRE(vtable(s)->decode(s->instance->self, &c, code, bytes, 0, s->dim, whole) ==
                 OSAFL_OK);
    FUZZ_REQUIRE(call_end(&c, OSAFL_OK) == OSAFL_OK);
    for (uint64_t i = 0; i < s->dim; i++)
        FUZZ_REQUIRE(isfinite(whole[i]));
    const uint64_t a = fuzz_byte(in) * s->dim / 255;
    const uint64_t b = fuzz_byte(in) * s->dim / 255;
    check_range(s, code, bytes, whole, 0, s->dim);
    check_range(s, code, bytes, whole, a < b ? a : b, a < b ? b : a);
}

/* First byte: which quantizer; next two: which range; the rest: the code. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    struct instance_under_test *s = &instances[fuzz_below(&in, SUBJECTS)];
    if (s->instance == NULL)
        prepare(s);
    struct fuzz_input range = in;
    range.left = range.left > 2 ? 2 : range.left;
    (void)fuzz_byte(&in);
    (void)fuzz_byte(&in);
    uint8_t *code = malloc(in.left > 0 ? in.left : 1); /* 8-byte aligned, and no byte longer */
    FUZZ_REQUIRE(code != NULL);
    if (in.left > 0)
        memcpy(code, in.next, in.left);
    if (verify(s, code, in.left) == OSAFL_OK)
        use_code(s, code, in.left, &range);
    free(code);
    return 0;
}
