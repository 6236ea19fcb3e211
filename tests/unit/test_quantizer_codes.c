/* test_quantizer_codes.c - what every quantizer must keep, whatever its method: ranges agree with
 * the whole, sums and products agree with the decoded vector, no input gives a code that does not
 * verify, and no garbage is taken for a code. */
#include <float.h>

#include "quantizer_bench.h"

struct variant {
    const char *name;
    const char *settings[5];
};

static const struct variant variants[] = {
    {"none", {NULL}},
    {"qsgd", {"levels", "1"}},
    {"qsgd", {"levels", "2"}},
    {"qsgd", {"levels", "16", "norm", "tensor"}},
    {"qsgd", {"levels", "65535"}},
    {"adaptive_qsgd", {"least_levels", "1"}},
    {"adaptive_qsgd", {"most_levels", "32768", "norm", "tensor"}},
    {"signsgd", {NULL}},
    {"signsgd", {"error_feedback", "true"}},
    {"topk_sparse", {"fraction", "0.05"}},
    {"topk_sparse", {"fraction", "1", "error_feedback", "false"}},
};
#define N_VARIANTS (sizeof variants / sizeof variants[0])

static const uint64_t sizes[] = {1, 2, 3, 7, 64, 65, 1023, 1024, 1025, 5001};
#define N_SIZES (sizeof sizes / sizeof sizes[0])

static void check_ranges(struct quantizer_bench *b, const float *whole)
{
    const uint64_t cut[] = {0, 1, b->dim / 3, b->dim / 2, b->dim - 1, b->dim};
    const uint64_t n = sizeof cut / sizeof cut[0];
    float *part = calloc(b->dim, sizeof *part);
    double *acc = calloc(b->dim, sizeof *acc);
    double *want = calloc(b->dim, sizeof *want);
    for (uint64_t i = 0; i < n; i++) {
        for (uint64_t j = i; j < n; j++) {
            const uint64_t begin = cut[i];
            const uint64_t end = cut[j];
            if (begin > end)
                continue;
            const uint64_t length = end - begin;
            memset(part, 0xff, length * sizeof *part);
            bench_decode_range(b, b->code, b->bytes, begin, end, part);
            assert_memory_equal(part, whole + begin, length * sizeof *part);
            if (b->vt->axpy != NULL) {
                for (uint64_t k = 0; k < length; k++) {
                    acc[k] = 1.0 + (double)k;
                    want[k] = acc[k] + -0.7 * (double)whole[begin + k];
                }
                osafl_call *c = fixture_begin(b->fixture, OSAFL_NO_CLIENT, 0);
                assert_int_equal(fixture_end(b->fixture, b->vt->axpy(b->self, c, b->code, b->bytes,
                                                                     begin, end, -0.7, acc)),
                                 OSAFL_OK);
                assert_memory_equal(acc, want, length * sizeof *acc);
            }
            if (b->vt->dot != NULL) {
                double sum = 0.0;
                for (uint64_t k = 0; k < length; k++) {
                    part[k] = (float)(k % 13) - 5.5f;
                    sum += (double)whole[begin + k] * (double)part[k];
                }
                double got = 0.0;
                osafl_call *c = fixture_begin(b->fixture, OSAFL_NO_CLIENT, 0);
                assert_int_equal(fixture_end(b->fixture, b->vt->dot(b->self, c, b->code, b->bytes,
                                                                    begin, end, part, &got)),
                                 OSAFL_OK);
                assert_memory_equal(&got, &sum, sizeof sum);
            }
        }
    }
    free(part);
    free(acc);
    free(want);
}

/* A truncated code, a longer one, and codes with one bit flipped: refused, or safe to decode. */
static void check_damage(struct quantizer_bench *b)
{
    const uint64_t bytes = b->bytes;
    uint8_t *damaged = calloc(1, bytes + 8);
    float *out = calloc(b->dim, sizeof *out);
    memcpy(damaged, b->code, bytes);
    for (uint64_t shorter = 0; shorter < bytes; shorter += 1 + bytes / 37)
        assert_int_equal(bench_verify(b, damaged, shorter), OSAFL_E_DATA);
    assert_int_equal(bench_verify(b, damaged, bytes + 8), OSAFL_E_DATA);
    for (uint64_t bit = 0; bit < 8 * bytes; bit += 1 + bytes / 31) {
        damaged[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (bench_verify(b, damaged, bytes) == OSAFL_OK) {
            bench_decode_range(b, damaged, bytes, 0, b->dim, out);
            for (uint64_t i = 0; i < b->dim; i++)
                assert_true(isfinite(out[i]));
        }
        damaged[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(damaged);
    free(out);
}

static void check_vector(struct quantizer_bench *b, uint32_t round, const float *x)
{
    float *whole = calloc(b->dim, sizeof *whole);
    float *again = calloc(b->dim, sizeof *again);
    float *state = calloc(b->dim, sizeof *state);
    if (b->state != NULL)
        memcpy(state, b->state, b->dim * sizeof *state);
    bench_encode(b, 3, round, 0, x);
    if (bench_verify(b, b->code, b->bytes) != OSAFL_OK)
        fail_msg("%s refuses its own code: %s", b->fixture->plugin->name, b->fixture->error.text);
    bench_decode(b, whole);
    for (uint64_t i = 0; i < b->dim; i++)
        assert_true(isfinite(whole[i]));
    check_ranges(b, whole);
    check_damage(b);

    /* The same packet from the same state is the same code. */
    if (b->state != NULL)
        memcpy(b->state, state, b->dim * sizeof *state);
    bench_encode(b, 3, round, 0, x);
    bench_decode(b, again);
    assert_memory_equal(whole, again, b->dim * sizeof *whole);
    free(whole);
    free(again);
    free(state);
}

static void test_every_vector_has_a_code(void **unused)
{
    (void)unused;
    for (size_t v = 0; v < N_VARIANTS; v++) {
        for (size_t s = 0; s < N_SIZES; s++) {
            const uint64_t dim = sizes[s];
            struct quantizer_bench *b = bench_open(variants[v].name, dim, variants[v].settings);
            float *x = calloc(dim, sizeof *x);
            check_vector(b, 0, x); /* zero */
            x[dim / 2] = -3.25f;
            check_vector(b, 1, x); /* one entry */
            bench_normal((uint32_t)dim, dim, 1.0f, x);
            check_vector(b, 2, x);
            for (uint64_t i = 0; i < dim; i++)
                x[i] *= 1e-44f; /* denormal */
            check_vector(b, 3, x);
            for (uint64_t i = 0; i < dim; i++)
                x[i] = i % 3 == 0 ? -FLT_MAX : FLT_MAX; /* a norm beyond float32 */
            check_vector(b, 4, x);
            for (uint64_t i = 0; i < dim; i++)
                x[i] = i % 2 == 0 ? -0.0f : FLT_MIN;
            check_vector(b, 5, x);
            free(x);
            bench_close(b);
        }
    }
}

static void test_garbage_is_refused_or_safe(void **unused)
{
    (void)unused;
    const uint64_t dim = 300;
    for (size_t v = 0; v < N_VARIANTS; v++) {
        struct quantizer_bench *b = bench_open(variants[v].name, dim, variants[v].settings);
        const uint64_t most = b->info.max_bytes + 8;
        uint32_t *garbage = calloc(most / 4 + 1, sizeof *garbage);
        float *out = calloc(dim, sizeof *out);
        for (uint32_t trial = 0; trial < 2000; trial++) {
            streams_fill(5, 0, 78, trial, (uint32_t)v, 0, garbage, most / 4 + 1);
            uint64_t bytes = garbage[most / 4] % (most + 1);
            if (trial % 4 == 0)
                bytes = b->info.max_bytes;
            if (trial % 3 == 0) { /* a plausible header */
                garbage[0] %= 64;
                garbage[1] = 0;
            }
            if (bench_verify(b, (const uint8_t *)garbage, bytes) != OSAFL_OK) {
                assert_true(strlen(b->fixture->error.text) > 10);
                continue;
            }
            bench_decode_range(b, (const uint8_t *)garbage, bytes, 0, dim, out);
            for (uint64_t i = 0; i < dim; i++)
                assert_true(isfinite(out[i]));
        }
        free(garbage);
        free(out);
        bench_close(b);
    }
}

/* The declared laws. */
static void test_features(void **unused)
{
    (void)unused;
    const uint64_t dim = 500;
    float *x = calloc(dim, sizeof *x);
    float *got = calloc(dim, sizeof *got);
    bench_normal(1, dim, 0.3f, x);
    for (size_t v = 0; v < N_VARIANTS; v++) {
        struct quantizer_bench *b = bench_open(variants[v].name, dim, variants[v].settings);
        if (plugin_has_feature(b->fixture->plugin, "lossless")) {
            bench_encode(b, 0, 0, 0, x);
            bench_decode(b, got);
            assert_memory_equal(got, x, dim * sizeof *x);
        }
        if (plugin_has_feature(b->fixture->plugin, "unbiased")) {
            /* Projections of the mean error on a fixed vector, within 5 standard errors. */
            const unsigned trials = 400;
            double sum = 0.0;
            double squares = 0.0;
            for (uint32_t t = 0; t < trials; t++) {
                double projection = 0.0;
                bench_encode(b, t % 9, t / 9, 0, x);
                bench_decode(b, got);
                for (uint64_t i = 0; i < dim; i++)
                    projection += ((double)got[i] - (double)x[i]) * ((double)(i % 7) - 2.5);
                sum += projection;
                squares += projection * projection;
            }
            const double mean = sum / trials;
            const double error = sqrt(squares / trials / trials);
            if (!(fabs(mean) <= 5.0 * error + 1e-5))
                fail_msg("%s: mean error %g, standard error %g", variants[v].name, mean, error);
        }
        bench_close(b);
    }
    free(x);
    free(got);
}

static void test_topk_sends_the_greatest(void **unused)
{
    (void)unused;
    const uint64_t dim = 1000;
    struct quantizer_bench *b = bench_open(
        "topk_sparse", dim, (const char *[]){"fraction", "0.02", "error_feedback", "false", NULL});
    float *x = calloc(dim, sizeof *x);
    float *got = calloc(dim, sizeof *got);
    bench_normal(4, dim, 1.0f, x);
    for (uint64_t i = 100; i < 200; i++)
        x[i] = i % 2 == 0 ? 7.0f : -7.0f; /* ties: the lower index first */
    x[900] = 9.0f;
    bench_encode(b, 0, 0, 0, x);
    bench_decode(b, got);
    for (uint64_t i = 0; i < dim; i++) {
        const bool sent = i == 900 || (i >= 100 && i < 119);
        assert_true(got[i] == (sent ? x[i] : 0.0f));
    }
    /* index of 10 bits and 32 bits of value */
    assert_true(b->air_bits == 20.0 * 42.0 + 64.0);
    assert_true(b->info.payload_bits == b->air_bits);
    free(x);
    free(got);
    bench_close(b);
}

/* What is sent and what is left for later add up to everything that was given. */
static void test_error_feedback_loses_nothing(void **unused)
{
    (void)unused;
    static const struct variant feedback[] = {
        {"topk_sparse", {"fraction", "0.1"}},
        {"signsgd", {"error_feedback", "true"}},
    };
    const uint64_t dim = 200;
    float *x = calloc(dim, sizeof *x);
    float *got = calloc(dim, sizeof *got);
    double *given = calloc(dim, sizeof *given);
    double *sent = calloc(dim, sizeof *sent);
    for (size_t v = 0; v < 2; v++) {
        struct quantizer_bench *b = bench_open(feedback[v].name, dim, feedback[v].settings);
        assert_int_equal(b->info.client_floats, dim);
        memset(given, 0, dim * sizeof *given);
        memset(sent, 0, dim * sizeof *sent);
        for (uint32_t round = 0; round < 30; round++) {
            bench_normal(round, dim, 1.0f, x);
            bench_encode(b, 1, round, 0, x);
            bench_decode(b, got);
            for (uint64_t i = 0; i < dim; i++) {
                given[i] += (double)x[i];
                sent[i] += (double)got[i];
                assert_true(fabs(given[i] - sent[i] - (double)b->state[i]) < 1e-4);
            }
        }
        bench_close(b);
    }
    free(x);
    free(got);
    free(given);
    free(sent);
}

static void test_signs_and_their_scale(void **unused)
{
    (void)unused;
    const float x[5] = {1.0f, -2.0f, 0.0f, 3.0f, -4.0f};
    const float want[5] = {2.0f, -2.0f, 2.0f, 2.0f, -2.0f};
    float got[5];
    struct quantizer_bench *b = bench_open("signsgd", 5, NULL);
    assert_int_equal(b->info.client_floats, 0);
    bench_encode(b, 0, 0, 0, x);
    bench_decode(b, got);
    assert_memory_equal(got, want, sizeof want);
    assert_true(b->air_bits == 5.0 + 32.0);
    bench_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_vector_has_a_code),
        cmocka_unit_test(test_garbage_is_refused_or_safe),
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_topk_sends_the_greatest),
        cmocka_unit_test(test_error_feedback_loses_nothing),
        cmocka_unit_test(test_signs_and_their_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
