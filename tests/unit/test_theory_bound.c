/* test_theory_bound.c - the convergence bound: two counterexamples to the printed theorem, and what
 * its repaired form says of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "round/theory_bound.h"

enum { MOST_CLIENTS = 1000 };

#define assert_within(a, b, most) assert_true(fabs((a) - (b)) <= (most))

/* Identical clients with f_u(w) = w^2 / 2, so beta = 1; full gradients, kappa = 1, no quantizer,
 * eta_lo = 1e-4 and eta_gl eta_lo = .999 / (beta eta_ef).  w^{t+1} = w (1 - .999 X) with X the sum
 * of alpha delta over those whose update arrives, a binomial number K of U: E f^t(w^{t+1}) is
 * exact. */
static struct theory_bound quadratic(size_t clients, double v, double delta, double w2)
{
    static struct theory_client client[MOST_CLIENTS];
    const double n = (double)clients;
    const double first = delta * v;
    const double second = delta * delta * (v * v + v * (1.0 - v) / n);
    const double h = 0.999;
    for (size_t i = 0; i < clients; i++)
        client[i] = (struct theory_client){.alpha = 1.0 / n, .delta = delta, .v = v, .kappa = 1.0};
    const struct theory_facts f = {
        .client = client,
        .n = clients,
        .eta_lo = 1e-4,
        .eta_gl = h * delta / 1e-4,
        .eta_ef = 1.0 / delta,
        .beta = 1.0,
        .varpi2 = w2 * (1.0 - delta) * (1.0 - delta),
        .gradient2 = w2 * delta * delta,
        .value = delta * w2 / 2.0,
        .expected = delta * w2 / 2.0 * (1.0 - 2.0 * h * first + h * h * second),
    };
    return theory_bound(&f);
}

static void a_dropped_factor(void **state)
{
    (void)state;
    const struct theory_bound b = quadratic(200, 0.5, 0.99, 21.0);
    assert_true(theory_conditions_hold(&b));
    assert_within(b.slack, 0.039, 0.0005);
    assert_within(b.lhs, 20.79, 0.005);
    assert_within(b.rhs_printed, 15.63, 0.005);
    assert_true(b.rhs_printed < b.lhs); /* the printed theorem is false */
    assert_within(b.t6, 0.01, 0.0005);
    assert_true(b.t6 * b.lhs <= b.rhs); /* with the factor that its proof drops it is not */
    assert_true(b.repaired_applies == 1.0);
    assert_true(b.t6_repaired * b.lhs <= b.rhs_repaired);

    const struct theory_bound equal = quadratic(1000, 0.505, 1.0, 21.0);
    assert_true(theory_conditions_hold(&equal));
    assert_within(equal.rhs_printed / equal.lhs, 0.755, 0.0005);
}

static void a_surrogate_that_is_less_smooth(void **state)
{
    (void)state;
    const struct theory_bound b = quadratic(25, 1.0, 3.0, 21.0);
    assert_true(theory_conditions_hold(&b));
    assert_within(b.t6, 1.0, 1e-5);
    assert_within(b.lhs, 63.0, 0.005);
    assert_within(b.rhs_printed, -62.8, 0.05);
    assert_true(b.repaired_applies == 0.0); /* the step is too large for what f^t is */
}

/* The parts, each once more as the paper prints it. */
static void the_terms(void **state)
{
    (void)state;
    const struct theory_client client[2] = {{.alpha = 0.3, .delta = 0.8, .v = 0.9, .kappa = 2.0},
                                            {.alpha = 0.7, .delta = 1.1, .v = 1.0, .kappa = 5.0}};
    const struct theory_facts f = {.client = client,
                                   .n = 2,
                                   .eta_lo = 0.01,
                                   .eta_gl = 3.0,
                                   .eta_ef = 0.9,
                                   .beta = 2.0,
                                   .q = 0.25,
                                   .sigma2 = 0.5,
                                   .varpi2 = 0.4,
                                   .gradient2 = 1.5,
                                   .value = 2.0,
                                   .expected = 1.9};
    const struct theory_bound b = theory_bound(&f);
    const double x[2] = {0.3 * 0.8, 0.7 * 1.1};
    const double p[2] = {0.9 * 0.35, 1.0 * 0.25};
    const double sigma =
        2 * 2.25 * 2 * 3 * 0.01 * 0.5 * 0.81 * (0.9 * x[0] * x[0] / 2 + x[1] * x[1] / 5) +
        8 * 0.9 * 4 * 0.5 * 1e-4 * (0.3 * 2 * 0.72 * 0.72 + 0.7 * 5 * 1.1 * 1.1);
    const double last =
        24 * 0.5 * 0.81 * 8 * 1e-6 * (p[0] * x[0] * x[0] * 4 + p[1] * x[1] * x[1] * 25);
    const double varpi =
        4 * 0.9 * 0.4 * 0.3 * 0.08 * 0.08 +
        48 * 0.9 * 4 * 0.4 * 1e-4 * (0.3 * 0.72 * 0.72 * 4 + 0.7 * 1.21 * 25) +
        6 * 2 * 3 * 0.01 * 0.81 * 0.4 * (p[0] * x[0] * x[0] * 2 + p[1] * x[1] * x[1] * 5) +
        144 * 3 * 0.4 * 0.81 * 8 * 1e-6 * (p[0] * x[0] * x[0] * 8 + p[1] * x[1] * x[1] * 125);
    assert_within(b.sum_score, 1.01, 1e-12);
    assert_within(b.lhs, 1.35, 1e-12);
    assert_within(b.descent, 2 * 0.1 / 0.03, 1e-12);
    assert_within(b.omega_sigma_printed, sigma + last, 1e-12);
    assert_within(b.omega_sigma, sigma + 3 * last, 1e-12);
    assert_within(b.omega_varpi, varpi, 1e-12);
    assert_within(b.slack,
                  4 - 16 * 0.3 * 0.08 * 0.08 - 33 * 5 * (p[0] * x[0] * x[0] + p[1] * x[1] * x[1]),
                  1e-12);
}

/* What is not known makes nothing of what needs it. */
static void unknown_smoothness(void **state)
{
    (void)state;
    const struct theory_client client = {.alpha = 1.0, .delta = 1.0, .v = 1.0, .kappa = 1.0};
    const struct theory_facts f = {.client = &client,
                                   .n = 1,
                                   .eta_lo = 0.1,
                                   .eta_gl = 1.0,
                                   .eta_ef = 1.0,
                                   .beta = (double)NAN,
                                   .gradient2 = 1.0,
                                   .value = 2.0,
                                   .expected = 1.0};
    const struct theory_bound b = theory_bound(&f);
    assert_true(b.lhs == 1.0 && b.descent == 20.0);
    assert_true(isnan(b.rhs) && isnan(b.step_small) && isnan(b.repaired_applies));
    assert_false(theory_conditions_hold(&b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dropped_factor),
        cmocka_unit_test(a_surrogate_that_is_less_smooth),
        cmocka_unit_test(the_terms),
        cmocka_unit_test(unknown_smoothness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
