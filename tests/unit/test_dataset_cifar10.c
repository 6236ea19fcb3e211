/* Data set cifar10: the record parser on memory, the plugin on files made here, and CIFAR-10 where
 * it is there. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cifar_format.h"
#include "dataset_fixture.h"

#define RECORD (1 + CIFAR_PIXELS)
#define RECORDS 10000

static unsigned char *batch; /* RECORDS * RECORD: label i % 10, the first pixels tell i */

/* Six files, one of them plain; all but the test batch are the same. */
static int write_batches(void **state)
{
    if (make_test_folder(state) != 0)
        return -1;
    batch = calloc(RECORDS, RECORD);
    if (batch == NULL)
        return -1;
    for (uint32_t i = 0; i < RECORDS; i++) {
        unsigned char *record = batch + (size_t)i * RECORD;
        record[0] = (unsigned char)(i % 10);
        record[1] = (unsigned char)(i >> 8);
        record[2] = (unsigned char)i;
        record[1 + 1024] = 255; /* the first green pixel */
    }
    write_plain("data_batch_1.bin", batch, (size_t)RECORDS * RECORD);
    write_gzip("data_batch_2.bin.gz", batch, (size_t)RECORDS * RECORD);
    for (int i = 3; i <= 5; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "data_batch_%d.bin.gz", i);
        if (link(in_folder("data_batch_2.bin.gz"), in_folder(name)) != 0)
            return -1;
    }
    batch[0] = 7;
    write_gzip("test_batch.bin.gz", batch, (size_t)RECORDS * RECORD);
    return 0;
}

static int remove_batches(void **state)
{
    free(batch);
    return remove_test_folder(state);
}

static struct fixture *open_cifar10(const char *path)
{
    struct fixture *f = fixture_open("dataset", "cifar10");
    fixture_set(f, "path", path);
    return f;
}

static void reads_all_batches(void **state)
{
    (void)state;
    struct fixture *f = open_cifar10(test_folder);
    fixture_set(f, "validation", "1000");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    const osafl_dataset_info info = dataset_describe(f);
    EXPECT_SHAPE(info, 3, 32, 32);
    assert_int_equal(info.labels, 10);
    assert_int_equal(info.n_train, 49000);
    assert_int_equal(info.n_validation, 1000);
    assert_int_equal(info.n_test, 10000);
    assert_string_equal(info.label_names[0], "airplane");
    assert_string_equal(info.label_names[9], "truck");

    static float x[CIFAR_PIXELS];
    int32_t label[1];
    dataset_read(f, OSAFL_SPLIT_TEST, (const uint64_t[]){0}, 1, x, label);
    assert_int_equal(label[0], 7);
    assert_true(x[0] == -1.0F && x[1024] == 1.0F);
    dataset_read(f, OSAFL_SPLIT_TEST, (const uint64_t[]){9876}, 1, x, label);
    assert_int_equal(label[0], 6);
    assert_float_equal(x[0], 38.0F / 127.5F - 1.0F, 1e-6);
    assert_float_equal(x[1], 148.0F / 127.5F - 1.0F, 1e-6);
    assert_int_equal(dataset_label(f, 48999), 9); /* the last sample was not held out */
    fixture_close(f);
}

/* Red holds the samples' numbers in two pixels, green 255 in one, blue nothing. */
static void channels_have_their_own_moments(void **state)
{
    (void)state;
    struct fixture *f = open_cifar10(test_folder);
    fixture_set(f, "pixels", "standard");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    static float x[CIFAR_PIXELS];
    int32_t label[1];
    dataset_read(f, OSAFL_SPLIT_TEST, (const uint64_t[]){0}, 1, x, label);
    /* One in 1024: the mean is 1 / 1024, the variance 1023 / 1024^2. */
    assert_float_equal(x[1024], sqrtf(1023.0F), 1e-4);
    assert_float_equal(x[1025], -1.0F / sqrtf(1023.0F), 1e-6);
    assert_true(x[0] < 0.0F && x[0] == x[1] && x[0] != x[1025]);
    assert_true(x[2048] == 0.0F && x[3071] == 0.0F);
    fixture_close(f);
    f = open_cifar10(test_folder);
    fixture_set(f, "pixels", "unit");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    dataset_read(f, OSAFL_SPLIT_TEST, (const uint64_t[]){9876}, 1, x, label);
    assert_true(x[0] == 38.0F / 255.0F && x[1024] == 1.0F && x[3071] == 0.0F);
    fixture_close(f);
}

static void names_what_is_wrong(void **state)
{
    (void)state;
    expect_refusal(open_cifar10("/nonexistent"), OSAFL_E_IO,
                   "/nonexistent/data_batch_1.bin: no such file, with or without .gz");
    batch[(size_t)RECORD * 123] = 10;
    write_plain("data_batch_1.bin", batch, (size_t)RECORDS * RECORD);
    expect_refusal(open_cifar10(test_folder), OSAFL_E_DATA,
                   "data_batch_1.bin: record 123 has label 10");
    batch[(size_t)RECORD * 123] = 3;
    write_plain("data_batch_1.bin", batch, (size_t)RECORDS * RECORD - 1);
    expect_refusal(open_cifar10(test_folder), OSAFL_E_DATA, "data_batch_1.bin: is cut off");
    write_plain("data_batch_1.bin", batch, (size_t)RECORDS * RECORD);
    assert_int_equal(unlink(in_folder("data_batch_4.bin.gz")), 0);
    expect_refusal(open_cifar10(test_folder), OSAFL_E_IO, "data_batch_4.bin: no such file");
}

static osafl_status parse(const unsigned char *data, size_t n, uint32_t records,
                          struct io_message *m)
{
    static uint8_t pixels[3 * CIFAR_PIXELS];
    int32_t label[3];
    struct byte_source s;
    const struct cifar_version version = {.name = "CIFAR-10", .label_bytes = 1, .classes = 10};
    byte_source_memory(&s, "file", data, n, m);
    const osafl_status status = cifar_read(&s, &version, records, pixels, label);
    byte_source_close(&s);
    return status;
}

static void parser_wants_the_exact_length(void **state)
{
    (void)state;
    static unsigned char data[3 * RECORD];
    struct io_message m;
    assert_int_equal(parse(data, (size_t)2 * RECORD, 2, &m), OSAFL_OK);
    const size_t cuts[] = {0, 1, RECORD - 1, RECORD, RECORD + 1, 2 * RECORD - 1};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        assert_int_equal(parse(data, cuts[i], 2, &m), OSAFL_E_DATA);
        assert_non_null(strstr(m.text, "file: is cut off"));
    }
    assert_int_equal(parse(data, (size_t)2 * RECORD + 1, 2, &m), OSAFL_E_DATA);
    assert_non_null(strstr(m.text, "goes on after"));
    data[RECORD] = 255;
    assert_int_equal(parse(data, (size_t)2 * RECORD, 2, &m), OSAFL_E_DATA);
    assert_non_null(strstr(m.text, "record 1 has label 255"));
}

static void reads_cifar10(void **state)
{
    (void)state;
    const char *path = OSAFL_TEST_SOURCE_DIR "/../shared/data/cifar-10-batches-bin";
    if (access(path, R_OK) != 0) {
        print_message("[  SKIPPED ] %s is not there\n", path);
        skip();
    }
    struct fixture *f = open_cifar10(path);
    assert_int_equal(dataset_create(f), OSAFL_OK);
    uint32_t count[10] = {0};
    for (uint64_t i = 0; i < 50000; i++)
        count[dataset_label(f, i)]++;
    for (int i = 0; i < 10; i++)
        assert_int_equal(count[i], 5000);
    fixture_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_all_batches, write_batches, remove_batches),
        cmocka_unit_test_setup_teardown(channels_have_their_own_moments, write_batches,
                                        remove_batches),
        cmocka_unit_test_setup_teardown(names_what_is_wrong, write_batches, remove_batches),
        cmocka_unit_test(parser_wants_the_exact_length),
        cmocka_unit_test(reads_cifar10),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
