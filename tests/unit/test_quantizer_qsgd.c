/* test_quantizer_qsgd.c - levels, expectation, variance and sizes of stochastic quantization. */
#include <float.h>

#include "quantizer_bench.h"

static struct quantizer_bench *qsgd(uint64_t dim, const char *levels, const char *norm)
{
    return bench_open("qsgd", dim, (const char *[]){"levels", levels, "norm", norm, NULL});
}

/* Every decoded entry is one of the two levels around the entry, with its sign. */
static void test_decodes_to_neighbouring_levels(void **unused)
{
    (void)unused;
    const uint64_t dim = 2000;
    float *x = calloc(dim, sizeof *x);
    float *got = calloc(dim, sizeof *got);
    bench_normal(2, dim, 1.0f, x);
    static const char *const levels[] = {"1", "2", "3", "16", "1000"};
    for (size_t s = 0; s < sizeof levels / sizeof levels[0]; s++) {
        struct quantizer_bench *b = qsgd(dim, levels[s], "whole");
        const double count = strtod(levels[s], NULL);
        const double norm = (double)(float)sqrt(norm2(x, dim));
        bench_encode(b, 0, 0, 0, x);
        bench_decode(b, got);
        for (uint64_t i = 0; i < dim; i++) {
            const double scaled = fabs((double)x[i]) * count / norm;
            const double level = fabs((double)got[i]) * count / norm;
            assert_true(fabs(level - round(level)) < 1e-4);
            assert_true(round(level) == floor(scaled) || round(level) == floor(scaled) + 1.0);
            assert_true(got[i] == 0.0f || (got[i] < 0.0f) == (x[i] < 0.0f));
        }
        bench_close(b);
    }
    free(x);
    free(got);
}

/* Entries on a level keep it, whatever the random words: (3, -4, 0) has norm 5. */
static void test_exact_levels(void **unused)
{
    (void)unused;
    const float x[3] = {3.0f, -4.0f, 0.0f};
    float got[3];
    struct quantizer_bench *b = qsgd(3, "5", "whole");
    for (uint32_t round = 0; round < 50; round++) {
        bench_encode(b, 0, round, 0, x);
        bench_decode(b, got);
        assert_memory_equal(got, x, sizeof x);
    }
    bench_close(b);
}

/* Mean of each entry within 5 standard errors of a Bernoulli variable, and the variance of the
 * whole within the bound of Alistarh et al., Lemma 3.1: min(N / s^2, sqrt(N) / s) ||d||^2. */
static void check_moments(const char *levels, const char *norm_choice)
{
    enum { DIM = 60, TRIALS = 4000 };
    float x[DIM];
    float got[DIM];
    double mean[DIM] = {0};
    double error2 = 0.0;
    bench_normal(3, DIM, 0.1f, x);
    const double s = strtod(levels, NULL);
    const bool per_tensor = strcmp(norm_choice, "tensor") == 0;
    struct quantizer_bench *b = qsgd(DIM, levels, norm_choice);
    for (uint32_t t = 0; t < TRIALS; t++) {
        bench_encode(b, t % 9, t / 9, 2, x);
        bench_decode(b, got);
        for (unsigned i = 0; i < DIM; i++) {
            mean[i] += (double)got[i] / TRIALS;
            error2 += ((double)got[i] - (double)x[i]) * ((double)got[i] - (double)x[i]) / TRIALS;
        }
    }
    double expected2 = 0.0;
    for (unsigned i = 0; i < DIM; i++) {
        const unsigned begin = per_tensor && i >= DIM / 5 ? DIM / 5 : 0;
        const unsigned end = per_tensor && i < DIM / 5 ? DIM / 5 : DIM;
        const double unit = sqrt(norm2(x + begin, end - begin)) / s;
        const double scaled = fabs((double)x[i]) / unit;
        const double up = scaled - floor(scaled);
        const double variance = unit * unit * up * (1.0 - up);
        expected2 += variance;
        assert_true(fabs(mean[i] - (double)x[i]) <= 5.0 * sqrt(variance / TRIALS) + 1e-7);
    }
    assert_true(fabs(error2 - expected2) < 0.1 * expected2);
    assert_true(error2 <= fmin(DIM / (s * s), sqrt(DIM) / s) * norm2(x, DIM));
    bench_close(b);
}

static void test_unbiased_with_bounded_variance(void **unused)
{
    (void)unused;
    check_moments("1", "whole");
    check_moments("2", "whole");
    check_moments("4", "whole");
    check_moments("16", "whole");
    check_moments("2", "tensor");
    check_moments("7", "tensor");
}

/* Where the first 32 random bits equal those of the fraction, further bits decide: a comparison
 * with 24 or 32 bits alone would round all of these entries to the same side.  Rounds are chosen in
 * which the packet's first word is small enough for a float32 to hit it with bits to spare. */
static void test_ties_of_the_first_word(void **unused)
{
    (void)unused;
    unsigned ups = 0;
    unsigned downs = 0;
    struct quantizer_bench *b = qsgd(2, "1", "whole");
    for (uint32_t round = 0; round < 40000; round++) {
        uint32_t word[2];
        uint32_t further;
        streams_fill(1, OSAFL_KIND_QUANTIZER, 1, 4, round, 0, word, 2);
        streams_fill(1, OSAFL_KIND_QUANTIZER, 2, 4, round, 0, &further, 1);
        if (word[0] >= 1u << 22)
            continue;
        const float x[2] = {(float)(((double)word[0] + 0.5) * 0x1p-32), 1.0f};
        const double norm = (double)(float)sqrt(norm2(x, 2));
        const double rest = (double)x[0] * (1.0 / norm) * 0x1p32 - (double)word[0];
        if (rest <= 0.0 || rest >= 1.0)
            continue; /* the float32 missed the word */
        float got[2];
        bench_encode(b, 4, round, 0, x);
        bench_decode(b, got);
        const bool up = (double)further < rest * 0x1p32;
        assert_true((got[0] != 0.0f) == up);
        ups += up;
        downs += !up;
    }
    assert_true(ups >= 5 && downs >= 5);
    bench_close(b);
}

/* Entries within a few roundings of the random word that decides about them get the level of the
 * definition, however the encoder finds those that become 0: one in 64 is such an entry, the others
 * are 0, and the last one makes the norm s. */
static void test_entries_beside_their_words(void **unused)
{
    (void)unused;
    enum { DIM = 2001, LEVELS = 64, CHUNK = 1024, APART = 64 };
    float x[DIM];
    float got[DIM];
    uint32_t word[DIM];
    struct quantizer_bench *b = qsgd(DIM, "64", "whole");
    unsigned seen[2] = {0, 0};
    for (uint32_t round = 0; round < 300; round++) {
        for (uint64_t i = 0; i < DIM; i += CHUNK)
            streams_fill(1, OSAFL_KIND_QUANTIZER, 1, 3, round, i, word + i,
                         DIM - i < CHUNK ? DIM - i : CHUNK);
        memset(x, 0, sizeof x);
        for (uint32_t i = round % APART; i < DIM - 1; i += APART) {
            const double roundings = (double)(i / APART % 9) - 4.0;
            const double beside = ((double)word[i] + 0.5) * 0x1p-32 * (1.0 + roundings * 0x1p-24);
            x[i] = (float)(i % 2 == 0 ? beside : -beside);
        }
        x[DIM - 1] = (float)sqrt((double)LEVELS * LEVELS - norm2(x, DIM - 1));
        const double scale = (double)LEVELS / (double)(float)sqrt(norm2(x, DIM));
        bench_encode(b, 3, round, 0, x);
        bench_decode(b, got);
        for (uint32_t i = round % APART; i < DIM - 1; i += APART) {
            const double fraction = fabs((double)x[i]) * scale * 0x1p32;
            const double uniform = (double)word[i];
            if (fraction > uniform && fraction < uniform + 1.0)
                continue; /* further words decide */
            assert_int_equal(got[i] != 0.0f, fraction > uniform);
            seen[fraction > uniform]++;
        }
    }
    assert_true(seen[0] > 3000 && seen[1] > 3000);
    bench_close(b);
}

/* At 2^-12 of the norm about 256 of 2^20 entries round up; 5 standard deviations are 80. */
static void test_small_probabilities(void **unused)
{
    (void)unused;
    const uint64_t dim = (1u << 20) + 1;
    float *x = calloc(dim, sizeof *x);
    float *got = calloc(dim, sizeof *got);
    struct quantizer_bench *b = qsgd(dim, "1", "whole");
    for (uint64_t i = 0; i < dim - 1; i++)
        x[i] = 0x1p-12f;
    x[dim - 1] = 1.0f;
    bench_encode(b, 0, 9, 0, x);
    bench_decode(b, got);
    const double norm = sqrt(norm2(x, dim));
    double expected = 0.0;
    double rounded_up = 0.0;
    for (uint64_t i = 0; i < dim - 1; i++) {
        expected += (double)x[i] / norm;
        rounded_up += got[i] != 0.0f;
    }
    assert_true(fabs(rounded_up - expected) < 5.0 * sqrt(expected));
    free(x);
    free(got);
    bench_close(b);
}

static void test_packets_draw_their_own_randomness(void **unused)
{
    (void)unused;
    enum { DIM = 400 };
    float x[DIM];
    float first[DIM];
    float other[DIM];
    bench_normal(5, DIM, 1.0f, x);
    struct quantizer_bench *b = qsgd(DIM, "16", "whole");
    bench_encode(b, 1, 2, 0, x);
    bench_decode(b, first);
    static const uint32_t packets[][3] = {{2, 2, 0}, {1, 3, 0}, {1, 2, 1}, {1, 2, 2}};
    for (size_t p = 0; p < sizeof packets / sizeof packets[0]; p++) {
        bench_encode(b, packets[p][0], packets[p][1], packets[p][2], x);
        bench_decode(b, other);
        unsigned equal = 0;
        for (unsigned i = 0; i < DIM; i++)
            equal += first[i] == other[i];
        assert_true(equal < DIM - 20);
    }
    b->fixture->context.seed = 2;
    bench_encode(b, 1, 2, 0, x);
    bench_decode(b, other);
    assert_memory_not_equal(first, other, sizeof first);
    bench_close(b);
}

/* N (1 + ceil(log2 s)) + 32, against the figures in the paper. */
static void test_payload(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t dim;
        const char *levels;
        double bits;
    } cases[] = {
        {727626, "2", 727626 * 2.0 + 32},   {727626, "4", 727626 * 3.0 + 32},
        {727626, "16", 727626 * 5.0 + 32},  {1206090, "8", 1206090 * 4.0 + 32},
        {1206090, "3", 1206090 * 3.0 + 32}, {11181642, "2", 11181642 * 2.0 + 32},
        {10, "1", 10 * 1.0 + 32},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct quantizer_bench *b = qsgd(cases[i].dim, cases[i].levels, "whole");
        assert_true(b->info.payload_bits == cases[i].bits);
        bench_close(b);
    }
    struct quantizer_bench *b = qsgd(1000, "2", "tensor");
    assert_true(b->info.payload_bits == 1000 * 2.0 + 32 * BENCH_TENSORS);
    bench_close(b);
}

/* Both forms report the bits that they fill; the shorter one is sent. */
static void test_air_bits(void **unused)
{
    (void)unused;
    const uint64_t dim = 100000;
    float *x = calloc(dim, sizeof *x);
    float *got = calloc(dim, sizeof *got);
    bench_normal(6, dim, 1.0f, x);

    struct quantizer_bench *b = qsgd(dim, "2", "whole");
    bench_encode(b, 0, 0, 0, x);
    bench_decode(b, got);
    double entries = 0.0;
    for (uint64_t i = 0; i < dim; i++)
        entries += got[i] != 0.0f;
    /* index of 17 bits, sign, one bit of level */
    assert_true(b->air_bits == 64.0 + 32.0 + entries * 19.0);
    /* about s sqrt(2 N / pi) entries */
    assert_true(fabs(entries - 2.0 * sqrt(2.0 * (double)dim / 3.14159265)) < 5.0 * sqrt(entries));
    bench_close(b);

    b = qsgd(dim, "1000", "whole");
    bench_encode(b, 0, 0, 0, x);
    assert_true(b->air_bits == 64.0 + 32.0 + (double)dim * 11.0);
    bench_close(b);
    free(x);
    free(got);
}

static void set_header(uint8_t *code, uint64_t entries, float norm)
{
    memset(code, 0, 16);
    memcpy(code, &entries, sizeof entries);
    memcpy(code + 8, &norm, sizeof norm);
}

static void expect_refusal(struct quantizer_bench *b, const uint8_t *code, uint64_t bytes,
                           const char *why)
{
    assert_int_equal(bench_verify(b, code, bytes), OSAFL_E_DATA);
    if (strstr(b->fixture->error.text, why) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", b->fixture->error.text, why);
}

/* dim 100, s = 2: a sparse entry is 7 bits of index, a sign, one bit of level - 1. */
static void test_verify_says_what_is_wrong(void **unused)
{
    (void)unused;
    struct quantizer_bench *b = qsgd(100, "2", "whole");
    uint64_t words[8] = {0};
    uint8_t *code = (uint8_t *)words;
    const uint64_t entry = 5 << 2;

    set_header(code, 1, 1.0f);
    words[2] = entry;
    assert_int_equal(bench_verify(b, code, 24), OSAFL_OK);
    expect_refusal(b, code, 8, "too short");
    expect_refusal(b, code, 16, "length");
    expect_refusal(b, code, 32, "length");
    words[2] = entry | 1u << 9;
    expect_refusal(b, code, 24, "padding");
    words[2] = 100 << 2;
    expect_refusal(b, code, 24, "ascend");
    words[2] = entry;
    words[1] |= UINT64_C(1) << 40;
    expect_refusal(b, code, 24, "padding");

    set_header(code, 2, 1.0f);
    words[2] = entry | entry << 9;
    expect_refusal(b, code, 24, "ascend");
    words[2] = entry | (entry + 4) << 9;
    assert_int_equal(bench_verify(b, code, 24), OSAFL_OK);

    static const float norms[] = {-1.0f, -0.0f, INFINITY, NAN};
    for (size_t i = 0; i < 4; i++) {
        set_header(code, 1, norms[i]);
        words[2] = entry;
        expect_refusal(b, code, 24, "norm");
    }
    set_header(code, 1, 0.0f);
    expect_refusal(b, code, 24, "norm 0");
    set_header(code, 34, 1.0f); /* 34 entries of 9 bits are longer than 100 of 3 */
    expect_refusal(b, code, 24, "more entries");

    /* Dense, all levels 0: symbol 2 in three bits, which the sparse form would say in no bit. */
    memset(words, 0, sizeof words);
    set_header(code, UINT64_MAX, 1.0f);
    for (unsigned i = 0; i < 100; i++) {
        const unsigned at = 3 * i;
        words[2 + at / 64] |= UINT64_C(2) << at % 64;
        if (at % 64 > 61)
            words[3 + at / 64] |= UINT64_C(2) >> (64 - at % 64);
    }
    expect_refusal(b, code, 16 + 40, "shorter");
    words[2] |= 7;
    expect_refusal(b, code, 16 + 40, "level");
    bench_close(b);

    /* s = 3: level - 1 has two bits, of which 3 would be level 4. */
    b = qsgd(100, "3", "whole");
    memset(words, 0, sizeof words);
    set_header(code, 1, 1.0f);
    words[2] = 5 << 3 | 3;
    expect_refusal(b, code, 24, "level");
    bench_close(b);
}

static void test_per_tensor_norms(void **unused)
{
    (void)unused;
    const uint64_t dim = 1000; /* tensors of 200, 0 and 800 */
    float *x = calloc(dim, sizeof *x);
    float *got = calloc(dim, sizeof *got);
    struct quantizer_bench *b = qsgd(dim, "1", "tensor");
    x[7] = 1e-3f;
    x[500] = -1e3f;
    bench_encode(b, 0, 0, 0, x);
    bench_decode(b, got);
    assert_memory_equal(got, x, dim * sizeof *x); /* each is its tensor's norm */
    x[7] = 0.0f;
    bench_encode(b, 0, 0, 0, x);
    bench_decode(b, got);
    assert_memory_equal(got, x, dim * sizeof *x); /* a tensor that is zero */
    free(x);
    free(got);
    bench_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decodes_to_neighbouring_levels),
        cmocka_unit_test(test_exact_levels),
        cmocka_unit_test(test_unbiased_with_bounded_variance),
        cmocka_unit_test(test_ties_of_the_first_word),
        cmocka_unit_test(test_entries_beside_their_words),
        cmocka_unit_test(test_small_probabilities),
        cmocka_unit_test(test_packets_draw_their_own_randomness),
        cmocka_unit_test(test_payload),
        cmocka_unit_test(test_air_bits),
        cmocka_unit_test(test_verify_says_what_is_wrong),
        cmocka_unit_test(test_per_tensor_norms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
