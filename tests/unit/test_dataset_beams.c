/* Data set beams: geometry by hand, ways of clients, and what is told of noise and seeds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dataset_fixture.h"

enum { FEATURES = 4, SAMPLES = 3000, RADIUS_M = 100 };

static struct fixture *open_beams(const char *const (*settings)[2])
{
    struct fixture *f = fixture_open("dataset", "beams");
    for (; (*settings)[0] != NULL; settings++)
        fixture_set(f, (*settings)[0], (*settings)[1]);
    assert_int_equal(dataset_create(f), OSAFL_OK);
    return f;
}

static const char *const exact[][2] = {
    {"clients", "10"}, {"noise_m", "0"}, {"reflection", "0"}, {NULL, NULL}};

static void read_range(struct fixture *f, uint32_t split, uint64_t first, uint32_t n, float *x,
                       int32_t *label)
{
    uint64_t *index = calloc(n, sizeof *index);
    assert_non_null(index);
    for (uint32_t k = 0; k < n; k++)
        index[k] = first + k;
    dataset_read(f, split, index, n, x, label);
    free(index);
}

static void describes_its_samples(void **state)
{
    (void)state;
    struct fixture *f = open_beams(exact);
    osafl_dataset_info info = dataset_describe(f);
    EXPECT_SHAPE(info, FEATURES);
    assert_int_equal(info.labels, 8);
    assert_int_equal(info.target_size, 8);
    assert_true(info.n_train == UINT64_C(10) * SAMPLES);
    assert_true(info.n_test == 2000 && info.n_validation == 0);
    fixture_set(f, "target", "blockage");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    info = dataset_describe(f);
    assert_int_equal(info.labels, 2);
    assert_string_equal(info.label_names[1], "blocked");
    fixture_close(f);
}

/* Without error and reflections the beam is the part of [-1, 1) in which y/d is. */
static void best_beam_is_that_of_the_direction(void **state)
{
    (void)state;
    enum { N = 2000 };
    static float x[N * FEATURES];
    static int32_t label[N];
    struct fixture *f = open_beams(exact);
    const uint32_t splits[] = {OSAFL_SPLIT_TRAIN, OSAFL_SPLIT_TEST};
    for (size_t i = 0; i < 2; i++) {
        read_range(f, splits[i], 0, N, x, label);
        uint32_t seen = 0;
        for (uint32_t k = 0; k < N; k++) {
            const float *at = &x[(size_t)k * FEATURES];
            const double d = hypot((double)at[0], (double)at[1]);
            assert_true(d <= 1.0 + 1e-6);
            assert_true(fabs((double)at[2] - d) < 1e-6);
            assert_true(fabs((double)at[3] - (double)at[1] / d) < 1e-5);
            const double part = 4.0 * ((double)at[3] + 1.0);
            if (fabs(part - round(part)) > 1e-4) /* not at a border, where floats decide */
                assert_int_equal(label[k], (int)floor(part));
            seen |= 1u << label[k];
        }
        assert_true(i == 0 || seen == 0xff); /* the test split is all over the cell */
    }
    read_range(f, OSAFL_SPLIT_TRAIN, N - 1, 1, x, label);
    assert_int_equal(dataset_label(f, N - 1), label[0]);
    fixture_close(f);
}

/* A client's samples follow each other at its speed, one client's after the other's. */
static void samples_lie_on_the_ways_of_clients(void **state)
{
    (void)state;
    static float x[2 * SAMPLES * FEATURES];
    static int32_t label[2 * SAMPLES];
    struct fixture *f = open_beams(exact);
    const osafl_dataset_vt *vt = fixture_vtable(f);
    read_range(f, OSAFL_SPLIT_TRAIN, 0, 2 * SAMPLES, x, label);
    double way_m = 0.0;
    for (uint32_t k = 1; k < 2 * SAMPLES; k++) {
        const float *at = &x[(size_t)k * FEATURES];
        const double step_m = RADIUS_M * hypot((double)(at[0] - at[-4]), (double)(at[1] - at[-3]));
        if (k == SAMPLES)
            continue; /* another client begins elsewhere */
        assert_true(step_m <= 1.5 + 1e-3);
        way_m += step_m;
    }
    assert_true(way_m > 0.5 * SAMPLES); /* pauses are short against ways */
    for (uint64_t i = SAMPLES - 1; i <= SAMPLES; i++) {
        double when = -1.0;
        osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, 0);
        assert_int_equal(fixture_end(f, vt->time_of(f->instance.self, c, i, &when)), OSAFL_OK);
        assert_true(when == (i < SAMPLES ? SAMPLES - 1.0 : 0.0));
        assert_int_equal(dataset_client(f, i), i / SAMPLES);
    }
    fixture_close(f);
}

/* A walk is seldom interrupted: at a metre's distance the line of sight is nearly always the same,
 * and near the base station there is one. */
static void blockage_is_that_of_the_place(void **state)
{
    (void)state;
    const char *const settings[][2] = {
        {"clients", "10"}, {"noise_m", "0"}, {"target", "blockage"}, {NULL, NULL}};
    static float x[SAMPLES * FEATURES];
    static int32_t label[SAMPLES];
    struct fixture *f = open_beams(settings);
    uint32_t changes = 0;
    uint32_t blocked = 0;
    for (uint64_t u = 0; u < 10; u++) {
        read_range(f, OSAFL_SPLIT_TRAIN, u * SAMPLES, SAMPLES, x, label);
        for (uint32_t k = 0; k < SAMPLES; k++) {
            changes += k > 0 && label[k] != label[k - 1];
            blocked += label[k] == 1;
            assert_true(label[k] == 0 || RADIUS_M * x[(size_t)k * FEATURES + 2] > 18.0f);
        }
    }
    assert_true(changes > 10 && changes < 10 * SAMPLES / 10);
    assert_true(blocked > SAMPLES && blocked < 9 * SAMPLES);
    fixture_close(f);
}

static void noise_moves_the_position_and_not_the_label(void **state)
{
    (void)state;
    static float x[SAMPLES * FEATURES];
    static float noisy[SAMPLES * FEATURES];
    static int32_t label[SAMPLES];
    static int32_t same[SAMPLES];
    struct fixture *f = open_beams(exact);
    read_range(f, OSAFL_SPLIT_TRAIN, 0, SAMPLES, x, label);
    fixture_set(f, "noise_m", "5");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    read_range(f, OSAFL_SPLIT_TRAIN, 0, SAMPLES, noisy, same);
    assert_memory_equal(label, same, sizeof label);
    double squares = 0.0;
    for (uint32_t k = 0; k < SAMPLES * FEATURES; k += FEATURES)
        for (uint32_t axis = 0; axis < 2; axis++) {
            const double error_m = RADIUS_M * (double)(noisy[k + axis] - x[k + axis]);
            squares += error_m * error_m / (2 * SAMPLES);
        }
    assert_true(fabs(squares / 25.0 - 1.0) < 5.0 * sqrt(1.0 / SAMPLES));
    fixture_close(f);
}

static void samples_depend_on_the_variant_and_not_on_the_seed(void **state)
{
    (void)state;
    static float x[3][SAMPLES * FEATURES];
    static int32_t label[SAMPLES];
    struct fixture *f = open_beams(exact);
    read_range(f, OSAFL_SPLIT_TRAIN, 0, SAMPLES, x[0], label);
    f->context.seed = 99;
    assert_int_equal(dataset_create(f), OSAFL_OK);
    read_range(f, OSAFL_SPLIT_TRAIN, 0, SAMPLES, x[1], label);
    fixture_set(f, "variant", "1");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    read_range(f, OSAFL_SPLIT_TRAIN, 0, SAMPLES, x[2], label);
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    assert_memory_not_equal(x[0], x[2], sizeof x[0]);
    fixture_close(f);
}

static void sizes_that_cannot_be_are_refused(void **state)
{
    (void)state;
    struct fixture *f = fixture_open("dataset", "beams");
    fixture_set(f, "clients", "1000000");
    expect_refusal(f, OSAFL_E_CONFIG, "lower one of them");
    f = fixture_open("dataset", "beams");
    fixture_set(f, "interval_s", "1e6");
    expect_refusal(f, OSAFL_E_CONFIG, "waypoints");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_its_samples),
        cmocka_unit_test(best_beam_is_that_of_the_direction),
        cmocka_unit_test(samples_lie_on_the_ways_of_clients),
        cmocka_unit_test(blockage_is_that_of_the_place),
        cmocka_unit_test(noise_moves_the_position_and_not_the_label),
        cmocka_unit_test(samples_depend_on_the_variant_and_not_on_the_seed),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
