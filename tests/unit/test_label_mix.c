/* Label distributions: laws of the Dirichlet draw, bounds, and never a label without samples. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/streams.h"
#include "osafl/random.h"
#include "world/label_mix.h"

#define LABELS 10

static const double flat[LABELS] = {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1};

static void check_mix(const double *mix, const double *share, uint32_t labels)
{
    double sum = 0.0;
    for (uint32_t l = 0; l < labels; ++l) {
        assert_true(mix[l] >= 0.0 && mix[l] <= 1.0);
        if (share[l] == 0.0)
            assert_true(mix[l] == 0.0);
        sum += mix[l];
    }
    assert_true(fabs(sum - 1.0) < 1e-12);
}

/* Mean 1/C and variance (1/C)(1 - 1/C)/(C a + 1) of every component of Dirichlet(a). */
static void test_dirichlet_moments(void **state)
{
    (void)state;
    const double concentrations[] = {0.1, 0.3, 0.9, 1.0, 5.0, 100.0};
    enum { DRAWS = 20000 };
    for (size_t i = 0; i < sizeof concentrations / sizeof *concentrations; ++i) {
        const double a = concentrations[i];
        double sum[LABELS] = {0.0};
        double squares[LABELS] = {0.0};
        for (uint32_t u = 0; u < DRAWS; ++u) {
            const struct mix_stream stream = {42, STREAM_LABELS, u, 0};
            double mix[LABELS];
            label_mix_dirichlet(&stream, a, flat, LABELS, mix);
            check_mix(mix, flat, LABELS);
            for (uint32_t l = 0; l < LABELS; ++l) {
                sum[l] += mix[l];
                squares[l] += mix[l] * mix[l];
            }
        }
        const double mean = 1.0 / LABELS;
        const double variance = mean * (1.0 - mean) / (LABELS * a + 1.0);
        for (uint32_t l = 0; l < LABELS; ++l) {
            const double m = sum[l] / DRAWS;
            assert_true(fabs(m - mean) < 5.0 * sqrt(variance / DRAWS));
            assert_true(fabs(squares[l] / DRAWS - m * m - variance) < 0.06 * variance);
        }
    }
}

/* P(x < 1/10) of a component of Dirichlet(1) over 10 labels, Beta(1, 9): 1 - 0.9^9. */
static void test_dirichlet_distribution(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    uint32_t below = 0;
    for (uint32_t u = 0; u < DRAWS; ++u) {
        const struct mix_stream stream = {7, STREAM_LABELS, u, 0};
        double mix[LABELS];
        label_mix_dirichlet(&stream, 1.0, flat, LABELS, mix);
        below += mix[3] < 0.1;
    }
    const double p = 1.0 - pow(0.9, 9);
    assert_true(fabs((double)below / DRAWS - p) < 5.0 * sqrt(p * (1 - p) / DRAWS));
}

static void test_dirichlet_extremes(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    static double share[MANY];
    static double mix[MANY];
    for (uint32_t l = 0; l < MANY; ++l)
        share[l] = l % 3 == 0 ? 0.0 : 1.5 / MANY;
    const double concentrations[] = {5e-324, 1e-300, 1e-8, 1e-3, 1e6, 1e15, 1e300};
    const uint32_t sizes[] = {2, 3, 11, MANY};
    for (size_t i = 0; i < sizeof concentrations / sizeof *concentrations; ++i) {
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
            for (uint32_t u = 0; u < 20; ++u) {
                const struct mix_stream stream = {1, STREAM_DRIFT, u, 5};
                label_mix_dirichlet(&stream, concentrations[i], share, sizes[k], mix);
                check_mix(mix, share, sizes[k]);
            }
        }
    }
    /* At 1e-8 one label has everything, and clients differ in which; at 1e6 all are alike. */
    uint32_t first[LABELS] = {0};
    for (uint32_t u = 0; u < 200; ++u) {
        const struct mix_stream stream = {1, STREAM_LABELS, u, 0};
        double one[LABELS];
        label_mix_dirichlet(&stream, 1e-8, flat, LABELS, one);
        for (uint32_t l = 0; l < LABELS; ++l)
            first[l] += one[l] > 0.999;
        label_mix_dirichlet(&stream, 1e6, flat, LABELS, one);
        for (uint32_t l = 0; l < LABELS; ++l)
            assert_true(fabs(one[l] - 0.1) < 0.002);
    }
    uint32_t total = 0;
    for (uint32_t l = 0; l < LABELS; ++l) {
        assert_in_range(first[l], 5, 40);
        total += first[l];
    }
    assert_int_equal(total, 200);
}

static void test_shards(void **state)
{
    (void)state;
    double share[LABELS] = {.2, .2, 0, .2, 0, .1, .1, .1, .05, .05};
    uint32_t clients_with[LABELS] = {0};
    for (uint32_t u = 0; u < 100; ++u) {
        const struct mix_stream stream = {3, STREAM_LABELS, u, 0};
        for (uint32_t n = 1; n <= 8; ++n) {
            double mix[LABELS];
            label_mix_shards(&stream, n, share, LABELS, mix);
            check_mix(mix, share, LABELS);
            uint32_t chosen = 0;
            for (uint32_t l = 0; l < LABELS; ++l) {
                assert_true(mix[l] == 0.0 || mix[l] == 1.0 / n);
                chosen += mix[l] > 0.0;
                clients_with[l] += n == 2 && mix[l] > 0.0;
            }
            assert_int_equal(chosen, n);
        }
    }
    /* Every client has labels of its own: 2 of 8, each with 25 of 100 clients, give or take five
     * standard deviations. */
    for (uint32_t l = 0; l < LABELS; ++l)
        assert_in_range(clients_with[l], share[l] > 0.0 ? 4 : 0, share[l] > 0.0 ? 46 : 0);
}

static void test_pick(void **state)
{
    (void)state;
    const double mix[5] = {0.0, 0.25, 0.0, 0.75, 0.0};
    double cumulative[5];
    label_mix_accumulate(mix, 5, cumulative);
    const uint32_t zero[2] = {0, 0};
    const uint32_t top[2] = {UINT32_MAX, UINT32_MAX};
    const uint32_t quarter[2] = {UINT32_C(0x40000000), 0};
    const uint32_t before[2] = {UINT32_C(0x3fffffff), UINT32_MAX};
    assert_int_equal(label_mix_pick(cumulative, 5, zero), 1);
    assert_int_equal(label_mix_pick(cumulative, 5, top), 3);
    assert_int_equal(label_mix_pick(cumulative, 5, quarter), 3);
    assert_int_equal(label_mix_pick(cumulative, 5, before), 1);

    /* A total that rounding has left off 1 still gives the last label that has any weight. */
    for (uint32_t i = 1; i < 400; ++i) {
        const double w = 1.0 / i;
        const double odd[3] = {w, 3 * w, 0.0};
        label_mix_accumulate(odd, 3, cumulative);
        assert_int_equal(label_mix_pick(cumulative, 3, top), 1);
    }
}

static void test_measures(void **state)
{
    (void)state;
    const uint32_t one[4] = {0, 7, 0, 0};
    const uint32_t even[4] = {5, 5, 5, 5};
    const uint32_t none[4] = {0};
    const double quarter[4] = {.25, .25, .25, .25};
    assert_true(label_mix_entropy(one, 4) == 0.0 && !signbit(label_mix_entropy(one, 4)));
    assert_true(fabs(label_mix_entropy(even, 4) - log(4.0)) < 1e-15);
    assert_true(label_mix_entropy(none, 4) == 0.0);
    assert_true(label_mix_distance(even, quarter, 4) == 0.0);
    assert_true(label_mix_distance(one, quarter, 4) == 0.75);
    assert_true(label_mix_distance(none, quarter, 4) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dirichlet_moments),
        cmocka_unit_test(test_dirichlet_distribution),
        cmocka_unit_test(test_dirichlet_extremes),
        cmocka_unit_test(test_shards),
        cmocka_unit_test(test_pick),
        cmocka_unit_test(test_measures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
