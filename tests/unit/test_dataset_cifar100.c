/* Data set cifar100: both kinds of labels, names, and what is wrong with files made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cifar_format.h"
#include "dataset_fixture.h"

#define RECORD (2 + CIFAR_PIXELS)
#define TRAIN 50000
#define TEST 10000

static unsigned char
    *records; /* TRAIN * RECORD: group i % 20, class i % 100, the first pixel is i */

static int write_files(void **state)
{
    if (make_test_folder(state) != 0)
        return -1;
    records = calloc(TRAIN, RECORD);
    if (records == NULL)
        return -1;
    for (uint32_t i = 0; i < TRAIN; i++) {
        unsigned char *record = records + (size_t)i * RECORD;
        record[0] = (unsigned char)(i % 20);
        record[1] = (unsigned char)(i % 100);
        record[2] = (unsigned char)i;
    }
    write_gzip("train.bin.gz", records, (size_t)TRAIN * RECORD);
    write_plain("test.bin", records, (size_t)TEST * RECORD);
    return 0;
}

static int remove_files(void **state)
{
    free(records);
    return remove_test_folder(state);
}

static struct fixture *open_cifar100(void)
{
    struct fixture *f = fixture_open("dataset", "cifar100");
    fixture_set(f, "path", test_folder);
    return f;
}

static void reads_both_kinds_of_labels(void **state)
{
    (void)state;
    char names[2048] = "";
    for (int i = 0; i < 100; i++)
        (void)snprintf(names + strlen(names), sizeof names - strlen(names), "class %d\n", i);
    write_text("fine_label_names.txt", names);
    static float x[CIFAR_PIXELS];
    int32_t label;
    struct fixture *f = open_cifar100();
    fixture_set(f, "validation", "1000");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    osafl_dataset_info info = dataset_describe(f);
    EXPECT_SHAPE(info, 3, 32, 32);
    assert_int_equal(info.labels, 100);
    assert_int_equal(info.n_train, 49000);
    assert_int_equal(info.n_test, 10000);
    assert_string_equal(info.label_names[99], "class 99");
    dataset_read(f, OSAFL_SPLIT_TEST, (const uint64_t[]){1255}, 1, x, &label);
    assert_int_equal(label, 55);
    assert_float_equal(x[0], (float)(1255 % 256) / 127.5F - 1.0F, 1e-6);
    assert_true(x[1] == -1.0F);
    fixture_close(f);

    f = open_cifar100();
    fixture_set(f, "labels", "coarse");
    fixture_set(f, "pixels", "raw");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    info = dataset_describe(f);
    assert_int_equal(info.labels, 20);
    assert_null(info.label_names);
    dataset_read(f, OSAFL_SPLIT_TEST, (const uint64_t[]){1255}, 1, x, &label);
    assert_int_equal(label, 15);
    assert_true(x[0] == 1255 % 256);
    assert_int_equal(dataset_label(f, 49999), 19);
    fixture_close(f);
}

static void names_what_is_wrong(void **state)
{
    (void)state;
    write_text("fine_label_names.txt", "cat\ndog\n");
    expect_refusal(open_cifar100(), OSAFL_E_CONFIG,
                   "fine_label_names.txt has 2 names for 100 classes");
    assert_int_equal(unlink(in_folder("fine_label_names.txt")), 0);
    write_plain("test.bin", records, (size_t)TEST * (RECORD - 1));
    expect_refusal(open_cifar100(), OSAFL_E_DATA, "test.bin: is cut off");
    records[(size_t)RECORD * 7 + 1] = 100;
    write_plain("test.bin", records, (size_t)TEST * RECORD);
    expect_refusal(open_cifar100(), OSAFL_E_DATA,
                   "test.bin: record 7 has label 100, outside 0 .. 99; this is not the binary "
                   "version of CIFAR-100");
    assert_int_equal(unlink(in_folder("test.bin")), 0);
    expect_refusal(open_cifar100(), OSAFL_E_IO,
                   "test.bin: no such file, with or without .gz; dataset.cifar100.path must be the "
                   "folder of CIFAR-100's binary version (cifar-100-binary)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_both_kinds_of_labels, write_files, remove_files),
        cmocka_unit_test_setup_teardown(names_what_is_wrong, write_files, remove_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
