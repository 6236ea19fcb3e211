/* Data set glyphs: samples are functions of variant, split and number, and nothing else. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dataset_fixture.h"

#define PIXELS 784

static struct fixture *open_glyphs(const char *parameter, const char *value)
{
    struct fixture *f = fixture_open("dataset", "glyphs");
    if (parameter != NULL)
        fixture_set(f, parameter, value);
    assert_int_equal(dataset_create(f), OSAFL_OK);
    return f;
}

static void read_one(struct fixture *f, uint32_t split, uint64_t index, float *x)
{
    int32_t label;
    dataset_read(f, split, &index, 1, x, &label);
    assert_int_equal(label, index % 10);
}

static void describes_an_endless_set(void **state)
{
    (void)state;
    struct fixture *f = open_glyphs("validation", "30");
    const osafl_dataset_info info = dataset_describe(f);
    EXPECT_SHAPE(info, 1, 28, 28);
    assert_int_equal(info.target_type, OSAFL_TARGET_CLASS);
    assert_int_equal(info.target_size, 10);
    assert_int_equal(info.labels, 10);
    assert_true(info.n_train == OSAFL_ENDLESS);
    assert_int_equal(info.n_validation, 30);
    assert_int_equal(info.n_test, 2000);
    assert_string_equal(info.label_names[7], "7");
    fixture_close(f);
}

static void finds_samples_by_label(void **state)
{
    (void)state;
    struct fixture *f = open_glyphs(NULL, NULL);
    const osafl_dataset_vt *vt = fixture_vtable(f);
    const uint64_t ordinals[] = {0, 1, 2, 12345, UINT64_MAX / 10 - 1};
    for (int32_t label = 0; label < 10; label++)
        for (size_t i = 0; i < sizeof ordinals / sizeof ordinals[0]; i++) {
            uint64_t sample = 0;
            osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, 0);
            assert_int_equal(
                fixture_end(f, vt->sample_of(f->instance.self, c, label, ordinals[i], &sample)),
                OSAFL_OK);
            assert_int_equal(dataset_label(f, sample), label);
            assert_true(sample / 10 == ordinals[i]);
        }
    fixture_close(f);
}

static void samples_depend_on_nothing_but_their_number(void **state)
{
    (void)state;
    struct fixture *f = open_glyphs(NULL, NULL);
    struct fixture *g = open_glyphs(NULL, NULL);
    g->context.seed = 99;
    static float forward[4 * PIXELS];
    static float backward[4 * PIXELS];
    int32_t label[4];
    dataset_read(f, OSAFL_SPLIT_TRAIN, (const uint64_t[]){5, 1u << 31, 7, 5}, 4, forward, label);
    dataset_read(g, OSAFL_SPLIT_TRAIN, (const uint64_t[]){5, 7, 1u << 31, 5}, 4, backward, label);
    const size_t bytes = PIXELS * sizeof(float);
    assert_memory_equal(forward, backward, bytes);
    assert_memory_equal(forward + PIXELS, backward + 2 * PIXELS, bytes);
    assert_memory_equal(forward + 2 * PIXELS, backward + PIXELS, bytes);
    assert_memory_equal(forward, forward + 3 * PIXELS, bytes);
    fixture_close(f);
    fixture_close(g);
}

static void variants_splits_and_numbers_differ(void **state)
{
    (void)state;
    struct fixture *f = open_glyphs("validation", "20");
    struct fixture *g = open_glyphs("variant", "4294967296");
    static float x[5][PIXELS];
    read_one(f, OSAFL_SPLIT_TRAIN, 3, x[0]);
    read_one(f, OSAFL_SPLIT_VALIDATION, 3, x[1]);
    read_one(f, OSAFL_SPLIT_TEST, 3, x[2]);
    read_one(g, OSAFL_SPLIT_TRAIN, 3, x[3]);
    read_one(f, OSAFL_SPLIT_TRAIN, 3 + ((uint64_t)10 << 32), x[4]);
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 5; j++)
            assert_memory_not_equal(x[i], x[j], sizeof x[0]);
    fixture_close(f);
    fixture_close(g);
}

static void pixels_are_finite_and_in_range(void **state)
{
    (void)state;
    const char *const settings[][2] = {{"distortion", "0"},
                                       {"distortion", "2"},
                                       {"noise", "0"},
                                       {"noise", "1"},
                                       {"scratches", "0"}};
    for (size_t s = 0; s < sizeof settings / sizeof settings[0]; s++) {
        struct fixture *f = open_glyphs(settings[s][0], settings[s][1]);
        const float noise = s == 2 ? 0.0F : s == 3 ? 1.0F : 0.2F;
        static float x[PIXELS];
        for (uint64_t i = 0; i < 300; i++) {
            read_one(f, OSAFL_SPLIT_TRAIN, i, x);
            float most = -2.0F;
            for (int j = 0; j < PIXELS; j++) {
                assert_true(x[j] >= -1.0F - noise && x[j] <= 1.0F + noise);
                most = fmaxf(most, x[j]);
            }
            assert_true(most > 0.0F); /* something was drawn */
        }
        fixture_close(f);
    }
}

/* The bits of the first samples, as they were when this was written: another compiler, processor
 * or optimisation must draw the same. */
static void draws_the_same_bits_everywhere(void **state)
{
    (void)state;
    struct fixture *f = open_glyphs(NULL, NULL);
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a over the words */
    static float x[PIXELS];
    for (uint64_t i = 0; i < 200; i++) {
        read_one(f, OSAFL_SPLIT_TRAIN, i, x);
        for (int j = 0; j < PIXELS; j++) {
            uint32_t word;
            memcpy(&word, &x[j], sizeof word);
            hash = (hash ^ word) * 0x100000001b3u;
        }
    }
    assert_true(hash == 0x8fcb82301e9f96d6u);
    fixture_close(f);
}

/* A nearest-mean classifier does better than chance and worse than a convolutional network: the
 * digits are digits, and not told apart by counting pixels. */
static void means_do_not_tell_digits_apart(void **state)
{
    (void)state;
    enum { TRAIN = 3000, TEST = 1000 };
    struct fixture *f = open_glyphs(NULL, NULL);
    static double mean[10][PIXELS];
    static float x[PIXELS];
    memset(mean, 0, sizeof mean);
    for (uint64_t i = 0; i < TRAIN; i++) {
        read_one(f, OSAFL_SPLIT_TRAIN, i, x);
        for (int j = 0; j < PIXELS; j++)
            mean[i % 10][j] += (double)x[j] / (TRAIN / 10);
    }
    uint32_t right = 0;
    for (uint64_t i = 0; i < TEST; i++) {
        read_one(f, OSAFL_SPLIT_TEST, i, x);
        double best = INFINITY;
        uint64_t answer = 0;
        for (uint64_t digit = 0; digit < 10; digit++) {
            double distance = 0.0;
            for (int j = 0; j < PIXELS; j++) {
                const double d = (double)x[j] - mean[digit][j];
                distance += d * d;
            }
            if (distance < best) {
                best = distance;
                answer = digit;
            }
        }
        right += answer == i % 10;
    }
    print_message("nearest mean: %u of %d\n", right, TEST);
    assert_in_range(right, 400, 800);
    fixture_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_an_endless_set),
        cmocka_unit_test(finds_samples_by_label),
        cmocka_unit_test(samples_depend_on_nothing_but_their_number),
        cmocka_unit_test(variants_splits_and_numbers_differ),
        cmocka_unit_test(pixels_are_finite_and_in_range),
        cmocka_unit_test(draws_the_same_bits_everywhere),
        cmocka_unit_test(means_do_not_tell_digits_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
