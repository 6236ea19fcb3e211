/* test_report_paired.c - paired statistics against SciPy 1.10.1: stats.t.ppf (which is exact to
 * about 1e-10), t.interval, permutation_test (exact, permutation_type="samples") and bootstrap
 * (percentile).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "command/report/paired.h"

#define assert_within(a, b, most) assert_true(fabs((a) - (b)) <= (most))

static const double seven[] = {0.01, 0.006, -0.003, 0.013, 0.006, -0.001, 0.018};

static void quantiles_of_student(void **state)
{
    (void)state;
    static const struct {
        size_t freedom;
        double t;
    } known[] = {{1, 12.706204736432095},  {2, 4.302652729911275},  {3, 3.182446305284263},
                 {4, 2.7764451051977987},  {5, 2.5705818366147395}, {9, 2.2621571627409915},
                 {10, 2.2281388519649385}, {29, 2.045229642132703}, {30, 2.0422724563012373},
                 {999, 1.9623414611334487}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_within(student_t_975(known[i].freedom), known[i].t, 1e-9);
    /* By numerical integration of the density. */
    assert_within(student_t_within(1 - 0.05 / 8, 4), 5.261057575, 1e-7);
    assert_within(student_t_within(1 - 0.05 / 8, 29), 2.948540623, 1e-7);
}

static void intervals(void **state)
{
    (void)state;
    const struct interval t = paired_interval(seven, 7, INTERVAL_STUDENT);
    assert_within(t.low, 0.00012040740098908254, 1e-10);
    assert_within(t.high, 0.01387959259901093, 1e-10);
    const struct interval b = paired_interval(seven, 7, INTERVAL_BOOTSTRAP);
    assert_within(b.low, 0.0020, 2e-4);
    assert_within(b.high, 0.01214, 2e-4);
    const struct interval again = paired_interval(seven, 7, INTERVAL_BOOTSTRAP);
    assert_true(again.low == b.low && again.high == b.high);
    /* Neither one difference nor equal ones show how far they scatter. */
    assert_true(isnan(paired_interval(seven, 1, INTERVAL_STUDENT).low));
    assert_true(isnan(paired_interval(seven, 1, INTERVAL_BOOTSTRAP).high));
    const double equal[] = {0.9 - 0.8, 0.8 - 0.7, 0.3 - 0.2};
    assert_true(isnan(paired_interval(equal, 2, INTERVAL_STUDENT).low));
    assert_true(isnan(paired_interval(equal, 3, INTERVAL_STUDENT).high));
    assert_true(isnan(paired_interval(equal, 3, INTERVAL_BOOTSTRAP).low));
    assert_true(isnan(paired_student(equal, 3, 0.99).low));
    assert_true(paired_all_equal(equal, 3) && paired_all_equal(equal, 1));
    assert_false(paired_all_equal(seven, 7));
}

/* The test by its definition. */
static double sign_flip_plainly(const double *d, size_t n)
{
    double found = 0;
    for (size_t i = 0; i < n; i++)
        found += d[i];
    size_t far = 0;
    for (size_t signs = 0; signs < (size_t)1 << n; signs++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += signs >> i & 1 ? -d[i] : d[i];
        far += fabs(sum) >= fabs(found) - 1e-9;
    }
    return (double)far / (double)((size_t)1 << n);
}

static void exact_sign_flips(void **state)
{
    (void)state;
    assert_within(paired_sign_flip(seven, 7), 0.0625, 1e-15);
    const double tied[] = {0.3, -0.1, 0.2, 0.2, -0.2, 0.4};
    assert_within(paired_sign_flip(tied, 6), 0.28125, 1e-15);
    const double zero[] = {0, 0, 0};
    assert_true(paired_sign_flip(zero, 3) == 1);
    const double balanced[] = {0.1, -0.1};
    assert_true(paired_sign_flip(balanced, 2) == 1);
    assert_true(isnan(paired_sign_flip(seven, 1)));
    double many[PAIRED_MOST_EXACT + 1];
    for (size_t i = 0; i <= PAIRED_MOST_EXACT; i++)
        many[i] = 0.01 + 0.001 * (double)(i * 7 % 5) - (i % 3 == 0 ? 0.02 : 0);
    for (size_t n = 2; n <= 13; n++)
        assert_within(paired_sign_flip(many, n), sign_flip_plainly(many, n), 1e-15);
    for (size_t i = 0; i <= PAIRED_MOST_EXACT; i++)
        many[i] = 1 + (double)i;
    assert_within(paired_sign_flip(many, PAIRED_MOST_EXACT), exp2(1 - PAIRED_MOST_EXACT), 1e-20);
    assert_true(isnan(paired_sign_flip(many, PAIRED_MOST_EXACT + 1)));
}

static void shares_and_holm(void **state)
{
    (void)state;
    const double d[] = {1, -1, 0, 2};
    assert_true(paired_share_above(d, 4) == 0.625);
    double p[] = {0.01, NAN, 0.04, 0.03, 0.005};
    holm_adjust(p, 5);
    assert_within(p[0], 0.03, 1e-15);
    assert_true(isnan(p[1]));
    assert_within(p[2], 0.06, 1e-15);
    assert_within(p[3], 0.06, 1e-15);
    assert_within(p[4], 0.02, 1e-15);
    double equal[] = {0.5, 0.5, 0.9};
    holm_adjust(equal, 3);
    assert_true(equal[0] == 1 && equal[1] == 1 && equal[2] == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_of_student),
        cmocka_unit_test(intervals),
        cmocka_unit_test(exact_sign_flips),
        cmocka_unit_test(shares_and_holm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
