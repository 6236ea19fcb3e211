/* Data set csv: columns and their roles, classes, splits, standardisation, and every way in which a
 * table is wrong. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dataset_fixture.h"

static const char iris[] = "length,width,species\n"
                           "5.1,3.5,setosa\n"
                           "7.0,3.2,versicolor\n"
                           "6.3,3.3, virginica \n"
                           "4.9,3.0,setosa\n";

static struct fixture *open_csv(const char *name)
{
    struct fixture *f = fixture_open("dataset", "csv");
    fixture_set(f, "path", in_folder(name));
    fixture_set(f, "standardise", "false");
    return f;
}

/* A table whose test samples come from a copy of it, so that its rows keep their places. */
static struct fixture *open_table(const char *text)
{
    write_text("train.csv", text);
    struct fixture *f = open_csv("train.csv");
    fixture_set(f, "test_path", in_folder("train.csv"));
    return f;
}

static void check_sample(struct fixture *f, uint64_t i, const float *expected, uint32_t n,
                         int32_t label)
{
    float x[16];
    int32_t got;
    dataset_read(f, OSAFL_SPLIT_TRAIN, &i, 1, x, &got);
    assert_int_equal(got, label);
    assert_int_equal(dataset_label(f, i), label);
    assert_memory_equal(x, expected, n * sizeof *x);
}

static void takes_the_last_column_as_label(void **state)
{
    (void)state;
    struct fixture *f = open_table(iris);
    assert_int_equal(dataset_create(f), OSAFL_OK);
    const osafl_dataset_info info = dataset_describe(f);
    EXPECT_SHAPE(info, 2);
    assert_int_equal(info.labels, 3);
    assert_int_equal(info.n_train, 4);
    assert_int_equal(info.n_test, 4);
    assert_string_equal(info.label_names[0], "setosa");
    assert_string_equal(info.label_names[2], "virginica");
    check_sample(f, 1, (const float[]){7.0F, 3.2F}, 2, 1);
    check_sample(f, 2, (const float[]){6.3F, 3.3F}, 2, 2);
    assert_int_equal(dataset_client(f, 0), OSAFL_NO_CLIENT);
    fixture_close(f);
}

static void finds_columns_by_name_and_by_number(void **state)
{
    (void)state;
    struct fixture *f = open_table("id;who;digit;a;b\n1;x;10;1;2\n2;y;9;3;4\n3;x;10;5;6\n");
    fixture_set(f, "separator", "semicolon");
    fixture_set(f, "label", "digit");
    fixture_set(f, "client", "who");
    fixture_set(f, "ignore", "id");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    osafl_dataset_info info = dataset_describe(f);
    EXPECT_SHAPE(info, 2);
    /* Classes are ordered as numbers, where all are numbers. */
    assert_string_equal(info.label_names[0], "9");
    check_sample(f, 0, (const float[]){1, 2}, 2, 1);
    check_sample(f, 1, (const float[]){3, 4}, 2, 0);
    assert_int_equal(dataset_client(f, 0), 0);
    assert_int_equal(dataset_client(f, 1), 1);
    assert_int_equal(dataset_client(f, 2), 0);
    fixture_close(f);

    f = open_table("T,2,8\nI,5,12\n");
    fixture_set(f, "label", "1");
    fixture_set(f, "header", "no");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    check_sample(f, 0, (const float[]){2, 8}, 2, 1);
    fixture_close(f);

    /* A header whose names are numbers must be announced. */
    f = open_table("label,0,1\n7,2,8\n5,5,12\n");
    fixture_set(f, "label", "label");
    fixture_set(f, "header", "yes");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    check_sample(f, 0, (const float[]){2, 8}, 2, 1);
    fixture_close(f);
}

static struct fixture *open_times(const char *text, const char *missing)
{
    struct fixture *f = open_table(text);
    fixture_set(f, "time", "at");
    fixture_set(f, "missing", missing);
    return f;
}

/* Times are no features, and keep the digits that a float would lose. */
static void reads_times(void **state)
{
    (void)state;
    const char *table = "at,f,y\n1260759144,1,a\n -2.5 ,2,b\nNA,3,a\n1260759145,4,b\n";
    struct fixture *f = open_times(table, "drop");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    const osafl_dataset_info info = dataset_describe(f);
    EXPECT_SHAPE(info, 1);
    assert_int_equal(info.n_train, 3);
    assert_true(dataset_time(f, 0) == 1260759144.0);
    assert_true(dataset_time(f, 1) == -2.5);
    assert_true(dataset_time(f, 2) == 1260759145.0);
    fixture_close(f);
    f = open_table("f,y\n1,a\n2,b\n");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    assert_true(isnan(dataset_time(f, 0)));
    fixture_close(f);

    expect_refusal(open_times(table, "refuse"), OSAFL_E_DATA,
                   "train.csv:4: the time is missing; complete it, or leave all rows with missing "
                   "values out: dataset.csv.missing = \"drop\"");
    expect_refusal(open_times(table, "mean"), OSAFL_E_DATA, "train.csv:4: the time is missing");
    expect_refusal(open_times("at,f,y\n1,1,a\n2015-01-01,2,b\n", "drop"), OSAFL_E_DATA,
                   "train.csv:3: a time must be a number, such as seconds since 1970, not "
                   "\"2015-01-01\" in column 1 (\"at\")");
    expect_refusal(open_times("at,f,y\n1,1,a\ninf,2,b\n", "drop"), OSAFL_E_DATA,
                   "train.csv:3: a time must be a number");
    expect_refusal(open_times("when,f,y\n1,1,a\n", "refuse"), OSAFL_E_CONFIG,
                   "dataset.csv.time: no column is named \"at\"");
    f = open_times("at,f,y\n1,1,a\n2,1,b\n", "refuse");
    fixture_set(f, "client", "at");
    expect_refusal(f, OSAFL_E_CONFIG, "dataset.csv.time: column \"at\" has another role already");
}

static void takes_line_breaks_within_quotes(void **state)
{
    (void)state;
    struct fixture *f = open_table("\xef\xbb\xbf\"na\nme\",f,y\r\n\"a \"\"x\"\",\r\n\nb\",1,p\r\n"
                                   "# it is \"open,\"\r\nc,2,\"q\"\r\n\"\"\"\n\"\"\",3,p\r\n");
    fixture_set(f, "ignore", "na me");
    fixture_set(f, "comment", "#");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    const osafl_dataset_info info = dataset_describe(f);
    assert_int_equal(info.n_train, 3);
    assert_string_equal(info.label_names[1], "q");
    check_sample(f, 0, (const float[]){1}, 1, 0);
    check_sample(f, 1, (const float[]){2}, 1, 1);
    check_sample(f, 2, (const float[]){3}, 1, 0);
    fixture_close(f);
    /* Lines are counted as an editor does. */
    f = open_table("n,f,y\n\"a\n\nb\",1,p\nc,x,q\n");
    fixture_set(f, "ignore", "n");
    expect_refusal(f, OSAFL_E_DATA, "train.csv:5: column 2 (\"f\") holds \"x\"");
    f = open_table("n,f,y\nd,1,p\n\"a\n\nb\",x,q\n");
    fixture_set(f, "ignore", "n");
    expect_refusal(f, OSAFL_E_DATA, "train.csv:3: column 2 (\"f\") holds \"x\"");
}

static void makes_pictures_of_rows(void **state)
{
    (void)state;
    struct fixture *f = open_table("1,2,3,4,5,6,7,8,a\n8,7,6,5,4,3,2,1,b\n");
    fixture_set(f, "channels", "2");
    fixture_set(f, "height", "2");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    const osafl_dataset_info info = dataset_describe(f);
    EXPECT_SHAPE(info, 2, 2, 2);
    fixture_close(f);
    f = open_table("1,2,3,a\n4,5,6,b\n");
    fixture_set(f, "height", "2");
    expect_refusal(f, OSAFL_E_CONFIG, "3 features do not make 1 channels of height 2");
}

/* Test, validation and training samples of one table: each sample in one split; the test split
 * does not depend on the size of the validation split. */
static void holds_test_samples_out(void **state)
{
    (void)state;
    enum { ROWS = 500 };
    char *text = malloc(ROWS * 32);
    assert_non_null(text);
    size_t n = 0;
    for (int i = 0; i < ROWS; i++)
        n += (size_t)sprintf(text + n, "%d,%s\n", i, i % 3 == 0 ? "a" : "b");
    write_gzip("table.csv.gz", text, n);
    free(text);
    float test[2][100];
    for (int with = 0; with < 2; with++) {
        struct fixture *f = open_csv("table.csv.gz");
        f->context.seed = 1 + (uint64_t)with;
        fixture_set(f, "validation", with ? "50" : "0");
        assert_int_equal(dataset_create(f), OSAFL_OK);
        const osafl_dataset_info info = dataset_describe(f);
        assert_int_equal(info.n_test, 100);
        assert_int_equal(info.n_validation, with ? 50 : 0);
        assert_int_equal(info.n_train, with ? 350 : 400);
        const uint64_t sizes[] = {info.n_train, info.n_validation, info.n_test};
        bool seen[ROWS] = {false};
        for (uint32_t split = 0; split < 3; split++) {
            float before = -1.0F;
            for (uint64_t i = 0; i < sizes[split]; i++) {
                float x;
                int32_t label;
                dataset_read(f, OSAFL_SPLIT_TRAIN + split, &i, 1, &x, &label);
                assert_int_equal(label, (int)x % 3 == 0 ? 0 : 1);
                assert_false(seen[(int)x]);
                seen[(int)x] = true;
                assert_true(x > before); /* the file's order */
                before = x;
                if (split == 2)
                    test[with][i] = x;
            }
        }
        /* Not simply the end of the file, which may be sorted. */
        assert_true(test[with][0] < 50 && test[with][99] > 450);
        fixture_close(f);
    }
    assert_memory_equal(test[0], test[1], sizeof test[0]);
}

/* Mean 0, deviation 1 over the training samples; the test samples are shifted alike. */
static void standardises_by_the_training_samples(void **state)
{
    (void)state;
    write_text("train.csv", "1,5,7,a\n3,5,8,b\n5,5,12,b\n");
    write_text("test.csv", "3,6,9,a\n7,5,0,b\n");
    struct fixture *f = open_csv("train.csv");
    fixture_set(f, "test_path", in_folder("test.csv"));
    fixture_set(f, "standardise", "true");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    double sum[3] = {0};
    double squares[3] = {0};
    float x[3];
    int32_t label;
    for (uint64_t i = 0; i < 3; i++) {
        dataset_read(f, OSAFL_SPLIT_TRAIN, &i, 1, x, &label);
        for (int j = 0; j < 3; j++) {
            sum[j] += (double)x[j];
            squares[j] += (double)x[j] * (double)x[j];
        }
    }
    for (int j = 0; j < 3; j++)
        assert_true(fabs(sum[j]) < 1e-6 && fabs(squares[j] - (j == 1 ? 0.0 : 3.0)) < 1e-5);
    dataset_read(f, OSAFL_SPLIT_TEST, (const uint64_t[]){0}, 1, x, &label);
    assert_true(x[0] == 0.0F && x[1] == 0.0F && x[2] == 0.0F); /* 3, constant, 9 */
    dataset_read(f, OSAFL_SPLIT_TEST, (const uint64_t[]){1}, 1, x, &label);
    assert_float_equal(x[0], 4.0F / sqrtf(8.0F / 3.0F), 1e-6);
    fixture_close(f);
}

static void refuse_table(const char *text, const char *message)
{
    expect_refusal(open_table(text), OSAFL_E_DATA, message);
}

static void names_line_and_column_of_what_is_wrong(void **state)
{
    (void)state;
    refuse_table("", "train.csv: holds no sample");
    refuse_table("a,b,c\n", "train.csv: holds no sample");
    refuse_table("1,2,a\n1,b\n", "train.csv:2: has 2 columns, the first row 3");
    refuse_table("1,2,a\n1\n", "train.csv:2: has 1 column, the first row 3");
    refuse_table("1,2,a\n1,2,3,b\n", "train.csv:2: has 4 columns, the first row 3");
    refuse_table("1,2,a\n1,,b\n", "train.csv:2: column 2 holds \"\", which is not a finite number");
    refuse_table("1,2,a\n1,x,b\n", "train.csv:2: column 2 holds \"x\"");
    refuse_table("1,2,a\n1,inf,b\n", "train.csv:2: column 2 holds \"inf\"");
    refuse_table("1,2,a\n1,1e300,b\n", "train.csv:2: too large for a 32-bit float: \"1e300\"");
    refuse_table("1,2,a\n1,2,\n", "train.csv:2: the label is empty; complete it");
    refuse_table("1,2,a\n3,4,a\n", "all samples have the label \"a\"");
    refuse_table("1;2;a\n3;4;b\n", "has no column of features; is the separator right?");
    refuse_table("1,2,a\n\"3,4,b\n5,6,a\n", "train.csv:2: has a quote that is not closed");

    char *text = malloc(20000 * 16);
    assert_non_null(text);
    size_t n = 0;
    for (int i = 0; i < 20000; i++)
        n += (size_t)sprintf(text + n, "1,%d\n", i);
    refuse_table(text, "train.csv:10001: more than 10000 different labels");
    free(text);
}

static void refuses_settings_that_do_not_fit(void **state)
{
    (void)state;
    struct fixture *f = open_table(iris);
    fixture_set(f, "label", "color");
    expect_refusal(f, OSAFL_E_CONFIG, "dataset.csv.label: no column is named \"color\"");
    f = open_table(iris);
    fixture_set(f, "client", "species");
    expect_refusal(f, OSAFL_E_CONFIG, "column \"species\" has another role already");
    f = open_table(iris);
    fixture_set(f, "ignore", "length, height");
    expect_refusal(f, OSAFL_E_CONFIG, "dataset.csv.ignore: no column is named \"height\"");
    f = open_table("1,2,a\n3,4,b\n");
    fixture_set(f, "label", "4");
    expect_refusal(f, OSAFL_E_CONFIG, "\"4\" is not a column number");
    f = open_table(iris);
    fixture_set(f, "validation", "4");
    expect_refusal(f, OSAFL_E_CONFIG, "4 samples for validation leave nothing of the 4");
}

static void refuses_a_test_table_that_does_not_fit(void **state)
{
    (void)state;
    write_text("train.csv", iris);
    const char *const tables[][2] = {
        {"length,width,species\n1,2,rose\n",
         "test.csv:2: no training sample has the label \"rose\""},
        {"length,species\n1,setosa\n", "test.csv: has 1 features"},
        {"width,length,species\n1,2,setosa\n", "test.csv: its features have other names"},
        {"", "test.csv: holds no sample"},
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        write_text("test.csv", tables[i][0]);
        struct fixture *f = open_csv("train.csv");
        fixture_set(f, "test_path", in_folder("test.csv"));
        expect_refusal(f, OSAFL_E_DATA, tables[i][1]);
    }
    struct fixture *f = open_csv("train.csv");
    fixture_set(f, "test_path", in_folder("missing.csv"));
    expect_refusal(f, OSAFL_E_IO, "missing.csv: cannot be opened: No such file");
    expect_refusal(open_csv("missing.csv"), OSAFL_E_IO, "missing.csv: cannot be opened");
}

static void refuses_damaged_gzip_files(void **state)
{
    (void)state;
    write_gzip("table.csv.gz", iris, sizeof iris - 1);
    FILE *file = fopen(in_folder("table.csv.gz"), "rb");
    assert_non_null(file);
    unsigned char gz[512];
    const size_t n = fread(gz, 1, sizeof gz, file);
    assert_int_equal(fclose(file), 0);
    write_plain("table.csv.gz", gz, n - 9);
    expect_refusal(open_csv("table.csv.gz"), OSAFL_E_DATA, "damaged or cut off");
    gz[n - 7] ^= 4;
    write_plain("table.csv.gz", gz, n);
    expect_refusal(open_csv("table.csv.gz"), OSAFL_E_DATA, "damaged or cut off");
    write_text("table.csv.gz", iris);
    expect_refusal(open_csv("table.csv.gz"), OSAFL_E_DATA, "is named .gz but holds no gzip data");
}

#define WITH_FOLDER(test)                                                                          \
    cmocka_unit_test_setup_teardown(test, make_test_folder, remove_test_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(takes_the_last_column_as_label),
        WITH_FOLDER(finds_columns_by_name_and_by_number),
        WITH_FOLDER(reads_times),
        WITH_FOLDER(takes_line_breaks_within_quotes),
        WITH_FOLDER(makes_pictures_of_rows),
        WITH_FOLDER(holds_test_samples_out),
        WITH_FOLDER(standardises_by_the_training_samples),
        WITH_FOLDER(names_line_and_column_of_what_is_wrong),
        WITH_FOLDER(refuses_settings_that_do_not_fit),
        WITH_FOLDER(refuses_a_test_table_that_does_not_fit),
        WITH_FOLDER(refuses_damaged_gzip_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
