/* Label distributions: what is drawn from them, and how far a histogram is from one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "world/label_mix.h"

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
    for (uint32_t i = 1; i < 400; i++) {
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
        cmocka_unit_test(test_pick),
        cmocka_unit_test(test_measures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
