/* Channels over time: fading against its distribution and J0, movement, and what is spatially
 * consistent. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "channel_bench.h"

#define TWO_PI 6.283185307179586

static osafl_status create(struct fixture *f, uint32_t clients)
{
    const osafl_facts facts = {
        .struct_size = sizeof facts, .clients = clients, .rounds = 2000, .deadline_s = 60.0};
    return fixture_create(f, &facts);
}

static void check_close(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g instead of %.17g, by more than %g", value, expected, tolerance);
}

/* ---- fading -------------------------------------------------------------------------------- */

enum { FADERS = 20000, WAVES = 32 };

/* All clients at 1 km with a gain of 1, but for the fading. */
static struct fixture *open_fading(const char *kind, const char *doppler_hz)
{
    const char *const settings[][2] = {
        {"reference_loss_db", "0"}, {"radius_m", "1000"}, {"min_distance_m", "999.9999999999"},
        {"shadowing_db", "0"},      {"fading", kind},     {"rician_k_db", "6"},
        {"doppler_hz", doppler_hz}, {"round_s", "0.01"},  {NULL, NULL}};
    struct fixture *f = open_channel("logdistance", settings);
    assert_int_equal(create(f, FADERS), OSAFL_OK);
    return f;
}

/* Moments k = 1 ... 4 of |h|^2: k! of an exponential number, and those of a Rician one with
 * K = 10^0.6, (k!/(1 + K)^k) sum_j binomial(k, j) K^j/j!; 32 waves fall short of the normal
 * distribution by 1/32 in the second, which is 2 - 1/32 for Rayleigh. */
static void fading_has_its_distribution(void **state)
{
    (void)state;
    static double gain[FADERS];
    struct fixture *f = open_fading("rayleigh", "8");
    get_gains(f, 3, gain);
    double mean = 0.0;
    double square = 0.0;
    uint32_t below[3] = {0};
    for (uint32_t u = 0; u < FADERS; u++) {
        mean += gain[u] / FADERS;
        square += gain[u] * gain[u] / FADERS;
        below[0] += gain[u] < 0.1;
        below[1] += gain[u] < 1.0;
        below[2] += gain[u] < 3.0;
    }
    check_close(mean, 1.0, 5.0 / sqrt(FADERS));
    check_close(square, 2.0 - 1.0 / WAVES, 5.0 * sqrt(20.0 / FADERS));
    const double level[3] = {0.1, 1.0, 3.0};
    for (int i = 0; i < 3; i++) {
        const double share = 1.0 - exp(-level[i]);
        check_close(below[i] / (double)FADERS, share,
                    5.0 * sqrt(share * (1.0 - share) / FADERS) + 0.004);
    }
    fixture_close(f);

    f = open_fading("rician", "8");
    get_gains(f, 3, gain);
    mean = square = 0.0;
    for (uint32_t u = 0; u < FADERS; u++) {
        mean += gain[u] / FADERS;
        square += gain[u] * gain[u] / FADERS;
    }
    const double k = pow(10.0, 0.6);
    const double second = (2.0 + 4.0 * k + k * k) / ((1.0 + k) * (1.0 + k));
    check_close(mean, 1.0, 5.0 * sqrt((second - 1.0) / FADERS));
    check_close(square, second - 1.0 / (WAVES * (1.0 + k) * (1.0 + k)), 5.0 * sqrt(6.0 / FADERS));
    fixture_close(f);
}

/* Over the clients, the covariance of the power is J0(2 pi f_d T n)^2 less what 32 waves take from
 * it, which is at most 1/32. */
static void fading_is_correlated_as_j0_has_it(void **state)
{
    (void)state;
    static double first[FADERS];
    static double later[FADERS];
    struct fixture *f = open_fading("rayleigh", "4"); /* 0.04 cycles a round */
    get_gains(f, 0, first);
    for (uint32_t n = 1; n <= 20; n++) {
        get_gains(f, n, later);
        double product = 0.0;
        for (uint32_t u = 0; u < FADERS; u++)
            product += first[u] * later[u] / FADERS;
        const double rho = j0(TWO_PI * 0.04 * n);
        check_close(product - 1.0, rho * rho - 0.5 / WAVES, 0.5 / WAVES + 5.0 * sqrt(6.0 / FADERS));
    }
    /* Near its beginning, by numbers: J0(0.2513)^2 = 0.969, J0(0.5027)^2 = 0.879; zero at n = 10,
     * where 2 pi 0.04 n = 2.51 and J0 = -0.045. */
    get_gains(f, 1, later);
    uint32_t same = 0;
    for (uint32_t u = 0; u < FADERS; u++)
        same += (first[u] < 0.7) == (later[u] < 0.7);
    assert_true(same > FADERS * 9 / 10);
    fixture_close(f);

    f = open_fading("rayleigh", "0"); /* nothing moves: the same in all rounds */
    get_gains(f, 0, first);
    get_gains(f, 1000, later);
    assert_memory_equal(first, later, sizeof first);
    fixture_close(f);
}

/* Over the rounds a client's power has mean 1: no client is luckier than another for a whole run.
 */
static void fading_averages_out_over_the_rounds(void **state)
{
    (void)state;
    enum { CLIENTS = 20, ROUNDS = 2000 };
    double mean[CLIENTS] = {0};
    double gain[CLIENTS];
    const char *const settings[][2] = {
        {"reference_loss_db", "0"}, {"radius_m", "1000"},   {"min_distance_m", "999.9999999999"},
        {"shadowing_db", "0"},      {"fading", "rayleigh"}, {NULL, NULL}};
    struct fixture *f = open_channel("logdistance", settings);
    assert_int_equal(create(f, CLIENTS), OSAFL_OK);
    for (uint32_t t = 0; t < ROUNDS; t++) {
        get_gains(f, t, gain);
        for (uint32_t u = 0; u < CLIENTS; u++)
            mean[u] += gain[u] / ROUNDS;
    }
    for (uint32_t u = 0; u < CLIENTS; u++)
        check_close(mean[u], 1.0, 0.15);
    fixture_close(f);
}

/* "sight": a strong direct path for the clients in sight alone. */
static void fading_by_sight_looks_at_the_line_of_sight(void **state)
{
    (void)state;
    static double with[FADERS];
    static double without[FADERS];
    static osafl_place place[FADERS];
    const char *const settings[][2] = {{"fading", "sight"}, {"rician_k_db", "30"}, {NULL, NULL}};
    struct fixture *f = open_channel("tr38901", settings);
    assert_int_equal(create(f, FADERS), OSAFL_OK);
    get_gains(f, 5, with);
    get_places(f, 5, place);
    fixture_set(f, "fading", "none");
    assert_int_equal(create(f, FADERS), OSAFL_OK);
    get_gains(f, 5, without);
    double n[2] = {0.0, 0.0};
    double squares[2] = {0.0, 0.0};
    for (uint32_t u = 0; u < FADERS; u++) {
        const double deviation = with[u] / without[u] - 1.0;
        n[place[u].line_of_sight] += 1.0;
        squares[place[u].line_of_sight] += deviation * deviation;
    }
    check_close(squares[0] / n[0], 1.0 - 1.0 / WAVES, 5.0 * sqrt(8.0 / n[0]));
    assert_true(squares[1] / n[1] < 0.003 && n[1] > 1000.0); /* 2/K at most */
    fixture_close(f);
}

/* ---- movement ------------------------------------------------------------------------------ */

enum { WALKERS = 300 };

static const char *const walking[][2] = {{"speed_m_per_s", "1, 2"},
                                         {"pause_s", "0, 120"},
                                         {"radius_m", "200"},
                                         {"spatially_consistent", "true"},
                                         {NULL, NULL}};

/* Nobody is faster than the fastest, all stay in the cell, pause and go; the speed of who is under
 * way is in the range. */
static void clients_walk_between_waypoints(void **state)
{
    (void)state;
    enum { ROUNDS = 200 };
    static osafl_place before[WALKERS];
    static osafl_place place[WALKERS];
    struct fixture *f = open_channel("tr38901", walking);
    fixture_set(f, "round_s", "1");
    assert_int_equal(create(f, WALKERS), OSAFL_OK);
    get_places(f, 0, before);
    uint32_t still = 0;
    uint32_t straight = 0;
    for (uint32_t t = 1; t <= ROUNDS; t++) {
        get_places(f, t, place);
        for (uint32_t u = 0; u < WALKERS; u++) {
            const double step_m = hypot(place[u].x_m - before[u].x_m, place[u].y_m - before[u].y_m);
            assert_true(step_m <= 2.0 * (1.0 + 1e-9));
            assert_true(hypot(place[u].x_m, place[u].y_m) <= 200.0 * (1.0 + 1e-12));
            still += step_m == 0.0;
            straight += step_m >= 1.0 * (1.0 - 1e-9);
        }
        memcpy(before, place, sizeof before);
    }
    assert_true(still > WALKERS * ROUNDS / 10);
    assert_true(straight > WALKERS * ROUNDS / 3);
    assert_true(still + straight > WALKERS * ROUNDS * 95 / 100); /* the others start or stop */
    fixture_close(f);
}

/* The first place is that of clients that stay. */
static void walks_begin_at_the_first_place(void **state)
{
    (void)state;
    static osafl_place place[WALKERS];
    static osafl_place fixed[WALKERS];
    struct fixture *f = open_channel("tr38901", walking);
    assert_int_equal(create(f, WALKERS), OSAFL_OK);
    get_places(f, 0, place);
    fixture_set(f, "speed_m_per_s", "0");
    assert_int_equal(create(f, WALKERS), OSAFL_OK);
    get_places(f, 77, fixed);
    assert_memory_equal(place, fixed, sizeof place);
    fixture_close(f);
}

static void any_round_can_be_asked_for_first(void **state)
{
    (void)state;
    double gain[4][WALKERS];
    struct fixture *f = open_channel("tr38901", walking);
    fixture_set(f, "fading", "sight");
    assert_int_equal(create(f, WALKERS), OSAFL_OK);
    for (uint32_t t = 0; t <= 40; t++)
        get_gains(f, t, gain[0]);
    get_gains(f, 7, gain[1]);
    get_gains(f, 40, gain[2]);
    assert_memory_equal(gain[0], gain[2], sizeof gain[0]);
    assert_int_equal(create(f, WALKERS), OSAFL_OK); /* as after a resume */
    get_gains(f, 40, gain[2]);
    get_gains(f, 7, gain[3]);
    assert_memory_equal(gain[0], gain[2], sizeof gain[0]);
    assert_memory_equal(gain[1], gain[3], sizeof gain[0]);
    assert_memory_not_equal(gain[0], gain[1], sizeof gain[0]);
    fixture_close(f);
}

/* ---- spatial consistency ------------------------------------------------------------------- */

/* One draw of the field is one number at each place, so the statistics are over seeds: two clients
 * that stay, at whatever distance they have. */
static void shadowing_is_a_field_of_exponential_covariance(void **state)
{
    (void)state;
    enum { SEEDS = 2000, CLIENTS = 6, BINS = 4 };
    const char *const settings[][2] = {
        {"reference_loss_db", "0"},  {"exponent", "0"},
        {"shadowing_db", "1"},       {"spatially_consistent", "true"},
        {"decorrelation_m", "50"},   {"radius_m", "60"},
        {"min_distance_m", "0.001"}, {NULL, NULL}};
    struct fixture *f = open_channel("logdistance", settings);
    double n[BINS] = {0};
    double product[BINS] = {0};
    double expected[BINS] = {0};
    double moments[4] = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double gain[CLIENTS];
        osafl_place at[CLIENTS];
        f->context.seed = seed;
        assert_int_equal(create(f, CLIENTS), OSAFL_OK);
        get_gains(f, 9, gain);
        get_places(f, 9, at);
        for (int i = 0; i < CLIENTS; i++) {
            const double z = -10.0 * log10(gain[i]);
            moments[0] += z;
            moments[1] += z * z;
            moments[3] += z * z * z * z;
            for (int j = 0; j < i; j++) {
                const double d = hypot(at[i].x_m - at[j].x_m, at[i].y_m - at[j].y_m);
                const int bin = d < 15.0 ? 0 : d < 40.0 ? 1 : d < 70.0 ? 2 : 3;
                n[bin] += 1.0;
                product[bin] += z * -10.0 * log10(gain[j]);
                expected[bin] += exp(-d / 50.0);
            }
        }
    }
    /* Clients of one cell are alike, so only the seeds count as independent. */
    check_close(moments[0] / (SEEDS * CLIENTS), 0.0, 5.0 / sqrt(SEEDS));
    check_close(moments[1] / (SEEDS * CLIENTS), 1.0, 5.0 * sqrt(2.0 / SEEDS));
    check_close(moments[3] / (SEEDS * CLIENTS), 3.0 - 1.5 / 128, 5.0 * sqrt(96.0 / SEEDS));
    for (int bin = 0; bin < BINS; bin++) {
        assert_true(n[bin] > SEEDS / 4.0);
        check_close(product[bin] / n[bin], expected[bin] / n[bin],
                    5.0 * sqrt(2.0 / fmin(n[bin], SEEDS)));
    }
    fixture_close(f);
}

/* Near clients see the same: the nearest pairs of many agree on the line of sight, and their gains
 * are near; the share in sight stays the standard's, over cells. */
static void line_of_sight_is_that_of_the_place(void **state)
{
    (void)state;
    enum { SEEDS = 400, CLIENTS = 50 };
    const char *const settings[][2] = {{"spatially_consistent", "true"},
                                       {"radius_m", "100"},
                                       {"min_distance_m", "99"},
                                       {NULL, NULL}};
    struct fixture *f = open_channel("tr38901", settings);
    double in_sight = 0.0;
    double near = 0.0;
    double alike = 0.0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        osafl_place at[CLIENTS];
        f->context.seed = seed;
        assert_int_equal(create(f, CLIENTS), OSAFL_OK);
        get_places(f, 2, at);
        for (int i = 0; i < CLIENTS; i++) {
            in_sight += at[i].line_of_sight;
            for (int j = 0; j < i; j++) {
                if (hypot(at[i].x_m - at[j].x_m, at[i].y_m - at[j].y_m) > 1.0)
                    continue;
                near += 1.0;
                alike += at[i].line_of_sight == at[j].line_of_sight;
            }
        }
    }
    const double share = 18.0 / 99.5 + exp(-99.5 / 63.0) * (1.0 - 18.0 / 99.5);
    check_close(in_sight / (SEEDS * CLIENTS), share, 5.0 * sqrt(0.25 / (SEEDS * 4.0)));
    /* Correlation exp(-1/50) at most: they differ with probability acos(0.98)/pi = 0.064, at a
     * share of one half. */
    assert_true(near > 300.0 && alike / near > 0.9);
    fixture_close(f);
}

static void settings_that_cannot_be_are_refused(void **state)
{
    (void)state;
    const char *const settings[][2] = {{"speed_m_per_s", "0, 3"}, {NULL, NULL}};
    const char *const names[] = {"tr38901", "logdistance"};
    for (size_t i = 0; i < 2; i++) {
        struct fixture *f = open_channel(names[i], settings);
        assert_int_equal(create(f, 3), OSAFL_E_CONFIG);
        assert_non_null(strstr(f->error.text, "speed_m_per_s begins with 0"));
        fixture_set(f, "speed_m_per_s", "1000");
        fixture_set(f, "round_s", "1e9");
        assert_int_equal(create(f, 3), OSAFL_E_CONFIG);
        assert_non_null(strstr(f->error.text, "waypoints"));
        fixture_close(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fading_has_its_distribution),
        cmocka_unit_test(fading_is_correlated_as_j0_has_it),
        cmocka_unit_test(fading_averages_out_over_the_rounds),
        cmocka_unit_test(fading_by_sight_looks_at_the_line_of_sight),
        cmocka_unit_test(clients_walk_between_waypoints),
        cmocka_unit_test(walks_begin_at_the_first_place),
        cmocka_unit_test(any_round_can_be_asked_for_first),
        cmocka_unit_test(shadowing_is_a_field_of_exponential_covariance),
        cmocka_unit_test(line_of_sight_is_that_of_the_place),
        cmocka_unit_test(settings_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
