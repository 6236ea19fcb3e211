/* Channels: path loss of the standard, statistics of the draws, constant gains. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "channel_bench.h"

static osafl_status create(struct fixture *f, uint32_t clients)
{
    const osafl_facts facts = {.struct_size = sizeof facts, .clients = clients, .rounds = 50};
    return fixture_create(f, &facts);
}

static osafl_link get_link(struct fixture *f)
{
    const osafl_channel_vt *vt = fixture_vtable(f);
    osafl_link link = {.struct_size = sizeof link};
    osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, 0);
    assert_int_equal(fixture_end(f, vt->describe(f->instance.self, c, &link)), OSAFL_OK);
    return link;
}

static void check_close(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g instead of %.17g, by more than %g", value, expected, tolerance);
}

static void every_channel_describes_its_link(void **state)
{
    (void)state;
    const char *const names[] = {"tr38901", "logdistance", "fixed"};
    for (size_t i = 0; i < 3; i++) {
        struct fixture *f = open_channel(names[i], NULL);
        assert_int_equal(create(f, 3), OSAFL_OK);
        osafl_link link = get_link(f);
        assert_true(link.bandwidth_hz == 540e3);
        check_close(link.noise_w_per_hz, 3.981071705534986e-21, 1e-33);
        fixture_set(f, "noise_figure_db", "10");
        fixture_set(f, "bandwidth_hz", "180e3");
        assert_int_equal(create(f, 3), OSAFL_OK);
        link = get_link(f);
        assert_true(link.bandwidth_hz == 180e3);
        check_close(link.noise_w_per_hz, 3.981071705534986e-20, 1e-32);
        fixture_close(f);
    }
}

/* Losses at 2.4 GHz, worked out apart from this program from the standard's tables, at distances
 * on the ground before and behind the breakpoints (384 m UMa, 144 m UMi). */
static const struct {
    double distance_m, uma_los_db, uma_nlos_db, umi_los_db, umi_nlos_db;
} losses[] = {
    {50.0, 73.9350459607054, 89.23370163525829, 75.81251318112467, 90.69052700299561},
    {200.0, 86.29238934582759, 111.18483706664807, 91.03786160512745, 111.73869125006613},
    {500.0, 97.04961766352682, 126.63869775557512, 106.9422970752867, 125.7743555524817},
};

/* A narrow ring puts all clients at one distance; both states of sight occur among them. */
static void tr38901_has_the_path_loss_of_the_standard(void **state)
{
    (void)state;
    enum { CLIENTS = 4000 };
    static double gain[CLIENTS];
    static osafl_place place[CLIENTS];
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++)
        for (int umi = 0; umi < 2; umi++) {
            struct fixture *f = open_channel("tr38901", NULL);
            char text[64];
            fixture_set(f, "scenario", umi ? "umi" : "uma");
            fixture_set(f, "shadowing", "false");
            (void)snprintf(text, sizeof text, "%.17g", losses[i].distance_m);
            fixture_set(f, "radius_m", text);
            (void)snprintf(text, sizeof text, "%.17g", losses[i].distance_m * (1.0 - 1e-12));
            fixture_set(f, "min_distance_m", text);
            assert_int_equal(create(f, CLIENTS), OSAFL_OK);
            get_gains(f, 7, gain);
            get_places(f, 7, place);
            uint32_t in_sight = 0;
            for (uint32_t u = 0; u < CLIENTS; u++) {
                const bool sight = place[u].line_of_sight == 1;
                const double loss_db = umi ? (sight ? losses[i].umi_los_db : losses[i].umi_nlos_db)
                                           : (sight ? losses[i].uma_los_db : losses[i].uma_nlos_db);
                check_close(hypot(place[u].x_m, place[u].y_m), losses[i].distance_m, 1e-8);
                check_close(10.0 * log10(gain[u]), -loss_db, 1e-8);
                in_sight += sight;
            }
            /* P_LOS with a binomial's five standard deviations. */
            const double near = 18.0 / losses[i].distance_m;
            const double probability =
                near + exp(-losses[i].distance_m / (umi ? 36.0 : 63.0)) * (1.0 - near);
            const double deviation = sqrt(probability * (1.0 - probability) / CLIENTS);
            check_close(in_sight / (double)CLIENTS, probability, 5.0 * deviation);
            fixture_close(f);
        }
}

static void tr38901_knows_heights_carrier_and_antennas(void **state)
{
    (void)state;
    const char *const close_by[][2] = {{"shadowing", "false"},
                                       {"radius_m", "18"},
                                       {"min_distance_m", "17.9999999999"},
                                       {NULL, NULL}};
    double base = 0.0;
    double gain = 0.0;
    struct fixture *f = open_channel("tr38901", close_by); /* always in sight up to 18 m */
    assert_int_equal(create(f, 1), OSAFL_OK);
    get_gains(f, 0, &base);
    fixture_set(f, "bs_antenna_gain_dbi", "8");
    fixture_set(f, "ut_antenna_gain_dbi", "-3");
    assert_int_equal(create(f, 1), OSAFL_OK);
    get_gains(f, 0, &gain);
    check_close(10.0 * log10(gain / base), 5.0, 1e-9);
    fixture_set(f, "carrier_hz", "4.8e9");
    assert_int_equal(create(f, 1), OSAFL_OK);
    get_gains(f, 0, &gain);
    check_close(10.0 * log10(gain / base), 5.0 - 20.0 * log10(2.0), 1e-9);
    fixture_set(f, "carrier_hz", "2.4e9");
    fixture_set(f, "bs_height_m", "40");
    fixture_set(f, "ut_height_m", "3");
    assert_int_equal(create(f, 1), OSAFL_OK);
    get_gains(f, 0, &gain);
    check_close(10.0 * log10(gain / base),
                5.0 - 22.0 * log10(hypot(18.0, 37.0) / hypot(18.0, 23.5)), 1e-8);
    fixture_close(f);
}

/* Uniform over the disc: the share within a distance is that of the area. */
static void clients_are_spread_evenly_over_the_cell(void **state)
{
    (void)state;
    enum { CLIENTS = 20000 };
    static osafl_place place[CLIENTS];
    const char *const names[] = {"tr38901", "logdistance"};
    for (size_t i = 0; i < 2; i++) {
        struct fixture *f = open_channel(names[i], NULL);
        assert_int_equal(create(f, CLIENTS), OSAFL_OK);
        get_places(f, 0, place);
        uint32_t inner = 0;
        uint32_t quadrant[4] = {0};
        for (uint32_t u = 0; u < CLIENTS; u++) {
            const double d = hypot(place[u].x_m, place[u].y_m);
            assert_true(d >= 10.0 * (1.0 - 1e-12) && d <= 500.0 * (1.0 + 1e-12));
            inner += d < 250.0;
            quadrant[(place[u].x_m < 0.0) + 2 * (place[u].y_m < 0.0)]++;
        }
        const double share = (250.0 * 250.0 - 100.0) / (500.0 * 500.0 - 100.0);
        check_close(inner / (double)CLIENTS, share, 5.0 * sqrt(share * (1.0 - share) / CLIENTS));
        for (int q = 0; q < 4; q++)
            check_close(quadrant[q] / (double)CLIENTS, 0.25, 5.0 * sqrt(0.1875 / CLIENTS));
        fixture_close(f);
    }
}

/* Standard deviations 4 dB in sight and 6 dB (UMa) or 7.82 dB (UMi) else, mean 0, and nothing in
 * common between two clients or two rounds. */
static void shadowing_is_normal_and_independent(void **state)
{
    (void)state;
    enum { CLIENTS = 2000, ROUNDS = 40 };
    static double mean_gain[CLIENTS];
    static double shadow_db[ROUNDS][CLIENTS];
    static osafl_place place[CLIENTS];
    for (int umi = 0; umi < 2; umi++) {
        struct fixture *f = open_channel("tr38901", NULL);
        fixture_set(f, "scenario", umi ? "umi" : "uma");
        fixture_set(f, "shadowing", "false");
        assert_int_equal(create(f, CLIENTS), OSAFL_OK);
        get_gains(f, 0, mean_gain);
        get_places(f, 0, place);
        fixture_set(f, "shadowing", "true");
        assert_int_equal(create(f, CLIENTS), OSAFL_OK);
        double sum[2] = {0.0, 0.0};
        double squares[2] = {0.0, 0.0};
        double products[2] = {0.0, 0.0}; /* with the client before, with the round before */
        double n[2] = {0.0, 0.0};
        for (uint32_t t = 0; t < ROUNDS; t++) {
            get_gains(f, t, shadow_db[t]);
            for (uint32_t u = 0; u < CLIENTS; u++) {
                const uint32_t sight = place[u].line_of_sight;
                const double deviation_db = sight ? 4.0 : umi ? 7.82 : 6.0;
                const double z = 10.0 * log10(shadow_db[t][u] / mean_gain[u]) / deviation_db;
                shadow_db[t][u] = z;
                sum[sight] += z;
                squares[sight] += z * z;
                n[sight] += 1.0;
                products[0] += u > 0 ? z * shadow_db[t][u - 1] : 0.0;
                products[1] += t > 0 ? z * shadow_db[t - 1][u] : 0.0;
            }
        }
        for (int sight = 0; sight < 2; sight++) {
            assert_true(n[sight] > 5000.0);
            check_close(sum[sight] / n[sight], 0.0, 5.0 / sqrt(n[sight]));
            check_close(squares[sight] / n[sight], 1.0, 5.0 * sqrt(2.0 / n[sight]));
        }
        for (int i = 0; i < 2; i++)
            check_close(products[i] / (CLIENTS * ROUNDS), 0.0, 5.0 / sqrt(CLIENTS * ROUNDS));
        fixture_close(f);
    }
}

static void rounds_may_be_asked_for_in_any_order(void **state)
{
    (void)state;
    enum { CLIENTS = 10 };
    double first[CLIENTS];
    double again[CLIENTS];
    struct fixture *f = open_channel("tr38901", NULL);
    assert_int_equal(create(f, CLIENTS), OSAFL_OK);
    get_gains(f, 3, first);
    get_gains(f, 4, again);
    assert_memory_not_equal(first, again, sizeof first);
    assert_int_equal(create(f, CLIENTS), OSAFL_OK);
    get_gains(f, 9, again);
    get_gains(f, 3, again);
    assert_memory_equal(first, again, sizeof first);
    f->context.seed = 2;
    assert_int_equal(create(f, CLIENTS), OSAFL_OK);
    get_gains(f, 3, again);
    assert_memory_not_equal(first, again, sizeof first);
    fixture_close(f);
}

static void logdistance_follows_its_law(void **state)
{
    (void)state;
    enum { CLIENTS = 50 };
    double gain[CLIENTS];
    osafl_place place[CLIENTS];
    struct fixture *f = open_channel("logdistance", NULL);
    fixture_set(f, "shadowing_db", "0");
    assert_int_equal(create(f, CLIENTS), OSAFL_OK);
    get_gains(f, 0, gain);
    get_places(f, 0, place);
    for (int u = 0; u < CLIENTS; u++) {
        const double km = hypot(place[u].x_m, place[u].y_m) / 1000.0;
        check_close(10.0 * log10(gain[u]), -128.1 - 37.6 * log10(km), 1e-9);
    }
    fixture_close(f);
}

static void fixed_takes_one_gain_or_one_for_each(void **state)
{
    (void)state;
    double gain[3];
    struct fixture *f = open_channel("fixed", NULL);
    const osafl_channel_vt *vt = fixture_vtable(f);
    assert_null(vt->place);
    assert_int_equal(create(f, 3), OSAFL_OK);
    get_gains(f, 5, gain);
    for (int u = 0; u < 3; u++)
        check_close(gain[u], 1e-10, 1e-24);
    fixture_set(f, "gains_db", "-90, -100.5, 0");
    assert_int_equal(create(f, 3), OSAFL_OK);
    get_gains(f, 0, gain);
    check_close(gain[0], 1e-9, 1e-23);
    check_close(gain[1], pow(10.0, -10.05), 1e-24);
    assert_true(gain[2] == 1.0);
    assert_int_equal(create(f, 4), OSAFL_E_CONFIG);
    assert_non_null(strstr(f->error.text, "3 numbers for 4 clients"));
    fixture_close(f);
}

static void settings_that_cannot_be_are_refused(void **state)
{
    (void)state;
    const char *const names[] = {"tr38901", "logdistance"};
    for (size_t i = 0; i < 2; i++) {
        struct fixture *f = open_channel(names[i], NULL);
        fixture_set(f, "radius_m", "10");
        assert_int_equal(create(f, 3), OSAFL_E_CONFIG);
        assert_non_null(strstr(f->error.text, "min_distance_m = 10 must be below radius_m = 10"));
        fixture_close(f);
    }
    struct fixture *f = open_channel("tr38901", NULL);
    fixture_set(f, "bs_height_m", "0.5");
    assert_int_equal(create(f, 3), OSAFL_E_CONFIG);
    assert_non_null(strstr(f->error.text, "bs_height_m = 0.5"));
    fixture_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_channel_describes_its_link),
        cmocka_unit_test(tr38901_has_the_path_loss_of_the_standard),
        cmocka_unit_test(tr38901_knows_heights_carrier_and_antennas),
        cmocka_unit_test(clients_are_spread_evenly_over_the_cell),
        cmocka_unit_test(shadowing_is_normal_and_independent),
        cmocka_unit_test(rounds_may_be_asked_for_in_any_order),
        cmocka_unit_test(logdistance_follows_its_law),
        cmocka_unit_test(fixed_takes_one_gain_or_one_for_each),
        cmocka_unit_test(settings_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
