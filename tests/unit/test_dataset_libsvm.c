/* Data set libsvm: sparse samples, classes, splits, and every way in which a line is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dataset_fixture.h"

static struct fixture *open_file(const char *text)
{
    struct fixture *f = fixture_open("dataset", "libsvm");
    write_text("train", text);
    fixture_set(f, "path", in_folder("train"));
    fixture_set(f, "test_path", in_folder("train"));
    return f;
}

static void expect_samples(struct fixture *f, uint32_t n, uint32_t width, const float *x,
                           const int32_t *labels)
{
    if (dataset_create(f) != OSAFL_OK)
        fail_msg("refused: %s", f->error.text);
    const osafl_dataset_info info = dataset_describe(f);
    assert_int_equal(info.n_train, n);
    assert_int_equal(info.shape[info.rank - 1], width);
    for (uint64_t i = 0; i < n; i++) {
        float got[16];
        int32_t label;
        dataset_read(f, OSAFL_SPLIT_TRAIN, &i, 1, got, &label);
        assert_memory_equal(got, x + i * width, width * sizeof *x);
        assert_int_equal(label, labels[i]);
    }
}

static void reads_sparse_samples(void **state)
{
    (void)state;
    const char *text = "# made by hand\n"
                       "+1 1:0.5 4:-2e1  \n"
                       "\n"
                       "-1\t3:1 # a note\n"
                       "1.0\n";
    const float x[] = {0.5F, 0, 0, -20, 0, 0, 1, 0, 0, 0, 0, 0};
    struct fixture *f = open_file(text);
    expect_samples(f, 3, 4, x, (const int32_t[]){1, 0, 1});
    const osafl_dataset_info info = dataset_describe(f);
    assert_int_equal(info.labels, 2);
    assert_int_equal(info.n_test, 3);
    assert_string_equal(info.label_names[0], "-1");
    assert_string_equal(info.label_names[1], "1");
    fixture_close(f);

    f = open_file("0 0:1 2:3\n1 1:2\n");
    fixture_set(f, "first_index", "0");
    fixture_set(f, "features", "4");
    fixture_set(f, "height", "2");
    expect_samples(f, 2, 2, (const float[]){1, 0, 0, 2}, (const int32_t[]){0, 1});
    const osafl_dataset_info lines = dataset_describe(f);
    EXPECT_SHAPE(lines, 2, 2);
    fixture_close(f);
}

/* The number of features is that of both files. */
static void reads_a_test_file(void **state)
{
    (void)state;
    write_text("test", "2 5:1\n");
    struct fixture *f = open_file("1 1:1\n2 2:1\n3 1:2\n");
    fixture_set(f, "test_path", in_folder("test"));
    expect_samples(f, 3, 5, (const float[]){1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0},
                   (const int32_t[]){0, 1, 2});
    float x[5];
    int32_t label;
    dataset_read(f, OSAFL_SPLIT_TEST, (const uint64_t[]){0}, 1, x, &label);
    assert_int_equal(label, 1);
    assert_true(x[4] == 1.0F && x[1] == 0.0F);
    fixture_close(f);
    write_text("test", "2 1:1\n7 1:1\n");
    f = open_file("1 1:1\n2 2:1\n");
    fixture_set(f, "test_path", in_folder("test"));
    expect_refusal(f, OSAFL_E_DATA, "test: no training sample has the label 7 of sample 1");

    f = open_file("1 1:1\n2 1:3\n1 1:5\n2 1:7\n1 1:9\n");
    fixture_set(f, "test_path", "");
    fixture_set(f, "validation", "1");
    fixture_set(f, "standardise", "true");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    assert_int_equal(dataset_describe(f).n_train, 3);
    assert_int_equal(dataset_describe(f).n_validation, 1);
    assert_int_equal(dataset_describe(f).n_test, 1);
    float sum = 0.0F;
    for (uint64_t i = 0; i < 3; i++) {
        dataset_read(f, OSAFL_SPLIT_TRAIN, &i, 1, x, &label);
        sum += x[0];
    }
    assert_float_equal(sum, 0.0F, 1e-6);
    fixture_close(f);
}

static void names_line_and_field_of_what_is_wrong(void **state)
{
    (void)state;
    const char *const cases[][2] = {
        {"", "train: holds no sample"},
        {"# nothing\n", "train: holds no sample"},
        {"1\n2\n", "train: has no feature"},
        {"1 1:1\n1 2:1\n", "train: all samples have the label 1"},
        {"1 1:1\nspam 2:1\n", "train:2: \"spam\" is not a label: a sample begins with one number"},
        {"1,2 1:1\n", "train:1: \"1,2\" is not a label"},
        {"1:1 2:1\n", "train:1: \"1:1\" is not a label"},
        {"1 0:1\n",
         "train:1: \"0:1\" comes before the first feature; where indices begin at 0, set "
         "dataset.libsvm.first_index = 0"},
        {"1 1\n", "train:1: \"1\" is not a feature; write index:value"},
        {"1 qid:2 1:1\n", "\"qid:2\" is not a feature: index and value are finite numbers"},
        {"1 1:nan\n", "\"1:nan\" is not a feature: index and value are finite numbers"},
        {"1 1.5:1\n", "\"1.5:1\" is not a feature"},
        {"1 -1:1\n", "\"-1:1\" is not a feature"},
        {"1 2:1 1:1\n", "\"1:1\" comes after a feature of the same or a larger index"},
        {"1 2:1 2:1\n", "\"2:1\" comes after a feature of the same"},
        {"1 1:1e39\n", "\"1:1e39\" is too large for a 32-bit float"},
        {"1 99999999:1\n", "has an index beyond 1000000, the most that can be used"},
        {"0.1 1:1\n0.2 1:1\n0.3 1:1\n", "the labels do not look like classes: 3 different numbers "
                                        "(such as 0.1, 0.2) for 3 samples"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_refusal(open_file(cases[i][0]), OSAFL_E_DATA, cases[i][1]);
    struct fixture *f = open_file("1 3:1\n2 1:1\n");
    fixture_set(f, "features", "2");
    expect_refusal(f, OSAFL_E_DATA, "\"3:1\" has an index beyond dataset.libsvm.features");
    f = open_file("1 3:1\n2 1:1\n");
    fixture_set(f, "classes", "3");
    expect_refusal(f, OSAFL_E_DATA, "has 2 different labels, dataset.libsvm.classes says 3");
    f = open_file("1 3:1\n2 1:1\n");
    fixture_set(f, "height", "2");
    expect_refusal(f, OSAFL_E_CONFIG, "3 features do not make 1 channels of height 2");
    f = open_file("0.1 1:1\n0.2 1:1\n0.3 1:1\n");
    fixture_set(f, "classes", "3");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    fixture_close(f);
}

#define WITH_FOLDER(test)                                                                          \
    cmocka_unit_test_setup_teardown(test, make_test_folder, remove_test_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(reads_sparse_samples),
        WITH_FOLDER(reads_a_test_file),
        WITH_FOLDER(names_line_and_field_of_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
