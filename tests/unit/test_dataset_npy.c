/* Data set npy: the parser on memory, shapes, types and splits, and what does not fit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dataset_fixture.h"
#include "npy_format.h"

/* A file as numpy.save() writes it: header padded to a multiple of 64 bytes. */
static size_t npy(unsigned char *out, const char *descr, const char *shape, const void *data,
                  size_t bytes)
{
    char dictionary[128];
    const int n = snprintf(dictionary, sizeof dictionary,
                           "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
    const size_t header = 118; /* 10 + 118 = 128 */
    memcpy(out, "\x93NUMPY\1\0\166\0", 10);
    memset(out + 10, ' ', header);
    memcpy(out + 10, dictionary, (size_t)n);
    out[10 + header - 1] = '\n';
    memcpy(out + 10 + header, data, bytes);
    return 10 + header + bytes;
}

static void write_array(const char *name, const char *descr, const char *shape, const void *data,
                        size_t bytes)
{
    unsigned char file[1024];
    write_plain(name, file, npy(file, descr, shape, data, bytes));
}

static struct fixture *open_npy(void)
{
    struct fixture *f = fixture_open("dataset", "npy");
    fixture_set(f, "x", in_folder("x.npy"));
    fixture_set(f, "y", in_folder("y.npy"));
    fixture_set(f, "test_x", in_folder("x.npy"));
    fixture_set(f, "test_y", in_folder("y.npy"));
    return f;
}

static void reads_floats_of_every_shape(void **state)
{
    (void)state;
    float data[24];
    for (int i = 0; i < 24; i++)
        data[i] = (float)i;
    write_array("y.npy", "<i8", "(2,)", (const int64_t[]){0, 2}, 16);
    const struct {
        const char *shape;
        uint32_t rank, sizes[3];
    } cases[] = {{"(2, 12)", 1, {12}}, {"(2, 3, 4)", 2, {3, 4}}, {"(2, 2, 3, 2)", 3, {2, 3, 2}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_array("x.npy", "<f4", cases[i].shape, data, sizeof data);
        struct fixture *f = open_npy();
        assert_int_equal(dataset_create(f), OSAFL_OK);
        const osafl_dataset_info info = dataset_describe(f);
        dataset_expect_shape(&info, cases[i].sizes, cases[i].rank);
        assert_int_equal(info.n_train, 2);
        assert_int_equal(info.n_test, 2);
        assert_int_equal(info.labels, 3);
        float x[12];
        int32_t label;
        dataset_read(f, OSAFL_SPLIT_TRAIN, (const uint64_t[]){1}, 1, x, &label);
        assert_int_equal(label, 2);
        assert_memory_equal(x, data + 12, sizeof x);
        fixture_close(f);
    }
}

static void keeps_tokens(void **state)
{
    (void)state;
    write_array("x.npy", "<i8", "(2, 2)", (const int64_t[]){7, 0, 16777217, 2147483646}, 32);
    write_array("y.npy", "<i8", "(2,)", (const int64_t[]){0, 1}, 16);
    struct fixture *f = open_npy();
    fixture_set(f, "tokens", "true");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    const osafl_dataset_info info = dataset_describe(f);
    assert_int_equal(info.x_type, OSAFL_X_INT32);
    assert_int_equal(info.rank, 1);
    assert_int_equal(info.shape[0], 2);
    int32_t x[2];
    int32_t label;
    const osafl_dataset_vt *vt = fixture_vtable(f);
    const osafl_batch b = {.struct_size = sizeof b, .n = 1, .x_int = x, .label = &label};
    osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, 0);
    assert_int_equal(vt->read(f->instance.self, c, OSAFL_SPLIT_TRAIN, &(uint64_t){1}, &b),
                     OSAFL_OK);
    assert_int_equal(fixture_end(f, OSAFL_OK), OSAFL_OK);
    assert_int_equal(x[0], 16777217);
    assert_int_equal(x[1], 2147483646);
    fixture_close(f);

    f = open_npy();
    fixture_set(f, "tokens", "true");
    fixture_set(f, "standardise", "true");
    expect_refusal(f, OSAFL_E_CONFIG, "leave pixels and standardise out");
    write_array("x.npy", "<f4", "(2, 1)", (const float[]){1, 0.5F}, 8);
    f = open_npy();
    fixture_set(f, "tokens", "true");
    expect_refusal(f, OSAFL_E_DATA, "element 1 is 0.5, not a whole number of 0 .. 2147483646");
}

static void puts_channels_first(void **state)
{
    (void)state;
    /* One row of two pixels, three channels, bytes. */
    write_array("x.npy", "|u1", "(2, 1, 2, 3)",
                (const uint8_t[]){0, 51, 102, 153, 204, 255, 0, 0, 0, 0, 0, 0}, 12);
    write_array("y.npy", "|b1", "(2, 1)", "\0\1", 2);
    struct fixture *f = open_npy();
    fixture_set(f, "channels", "last");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    const osafl_dataset_info info = dataset_describe(f);
    EXPECT_SHAPE(info, 3, 1, 2);
    float x[6];
    int32_t label;
    dataset_read(f, OSAFL_SPLIT_TRAIN, (const uint64_t[]){0}, 1, x, &label);
    const float expected[] = {-1.0F, 0.2F, -0.6F, 0.6F, -0.2F, 1.0F};
    for (int i = 0; i < 6; i++)
        assert_float_equal(x[i], expected[i], 1e-6);
    fixture_close(f);
}

static void holds_out_and_standardises(void **state)
{
    (void)state;
    double data[60];
    int32_t labels[60];
    uint16_t clients[60];
    for (int i = 0; i < 60; i++) {
        data[i] = 1000.0 + i;
        labels[i] = i % 4;
        clients[i] = (uint16_t)(i / 20);
    }
    write_array("x.npy", "<f8", "(60, 1)", data, sizeof data);
    write_array("y.npy", "<i4", "(60,)", labels, sizeof labels);
    write_array("client.npy", "<u2", "(60,)", clients, sizeof clients);
    struct fixture *f = open_npy();
    fixture_set(f, "test_x", "");
    fixture_set(f, "test_y", "");
    fixture_set(f, "client", in_folder("client.npy"));
    fixture_set(f, "validation", "8");
    fixture_set(f, "standardise", "true");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    const osafl_dataset_info info = dataset_describe(f);
    assert_int_equal(info.n_train, 40);
    assert_int_equal(info.n_validation, 8);
    assert_int_equal(info.n_test, 12);
    double sum = 0.0;
    uint32_t before = 0;
    for (uint64_t i = 0; i < 40; i++) {
        float x;
        int32_t label;
        dataset_read(f, OSAFL_SPLIT_TRAIN, &i, 1, &x, &label);
        sum += (double)x;
        assert_true(dataset_client(f, i) >= before && dataset_client(f, i) <= 2);
        before = dataset_client(f, i);
    }
    assert_true(fabs(sum) < 1e-5);
    fixture_close(f);
}

/* Times keep the digits that a float would lose; without an array there are none. */
static void reads_times(void **state)
{
    (void)state;
    write_array("x.npy", "<f4", "(3, 1)", (const float[]){1, 2, 3}, 12);
    write_array("y.npy", "|u1", "(3,)", "\0\1\0", 3);
    write_array("t.npy", "<i8", "(3, 1)", (const int64_t[]){1260759145, -2, 1260759144}, 24);
    struct fixture *f = open_npy();
    fixture_set(f, "time", in_folder("t.npy"));
    assert_int_equal(dataset_create(f), OSAFL_OK);
    assert_true(dataset_time(f, 0) == 1260759145.0);
    assert_true(dataset_time(f, 1) == -2.0);
    assert_true(dataset_time(f, 2) == 1260759144.0);
    fixture_close(f);
    f = open_npy();
    assert_int_equal(dataset_create(f), OSAFL_OK);
    assert_true(isnan(dataset_time(f, 0)));
    fixture_close(f);

    static const struct {
        double time[3];
        const char *message;
    } wrong[] = {{{1, NAN, 2},
                  "t.npy: element 1 is nan; a time must be a number, such as seconds "
                  "since 1970; leave samples without one out of all arrays"},
                 {{1, 2, -INFINITY}, "t.npy: element 2 is -inf; a time must be a number"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        write_array("t.npy", "<f8", "(3,)", wrong[i].time, 24);
        f = open_npy();
        fixture_set(f, "time", in_folder("t.npy"));
        expect_refusal(f, OSAFL_E_DATA, wrong[i].message);
    }
    write_array("t.npy", "<f8", "(2,)", wrong[0].time, 16);
    f = open_npy();
    fixture_set(f, "time", in_folder("t.npy"));
    expect_refusal(f, OSAFL_E_DATA, "t.npy: holds 2 numbers for 3 samples of dataset.npy.x (");
    write_array("t.npy", "<f8", "(3, 1)", (const double[]){3, 4, 5}, 24);
    f = open_npy();
    fixture_set(f, "time", in_folder("t.npy"));
    assert_int_equal(dataset_create(f), OSAFL_OK);
    fixture_close(f);
    write_array("t.npy", "<f8", "(3, 2)", (const double[]){1, 2, 3, 4, 5, 6}, 48);
    f = open_npy();
    fixture_set(f, "time", in_folder("t.npy"));
    expect_refusal(f, OSAFL_E_DATA,
                   "t.npy: must have one dimension, one number per sample; of several columns, "
                   "save one, such as a[:, 0]");
    write_array("t.npy", "<M8", "(3,)", wrong[0].time, 24);
    f = open_npy();
    fixture_set(f, "time", in_folder("t.npy"));
    expect_refusal(f, OSAFL_E_DATA, "of type \"<M8\"; convert with astype()");
}

static void refuses_arrays_that_do_not_fit(void **state)
{
    (void)state;
    const float data[6] = {1, 2, 3, 4, 5, 6};
    write_array("x.npy", "<f4", "(3, 2)", data, sizeof data);
    write_array("y.npy", "|u1", "(2,)", "\0\1", 2);
    expect_refusal(open_npy(), OSAFL_E_DATA, "y.npy: holds 2 numbers for 3 samples");
    write_array("y.npy", "|u1", "(3, 2)", "\0\1\0\1\0\1", 6);
    expect_refusal(open_npy(), OSAFL_E_DATA,
                   "y.npy: must have one dimension, one number per sample; of one "
                   "column per class, numpy.argmax(y, axis=1) makes them");
    write_array("y.npy", "|i1", "(3,)", "\0\1\xff", 3);
    expect_refusal(open_npy(), OSAFL_E_DATA,
                   "y.npy: element 2 is -1, not a whole number of 0 .. 999999; "
                   "dataset.npy.first_label says which label is the first");
    write_array("y.npy", "<f4", "(3,)", (const float[]){0, 1, 0.5F}, 12);
    expect_refusal(open_npy(), OSAFL_E_DATA, "y.npy: element 2 is 0.5, not a whole number");
    write_array("y.npy", "|u1", "(3,)", "\0\0\0", 3);
    expect_refusal(open_npy(), OSAFL_E_DATA, "y.npy: all labels are 0");
    write_array("y.npy", "|u1", "(3,)", "\0\1\2", 3);
    struct fixture *f = open_npy();
    fixture_set(f, "classes", "2");
    expect_refusal(f, OSAFL_E_DATA, "y.npy: element 2 is 2, not a whole number of 0 .. 1");
    write_array("x.npy", "<f4", "(6,)", data, sizeof data);
    expect_refusal(open_npy(), OSAFL_E_DATA, "x.npy: has one dimension");
    write_array("x.npy", "<f4", "(3, 2)", (const float[]){1, 2, NAN, 4, 5, 6}, 24);
    expect_refusal(open_npy(), OSAFL_E_DATA, "x.npy: element 2 (C order) is not finite");
    write_array("x.npy", "<f4", "(3, 2)", data, sizeof data);
    write_array("t.npy", "<f4", "(2, 3)", data, sizeof data);
    f = open_npy();
    fixture_set(f, "test_x", in_folder("t.npy"));
    expect_refusal(f, OSAFL_E_DATA, "samples have shape 3, training samples 2");
    write_array("t.npy", "|u1", "(3, 2)", "123456", 6);
    f = open_npy();
    fixture_set(f, "test_x", in_folder("t.npy"));
    expect_refusal(f, OSAFL_E_DATA, "is of bytes, or");
    f = open_npy();
    fixture_set(f, "test_y", "");
    expect_refusal(f, OSAFL_E_CONFIG, "both test_x and test_y");
    f = open_npy();
    fixture_set(f, "x", in_folder("missing.npy"));
    expect_refusal(f, OSAFL_E_IO, "missing.npy: cannot be opened");
    /* Every failure names the setting from which the file came. */
    static const char *const keys[] = {"x", "y", "client", "time", "test_x", "test_y"};
    write_array("t.npy", "<f4", "(3, 2)", data, sizeof data);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char message[400];
        f = open_npy();
        fixture_set(f, "classes", "3");
        fixture_set(f, "test_x", in_folder("t.npy"));
        fixture_set(f, keys[i], in_folder("missing.npy"));
        snprintf(message, sizeof message, "dataset.npy.%s: %s: cannot be opened", keys[i],
                 in_folder("missing.npy"));
        expect_refusal(f, OSAFL_E_IO, message);
    }
}

/* What bytes mean is a setting; bools and other numbers mean themselves. */
static void scales_bytes_alone(void **state)
{
    (void)state;
    write_array("y.npy", "|u1", "(2,)", "\0\1", 2);
    const struct {
        const char *descr;
        const char *pixels;
        const char *data;
        float expected[2];
        const char *warning;
    } cases[] = {
        {"|u1", "signed", "\377\0", {1.0F, -1.0F}, ""},
        {"|u1", "unit", "\377\0", {1.0F, 0.0F}, ""},
        {"|u1", "standard", "\4\2", {1.0F, -1.0F}, ""},
        {"|u1", "raw", "\20\1", {16.0F, 1.0F}, ""},
        {"|u1",
         "unit",
         "\20\0",
         {16.0F / 255.0F, 0.0F},
         "no byte of the training samples is greater than 16, and all are divided by 255, as those "
         "of pictures; pixels = \"raw\" takes them as they are"},
        {"|b1", "signed", "\1\0", {1.0F, 0.0F}, ""},
        {"|i1", "signed", "\20\0", {16.0F, 0.0F}, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_array("x.npy", cases[i].descr, "(2, 1)", cases[i].data, 2);
        struct fixture *f = open_npy();
        char warnings[DATASET_WARNINGS];
        keep_warnings(f, warnings);
        fixture_set(f, "pixels", cases[i].pixels);
        assert_int_equal(dataset_create(f), OSAFL_OK);
        float x[2];
        int32_t label[2];
        dataset_read(f, OSAFL_SPLIT_TRAIN, (const uint64_t[]){0, 1}, 2, x, label);
        assert_memory_equal(x, cases[i].expected, sizeof x);
        if (strstr(warnings, cases[i].warning) == NULL ||
            (cases[i].warning[0] == '\0') != (warnings[0] == '\0'))
            fail_msg("case %zu warns: \"%s\"", i, warnings);
        fixture_close(f);
    }
    write_array("x.npy", "<f4", "(2, 1)", (const float[]){1, 2}, 8);
    struct fixture *f = open_npy();
    fixture_set(f, "pixels", "unit");
    expect_refusal(f, OSAFL_E_CONFIG,
                   "its elements are no bytes, which dataset.npy.pixels is about");
    f = open_npy();
    fixture_set(f, "pixels", "raw");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    fixture_set(f, "standardise", "true");
    expect_refusal(f, OSAFL_E_CONFIG, "standardise = true takes the place of pixels");
}

static void counts_labels_from_any_number(void **state)
{
    (void)state;
    write_array("x.npy", "<f4", "(3, 1)", (const float[]){1, 2, 3}, 12);
    write_array("y.npy", "|u1", "(3,)", "\1\2\3", 3);
    struct fixture *f = open_npy();
    char warnings[DATASET_WARNINGS];
    keep_warnings(f, warnings);
    assert_int_equal(dataset_create(f), OSAFL_OK);
    assert_int_equal(dataset_describe(f).labels, 4);
    assert_non_null(strstr(warnings, "y.npy: 1 of 4 classes has no training sample, such as 0; "
                                     "where labels begin at 1, set dataset.npy.first_label = 1"));
    warnings[0] = '\0';
    fixture_set(f, "first_label", "1");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    assert_int_equal(dataset_describe(f).labels, 3);
    assert_int_equal(dataset_label(f, 0), 0);
    assert_int_equal(dataset_label(f, 2), 2);
    assert_string_equal(warnings, "");
    fixture_close(f);
    f = open_npy();
    fixture_set(f, "first_label", "2");
    expect_refusal(f, OSAFL_E_DATA, "y.npy: element 0 is 1, not a whole number of 2 .. 1000001");
}

static void refuses_quantities_as_labels(void **state)
{
    (void)state;
    float x[40] = {0};
    int16_t y[40];
    for (int i = 0; i < 40; i++)
        y[i] = (int16_t)(i * 7);
    write_array("x.npy", "<f4", "(40, 1)", x, sizeof x);
    write_array("y.npy", "<i2", "(40,)", y, sizeof y);
    expect_refusal(open_npy(), OSAFL_E_DATA,
                   "y.npy: the labels do not look like classes: 40 different numbers for 40 "
                   "samples");
    expect_refusal(open_npy(), OSAFL_E_DATA, "confirm these: dataset.npy.classes = 274");
    struct fixture *f = open_npy();
    fixture_set(f, "classes", "274");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    fixture_close(f);
}

/* --- The parser alone, on memory */

static osafl_status parse(const void *data, size_t n, struct npy_header *h, float *out,
                          struct io_message *m)
{
    struct byte_source s;
    byte_source_memory(&s, "file", data, n, m);
    osafl_status status = npy_read_header(&s, h);
    if (status == OSAFL_OK)
        status = npy_read_floats(&s, h, out);
    byte_source_close(&s);
    return status;
}

static void parser_knows_all_number_types(void **state)
{
    (void)state;
    const struct {
        const char *descr;
        const char *bytes;
        size_t size;
        float value;
    } cases[] = {
        {"|u1", "\xfe", 1, 254.0F},
        {"|i1", "\xfe", 1, -2.0F},
        {"|b1", "\1", 1, 1.0F},
        {"<u2", "\x34\x12", 2, 4660.0F},
        {">u2", "\x12\x34", 2, 4660.0F},
        {"<i2", "\xff\xff", 2, -1.0F},
        {"<i2", "\x00\x80", 2, -32768.0F},
        {">i4", "\xff\xff\xff\x00", 4, -256.0F},
        {"<u4", "\x00\x00\x00\x80", 4, 2147483648.0F},
        {"<i8", "\xfe\xff\xff\xff\xff\xff\xff\xff", 8, -2.0F},
        {">u8", "\0\0\0\0\0\0\1\0", 8, 256.0F},
        {"<i8", "\0\0\0\0\0\0\0\x80", 8, -9223372036854775808.0F},
        {"<f2", "\x00\x3e", 2, 1.5F},
        {">f2", "\xc0\x00", 2, -2.0F},
        {"<f2", "\x01\x00", 2, 0x1p-24F},
        {"<f2", "\xff\x7b", 2, 65504.0F},
        {"<f4", "\0\0\xc0\x3f", 4, 1.5F},
        {">f4", "\x3f\xc0\0\0", 4, 1.5F},
        {"<f8", "\0\0\0\0\0\0\xf8\x3f", 8, 1.5F},
        {">f8", "\x3f\xf8\0\0\0\0\0\0", 8, 1.5F},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned char file[256];
        struct npy_header h;
        struct io_message m;
        float value;
        const size_t n = npy(file, cases[i].descr, "(1,)", cases[i].bytes, cases[i].size);
        assert_int_equal(parse(file, n, &h, &value, &m), OSAFL_OK);
        assert_true(value == cases[i].value);
        assert_int_equal(h.rank, 1);
    }
}

/* The first index changes fastest. */
static void parser_reads_fortran_order(void **state)
{
    (void)state;
    const char header[] = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2)}";
    unsigned char file[256] = "\x93NUMPY\1";
    struct byte_source s;
    struct npy_header h;
    struct io_message m;
    float floats[12];
    uint8_t bytes[12];
    uint32_t numbers[12];
    const size_t at = 10 + sizeof header - 1;
    file[8] = sizeof header - 1;
    memcpy(file + 10, header, sizeof header - 1);
    for (unsigned char i = 0; i < 12; i++)
        file[at + i] = i;
    assert_int_equal(parse(file, at + 12, &h, floats, &m), OSAFL_OK);
    byte_source_memory(&s, "file", file, at + 12, &m);
    assert_int_equal(npy_read_header(&s, &h), OSAFL_OK);
    assert_int_equal(npy_read_bytes(&s, &h, bytes), OSAFL_OK);
    byte_source_memory(&s, "file", file, at + 12, &m);
    assert_int_equal(npy_read_header(&s, &h), OSAFL_OK);
    assert_int_equal(npy_read_numbers(&s, &h, 0, 12, "", numbers), OSAFL_OK);
    for (unsigned i = 0; i < 2; i++)
        for (unsigned j = 0; j < 3; j++)
            for (unsigned k = 0; k < 2; k++) {
                const unsigned c_order = (i * 3 + j) * 2 + k;
                const unsigned value = i + 2 * j + 6 * k;
                assert_true(floats[c_order] == (float)value);
                assert_int_equal(bytes[c_order], value);
                assert_int_equal(numbers[c_order], value);
            }
}

static void parser_reads_other_versions(void **state)
{
    (void)state;
    const char header[] = "{\"shape\":(2L,1),\"descr\":\"|u1\",\"fortran_order\":False}";
    struct npy_header h;
    struct io_message m;
    float value[2];
    for (unsigned char version = 1; version <= 4; version++) {
        unsigned char file[128] = "\x93NUMPY";
        const size_t at = version == 1 ? 10 : 12;
        file[6] = version;
        file[8] = sizeof header - 1;
        memcpy(file + at, header, sizeof header - 1);
        memcpy(file + at + sizeof header - 1, "\5\7", 2);
        const osafl_status status = parse(file, at + sizeof header + 1, &h, value, &m);
        assert_int_equal(status, version <= 3 ? OSAFL_OK : OSAFL_E_DATA);
        if (version <= 3)
            assert_true(value[0] == 5.0F && value[1] == 7.0F && h.rank == 2);
    }
    assert_non_null(strstr(m.text, "its version is neither 1.0, 2.0 nor 3.0"));
}

static void parser_refuses_what_it_cannot_use(void **state)
{
    (void)state;
    const char *const cases[][2] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (), }", "a single number"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }", "the array is empty"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 3), }", "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967295, 4294967295, 2), }",
         "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "damaged"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1), }",
         "file: has 5 dimensions, and at most 4 can be used"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (5), }", "damaged"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-5,), }", "damaged"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (5,) ", "damaged"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (5,)} x", "damaged"},
        {"{'descr': '<f4', 'fortran_order': False, }", "damaged"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (5,)}", "damaged"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (5,)}", "damaged"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (5,)}", "more than one plain"},
        {"{'descr': '<f4", "damaged"},
        {"", "damaged"},
        {"{'descr': '<U4', 'fortran_order': False, 'shape': (5,)}", "integers or floats"},
        {"{'descr': '<f1', 'fortran_order': False, 'shape': (5,)}",
         "and are of type \"<f1\"; convert with astype(), texts with numpy.unique("},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (5,)}", "integers or floats"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (5,)}", "integers or floats"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (100,)}", "is cut off"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned char file[256] = "\x93NUMPY\1";
        const size_t n = strlen(cases[i][0]);
        struct npy_header h;
        struct io_message m;
        float value[8];
        file[8] = (unsigned char)n;
        memcpy(file + 10, cases[i][0], n);
        assert_int_equal(parse(file, 10 + n + 20, &h, value, &m), OSAFL_E_DATA);
        if (strstr(m.text, cases[i][1]) == NULL)
            fail_msg("\"%s\" is not in \"%s\" for %s", cases[i][1], m.text, cases[i][0]);
    }
}

static void parser_wants_the_exact_length(void **state)
{
    (void)state;
    unsigned char file[256];
    struct npy_header h;
    struct io_message m;
    float value[2];
    const size_t n = npy(file, "<f4", "(2,)", (const float[]){1, 2}, 8);
    assert_int_equal(parse(file, n, &h, value, &m), OSAFL_OK);
    for (size_t cut = 0; cut < n; cut++) {
        assert_int_equal(parse(file, cut, &h, value, &m), OSAFL_E_DATA);
        assert_non_null(strstr(m.text, "is cut off"));
    }
    assert_int_equal(parse(file, n + 1, &h, value, &m), OSAFL_E_DATA);
    assert_non_null(strstr(m.text, "goes on after"));
    file[1] = 'P';
    assert_int_equal(parse(file, n, &h, value, &m), OSAFL_E_DATA);
    assert_non_null(strstr(m.text, "is not a .npy file"));
    memcpy(file, "\x93NUMPY\1\0\xff\xff", 10);
    assert_int_equal(parse(file, n, &h, value, &m), OSAFL_E_DATA);
    assert_non_null(strstr(m.text, "longer than 4096 bytes"));
}

#define WITH_FOLDER(test)                                                                          \
    cmocka_unit_test_setup_teardown(test, make_test_folder, remove_test_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(reads_floats_of_every_shape),
        WITH_FOLDER(keeps_tokens),
        WITH_FOLDER(puts_channels_first),
        WITH_FOLDER(holds_out_and_standardises),
        WITH_FOLDER(reads_times),
        WITH_FOLDER(refuses_arrays_that_do_not_fit),
        WITH_FOLDER(scales_bytes_alone),
        WITH_FOLDER(counts_labels_from_any_number),
        WITH_FOLDER(refuses_quantities_as_labels),
        cmocka_unit_test(parser_knows_all_number_types),
        cmocka_unit_test(parser_reads_fortran_order),
        cmocka_unit_test(parser_reads_other_versions),
        cmocka_unit_test(parser_refuses_what_it_cannot_use),
        cmocka_unit_test(parser_wants_the_exact_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
