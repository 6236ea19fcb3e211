/* Data set idx: the parser on memory, the plugin on small files made here, and MNIST and
 * Fashion-MNIST where they are installed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "dataset_fixture.h"
#include "idx_format.h"

#define IMAGES_MAGIC "\0\0\x08\x03"
#define LABELS_MAGIC "\0\0\x08\x01"

static size_t images(unsigned char *out, uint8_t n)
{
    memcpy(out, IMAGES_MAGIC "\0\0\0\0\0\0\0\2\0\0\0\3", 16);
    out[7] = n;
    for (size_t i = 0; i < (size_t)n * 6; i++)
        out[16 + i] = (unsigned char)(i * 5);
    return 16 + (size_t)n * 6;
}

static size_t labels(unsigned char *out, uint8_t n)
{
    memcpy(out, LABELS_MAGIC "\0\0\0\0", 8);
    out[7] = n;
    for (uint8_t i = 0; i < n; i++)
        out[8 + i] = i % 10;
    return 8 + (size_t)n;
}

/* Twelve training and four test images of 2x3 pixels, half of the files gzip. */
static int write_family(void **state)
{
    unsigned char bytes[256];
    if (make_test_folder(state) != 0)
        return -1;
    write_plain("train-images-idx3-ubyte", bytes, images(bytes, 12));
    write_gzip("train-labels-idx1-ubyte.gz", bytes, labels(bytes, 12));
    write_gzip("t10k-images.idx3-ubyte.gz", bytes, images(bytes, 4));
    write_plain("t10k-labels-idx1-ubyte", bytes, labels(bytes, 4));
    return 0;
}

static struct fixture *open_idx(const char *path)
{
    struct fixture *f = fixture_open("dataset", "idx");
    fixture_set(f, "path", path);
    return f;
}

static void reads_plain_and_gzip_files(void **state)
{
    (void)state;
    struct fixture *f = open_idx(test_folder);
    fixture_set(f, "class_names", "zero, one,two,3,4,5,6,7,8,nine");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    const osafl_dataset_info info = dataset_describe(f);
    EXPECT_SHAPE(info, 1, 2, 3);
    assert_int_equal(info.target_type, OSAFL_TARGET_CLASS);
    assert_int_equal(info.target_size, 10);
    assert_int_equal(info.labels, 10);
    assert_int_equal(info.n_train, 12);
    assert_int_equal(info.n_validation, 0);
    assert_int_equal(info.n_test, 4);
    assert_string_equal(info.label_names[1], "one");
    assert_string_equal(info.label_names[9], "nine");

    float x[12];
    int32_t label[2];
    dataset_read(f, OSAFL_SPLIT_TRAIN, (const uint64_t[]){11, 1}, 2, x, label);
    assert_int_equal(label[0], 1);
    assert_int_equal(label[1], 1);
    for (int i = 0; i < 6; i++) {
        assert_float_equal(x[i], (float)((66 + i) * 5 % 256) / 255.0F * 2.0F - 1.0F, 1e-6);
        assert_float_equal(x[6 + i], (float)((6 + i) * 5) / 255.0F * 2.0F - 1.0F, 1e-6);
    }
    dataset_read(f, OSAFL_SPLIT_TEST, (const uint64_t[]){3}, 1, x, label);
    assert_int_equal(label[0], 3);
    assert_int_equal(dataset_label(f, 11), 1);
    fixture_close(f);
}

static void pixels_span_minus_one_to_one(void **state)
{
    (void)state;
    unsigned char bytes[256];
    const size_t n = images(bytes, 12);
    bytes[16] = 0;
    bytes[17] = 255;
    write_plain("train-images-idx3-ubyte", bytes, n);
    struct fixture *f = open_idx(test_folder);
    assert_int_equal(dataset_create(f), OSAFL_OK);
    float x[6];
    int32_t label[1];
    dataset_read(f, OSAFL_SPLIT_TRAIN, (const uint64_t[]){0}, 1, x, label);
    assert_true(x[0] == -1.0F && x[1] == 1.0F);
    fixture_close(f);
}

/* The twelve training images hold 0, 5, 10, ...; two of them are held out and do not count. */
static void pixels_have_the_moments_of_the_training_split(void **state)
{
    (void)state;
    struct fixture *f = open_idx(test_folder);
    fixture_set(f, "validation", "2");
    fixture_set(f, "pixels", "standard");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    double sum = 0.0;
    double squares = 0.0;
    float x[6];
    int32_t label[1];
    for (uint64_t i = 0; i < 10; i++) {
        dataset_read(f, OSAFL_SPLIT_TRAIN, &i, 1, x, label);
        for (int j = 0; j < 6; j++) {
            sum += (double)x[j];
            squares += (double)x[j] * (double)x[j];
        }
    }
    assert_float_equal((float)(sum / 60.0), 0.0, 1e-6);
    assert_float_equal((float)(squares / 60.0), 1.0, 1e-6);
    /* A byte means the same in every split: so far are 5 and 0 apart in all of them. */
    const float step = x[1] - x[0];
    dataset_read(f, OSAFL_SPLIT_TEST, (const uint64_t[]){0}, 1, x, label);
    assert_float_equal(x[1] - x[0], step, 1e-6);
    dataset_read(f, OSAFL_SPLIT_VALIDATION, (const uint64_t[]){0}, 1, x, label);
    assert_float_equal(x[1] - x[0], step, 1e-6);
    fixture_close(f);
}

static void pixels_span_zero_to_one(void **state)
{
    (void)state;
    struct fixture *f = open_idx(test_folder);
    fixture_set(f, "pixels", "unit");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    float x[6];
    int32_t label[1];
    dataset_read(f, OSAFL_SPLIT_TRAIN, (const uint64_t[]){8}, 1, x, label);
    for (int j = 0; j < 6; j++)
        assert_true(x[j] == (float)((48 + j) * 5 % 256) / 255.0F);
    fixture_close(f);
}

static void pixels_that_never_change_are_zero(void **state)
{
    (void)state;
    unsigned char bytes[256];
    const size_t n = images(bytes, 12);
    memset(bytes + 16, 77, n - 16);
    write_plain("train-images-idx3-ubyte", bytes, n);
    struct fixture *f = open_idx(test_folder);
    fixture_set(f, "pixels", "standard");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    float x[6];
    int32_t label[1];
    dataset_read(f, OSAFL_SPLIT_TEST, (const uint64_t[]){1}, 1, x, label);
    for (int j = 0; j < 6; j++)
        assert_true(x[j] == 0.0F);
    fixture_close(f);
}

/* Train and validation together are the training file, each sample once; the choice is the same in
 * every run, whatever the seed. */
static void holds_out_the_same_samples_in_every_run(void **state)
{
    (void)state;
    float first[5][6];
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct fixture *f = open_idx(test_folder);
        f->context.seed = seed;
        fixture_set(f, "validation", "5");
        assert_int_equal(dataset_create(f), OSAFL_OK);
        const osafl_dataset_info info = dataset_describe(f);
        assert_int_equal(info.n_train, 7);
        assert_int_equal(info.n_validation, 5);
        bool seen[256] = {false};
        float x[6];
        int32_t label[1];
        for (uint64_t i = 0; i < 12; i++) {
            const bool validation = i < 5;
            dataset_read(f, validation ? OSAFL_SPLIT_VALIDATION : OSAFL_SPLIT_TRAIN,
                         (const uint64_t[]){validation ? i : i - 5}, 1, x, label);
            const int pixel = (int)((x[0] + 1.0F) * 127.5F + 0.5F);
            assert_in_range(pixel, 0, 255);
            assert_false(seen[pixel]);
            seen[pixel] = true;
            if (validation && seed == 1)
                memcpy(first[i], x, sizeof x);
            else if (validation)
                assert_memory_equal(first[i], x, sizeof x);
        }
        fixture_close(f);
    }
}

static void names_what_is_missing(void **state)
{
    (void)state;
    expect_refusal(open_idx("/nonexistent/fashion-mnist"), OSAFL_E_IO,
                   "apt install dataset-fashion-mnist");
    expect_refusal(open_idx("/nonexistent"), OSAFL_E_IO,
                   "/nonexistent/train-images-idx3-ubyte: no such file");
    assert_int_equal(unlink(in_folder("t10k-labels-idx1-ubyte")), 0);
    expect_refusal(open_idx(test_folder), OSAFL_E_IO, "t10k-labels-idx1-ubyte: no such file");
}

static void refuses_files_that_do_not_belong_together(void **state)
{
    (void)state;
    unsigned char bytes[256];
    write_gzip("train-labels-idx1-ubyte.gz", bytes, labels(bytes, 11));
    expect_refusal(open_idx(test_folder), OSAFL_E_DATA, "11 labels for the 12 images");
    write_gzip("train-labels-idx1-ubyte.gz", bytes, labels(bytes, 12));
    const size_t n = images(bytes, 4);
    bytes[11] = 3;
    bytes[15] = 2;
    write_gzip("t10k-images.idx3-ubyte.gz", bytes, n);
    expect_refusal(open_idx(test_folder), OSAFL_E_DATA, "2x3 pixels, test images 3x2");
}

static void refuses_labels_out_of_range(void **state)
{
    (void)state;
    unsigned char bytes[256];
    const size_t n = labels(bytes, 4);
    bytes[8 + 2] = 10;
    write_plain("t10k-labels-idx1-ubyte", bytes, n);
    expect_refusal(open_idx(test_folder), OSAFL_E_DATA, "label 10 of sample 2 is outside 0 .. 9");
    struct fixture *f = open_idx(test_folder);
    fixture_set(f, "classes", "5");
    expect_refusal(f, OSAFL_E_DATA, "label 5 of sample 5 is outside 0 .. 4");
}

static void refuses_settings_that_do_not_fit(void **state)
{
    (void)state;
    struct fixture *f = open_idx(test_folder);
    fixture_set(f, "validation", "12");
    expect_refusal(f, OSAFL_E_CONFIG, "12 samples for validation leave nothing of the 12");
    f = open_idx(test_folder);
    fixture_set(f, "class_names", "a,b,c");
    expect_refusal(f, OSAFL_E_CONFIG, "3 names for 10 classes");
}

static void refuses_damaged_gzip_files(void **state)
{
    (void)state;
    unsigned char bytes[256];
    const char *name = "train-images-idx3-ubyte.gz"; /* found before the plain file */
    write_gzip(name, bytes, images(bytes, 12));
    FILE *file = fopen(in_folder(name), "rb");
    assert_non_null(file);
    unsigned char gz[512];
    const size_t n = fread(gz, 1, sizeof gz, file);
    assert_int_equal(fclose(file), 0);

    const struct {
        size_t length;
        size_t flipped; /* 0: none */
        const char *text;
    } damages[] = {
        {n / 2, 0, "gzip data are damaged or cut off"}, /* inside the data */
        {n - 4, 0, "gzip data are damaged or cut off"}, /* inside the trailer */
        {n, n - 6, "gzip data are damaged or cut off"}, /* the checksum */
        {0, 0, "is named .gz but holds no gzip data"},
    };
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        unsigned char copy[512];
        memcpy(copy, gz, n);
        if (damages[i].flipped != 0)
            copy[damages[i].flipped] ^= 1;
        write_plain(name, copy, damages[i].length);
        expect_refusal(open_idx(test_folder), OSAFL_E_DATA, damages[i].text);
    }
    write_plain(name, bytes, 88);
    expect_refusal(open_idx(test_folder), OSAFL_E_DATA, "is named .gz but holds no gzip data");
}

/* A file of the given type and dimensions. */
static void write_typed(const char *name, const char *magic, const uint32_t *shape,
                        const void *data, size_t n)
{
    unsigned char bytes[512];
    const size_t rank = (unsigned char)magic[3];
    memcpy(bytes, magic, 4);
    for (size_t i = 0; i < rank; i++)
        memcpy(bytes + 4 + 4 * i, (const unsigned char[]){0, 0, 0, (unsigned char)shape[i]}, 4);
    memcpy(bytes + 4 + 4 * rank, data, n);
    write_plain(name, bytes, 4 + 4 * rank + n);
}

/* A folder with two training and two test samples of one type, whatever the files are called. */
static void write_pair(const char *magic, const uint32_t *shape, const void *data, size_t n,
                       const char *ending)
{
    static const char *const parts[] = {"train", "t10k"};
    for (size_t i = 0; i < 2; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "my-%s-images-%s", parts[i], ending);
        write_typed(name, magic, shape, data, n);
        (void)snprintf(name, sizeof name, "my-%s-labels-idx1-ubyte", parts[i]);
        write_typed(name, LABELS_MAGIC, (const uint32_t[]){2}, "\0\1", 2);
    }
}

static struct fixture *open_mine(void)
{
    struct fixture *f = open_idx(test_folder);
    fixture_set(f, "prefix", "my-");
    fixture_set(f, "classes", "2");
    return f;
}

static void expect_sample(struct fixture *f, uint64_t i, uint32_t channels, uint32_t height,
                          uint32_t width, const float *expected)
{
    if (dataset_create(f) != OSAFL_OK)
        fail_msg("refused: %s", f->error.text);
    const osafl_dataset_info info = dataset_describe(f);
    if (channels * height > 1)
        EXPECT_SHAPE(info, channels, height, width);
    else
        EXPECT_SHAPE(info, width);
    float x[16];
    int32_t label;
    dataset_read(f, OSAFL_SPLIT_TEST, &i, 1, x, &label);
    assert_memory_equal(x, expected, channels * height * width * sizeof *x);
    fixture_close(f);
}

static void reads_numbers_of_every_type(void **state)
{
    (void)state;
    const struct {
        const char *magic;
        const char *ending;
        const char *bytes;
        size_t n;
        float expected[2];
    } cases[] = {
        {"\0\0\x09\2", "idx2-byte", "\1\2\3\xfe", 4, {3, -2}},
        {"\0\0\x0b\2", "idx2-short", "\0\1\0\2\1\0\xff\xfe", 8, {256, -2}},
        {"\0\0\x0c\2", "idx2-int", "\0\0\0\1\0\0\0\2\0\1\0\0\xff\xff\xff\xfd", 16, {65536, -3}},
        {"\0\0\x0d\2", "idx2-float", "\0\0\0\0\0\0\0\0\x3f\xc0\0\0\xc0\0\0\0", 16, {1.5F, -2}},
        {"\0\0\x0e\2",
         "idx2-double",
         "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
         "\x3f\xf8\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0",
         32,
         {1.5F, -2}},
        {"\0\0\x0d\2", "idx3-ubyte", "\0\0\0\0\0\0\0\0\x3f\xc0\0\0\xc0\0\0\0", 16, {1.5F, -2}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char command[128];
        (void)snprintf(command, sizeof command, "rm -f %s/my-*", test_folder);
        assert_int_equal(system(command), 0);
        write_pair(cases[i].magic, (const uint32_t[]){2, 2}, cases[i].bytes, cases[i].n,
                   cases[i].ending);
        expect_sample(open_mine(), 1, 1, 1, 2, cases[i].expected);
        struct fixture *f = open_mine();
        fixture_set(f, "pixels", "unit");
        expect_refusal(f, OSAFL_E_CONFIG, "its images are not bytes");
    }
    write_pair("\0\0\x0d\2", (const uint32_t[]){2, 1}, "\0\0\0\0\x7f\xc0\0\0", 8, "idx3-ubyte");
    expect_refusal(open_mine(), OSAFL_E_DATA, "element 1 is not finite as a 32-bit float");
    write_pair("\0\0\x08\5", (const uint32_t[]){2, 1, 1, 1, 1}, "\0\0", 2, "idx3-ubyte");
    expect_refusal(open_mine(), OSAFL_E_DATA,
                   "has 5 dimensions; images have two to four, the first counts them");
    write_pair("\0\0\x08\2", (const uint32_t[]){2, 1}, "\0\377", 2, "idx3-ubyte");
    write_typed("my-t10k-images-idx3-ubyte", "\0\0\x09\2", (const uint32_t[]){2, 1}, "\0\1", 2);
    expect_refusal(open_mine(), OSAFL_E_DATA, "training images are of bytes, or test images are");
}

static void arranges_channels_and_transposed_pictures(void **state)
{
    (void)state;
    const char twelve[] = "............\0\1\2\3\4\5\6\7\10\11\12\13";
    const char *raw = "raw";
    write_pair("\0\0\x08\4", (const uint32_t[]){2, 2, 3, 2}, twelve, 24, "idx4-ubyte");
    struct fixture *f = open_mine();
    fixture_set(f, "pixels", raw);
    expect_sample(f, 1, 2, 3, 2, (const float[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    f = open_mine();
    fixture_set(f, "pixels", raw);
    fixture_set(f, "channels", "last");
    expect_sample(f, 1, 2, 2, 3, (const float[]){0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11});
    f = open_mine();
    fixture_set(f, "pixels", raw);
    fixture_set(f, "channels", "last");
    fixture_set(f, "transpose", "true");
    expect_sample(f, 1, 2, 3, 2, (const float[]){0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11});
    f = open_mine();
    fixture_set(f, "pixels", raw);
    fixture_set(f, "transpose", "true");
    expect_sample(f, 1, 2, 2, 3, (const float[]){0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11});
    write_pair("\0\0\x08\3", (const uint32_t[]){2, 2, 3}, "......\0\1\2\3\4\5", 12, "idx3-ubyte");
    f = open_mine();
    fixture_set(f, "pixels", raw);
    fixture_set(f, "transpose", "true");
    expect_sample(f, 1, 1, 3, 2, (const float[]){0, 3, 1, 4, 2, 5});
}

static void counts_labels_from_any_number(void **state)
{
    (void)state;
    char warnings[DATASET_WARNINGS];
    write_pair("\0\0\x08\2", (const uint32_t[]){2, 1}, "\0\377", 2, "idx3-ubyte");
    for (int i = 0; i < 2; i++)
        write_typed(i ? "my-t10k-labels-idx1-ubyte" : "my-train-labels-idx1-ubyte", "\0\0\x0b\1",
                    (const uint32_t[]){2}, "\0\1\0\2", 4);
    expect_refusal(open_mine(), OSAFL_E_DATA,
                   "label 2 of sample 1 is outside 0 .. 1; dataset.idx.classes says how many there "
                   "are, dataset.idx.first_label which is the first");
    struct fixture *f = open_mine();
    keep_warnings(f, warnings);
    fixture_set(f, "first_label", "1");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    assert_int_equal(dataset_label(f, 0), 0);
    assert_int_equal(dataset_label(f, 1), 1);
    assert_string_equal(warnings, "");
    fixture_close(f);
    f = open_mine();
    keep_warnings(f, warnings);
    fixture_set(f, "classes", "3");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    assert_non_null(strstr(warnings, "1 of 3 classes has no training sample, such as 0; where "
                                     "labels begin at 1, set dataset.idx.first_label = 1"));
    fixture_close(f);
    write_typed("my-train-labels-idx1-ubyte", "\0\0\x0d\1", (const uint32_t[]){2},
                "\0\0\0\0\x3f\0\0\0", 8);
    expect_refusal(open_mine(), OSAFL_E_DATA,
                   "label 1 is 0.5; labels are whole numbers (this file holds 32-bit floats)");
    write_typed("my-train-labels-idx1-ubyte", "\0\0\x08\2", (const uint32_t[]){2, 1}, "\0\1", 2);
    expect_refusal(open_mine(), OSAFL_E_DATA, "has 2 dimensions; labels have one");
}

static void says_which_of_two_files_is_read(void **state)
{
    (void)state;
    unsigned char bytes[256];
    char warnings[DATASET_WARNINGS];
    write_gzip("train-images-idx3-ubyte.gz", bytes, images(bytes, 12));
    struct fixture *f = open_idx(test_folder);
    keep_warnings(f, warnings);
    assert_int_equal(dataset_create(f), OSAFL_OK);
    assert_non_null(strstr(warnings, "train-images-idx3-ubyte.gz: is read, and "));
    assert_non_null(strstr(warnings, "train-images-idx3-ubyte next to it is not"));
    fixture_close(f);
}

/* The parser alone, on memory. */
static osafl_status parse_images(const void *data, size_t n, struct io_message *m)
{
    struct byte_source s;
    struct idx_images out = {0};
    byte_source_memory(&s, "file", data, n, m);
    const osafl_status status = idx_read_images(&s, &out);
    byte_source_close(&s);
    free(out.pixels);
    free(out.values);
    return status;
}

static osafl_status parse_labels(const void *data, size_t n, struct io_message *m)
{
    struct byte_source s;
    struct idx_labels out = {0};
    byte_source_memory(&s, "file", data, n, m);
    const osafl_status status = idx_read_labels(&s, &out);
    byte_source_close(&s);
    free(out.labels);
    return status;
}

static void parser_wants_the_exact_length(void **state)
{
    (void)state;
    unsigned char bytes[256] = {0};
    struct io_message m;
    size_t n = images(bytes, 4);
    assert_int_equal(parse_images(bytes, n, &m), OSAFL_OK);
    for (size_t cut = 0; cut < n; cut++) {
        assert_int_equal(parse_images(bytes, cut, &m), OSAFL_E_DATA);
        assert_non_null(strstr(m.text, "file: is cut off"));
    }
    assert_int_equal(parse_images(bytes, n + 1, &m), OSAFL_E_DATA);
    assert_non_null(strstr(m.text, "goes on after the 40 bytes"));

    n = labels(bytes, 4);
    assert_int_equal(parse_labels(bytes, n, &m), OSAFL_OK);
    for (size_t cut = 0; cut < n; cut++)
        assert_int_equal(parse_labels(bytes, cut, &m), OSAFL_E_DATA);
    assert_int_equal(parse_labels(bytes, n + 1, &m), OSAFL_E_DATA);
}

static void parser_refuses_wrong_headers(void **state)
{
    (void)state;
    unsigned char bytes[256] = {0};
    struct io_message m;
    size_t n = labels(bytes, 4);
    assert_int_equal(parse_images(bytes, n, &m), OSAFL_E_DATA);
    assert_non_null(strstr(m.text, "magic number 0x00000801 instead of 0x00000803"));
    n = images(bytes, 4);
    assert_int_equal(parse_labels(bytes, n, &m), OSAFL_E_DATA);
    for (size_t zero = 7; zero <= 15; zero += 4) {
        n = images(bytes, 4);
        bytes[zero] = 0;
        assert_int_equal(parse_images(bytes, n, &m), OSAFL_E_DATA);
        assert_non_null(strstr(m.text, "holds no image"));
    }
    assert_int_equal(parse_labels(LABELS_MAGIC "\0\0\0\0", 8, &m), OSAFL_E_DATA);
    assert_non_null(strstr(m.text, "holds no label"));
}

/* A header that claims more than the file can hold is refused before memory is asked for. */
static void parser_does_not_believe_the_header(void **state)
{
    (void)state;
    struct io_message m;
    unsigned char bytes[16];
    memcpy(bytes, IMAGES_MAGIC "\xff\xff\xff\xff\0\0\xff\xff\0\0\xff\xff", 16);
    assert_int_equal(parse_images(bytes, 16, &m), OSAFL_E_DATA);
    assert_non_null(strstr(m.text, "is cut off"));
    memset(bytes + 4, 0xff, 12);
    assert_int_equal(parse_images(bytes, 16, &m), OSAFL_E_DATA);
    assert_non_null(strstr(m.text, "header is damaged"));
    memcpy(bytes, LABELS_MAGIC "\xff\xff\xff\xff", 8);
    assert_int_equal(parse_labels(bytes, 8, &m), OSAFL_E_DATA);
}

/* Reads a whole installed set and counts its labels. */
static void check_installed(const char *path, const uint32_t *train_counts,
                            const uint32_t *test_counts)
{
    if (access(path, R_OK) != 0) {
        print_message("[  SKIPPED ] %s is not installed\n", path);
        skip();
    }
    struct fixture *f = open_idx(path);
    assert_int_equal(dataset_create(f), OSAFL_OK);
    const osafl_dataset_info info = dataset_describe(f);
    EXPECT_SHAPE(info, 1, 28, 28);
    assert_int_equal(info.n_train, 60000);
    assert_int_equal(info.n_test, 10000);
    uint32_t count[2][10] = {{0}};
    float x[784];
    int32_t label[1];
    for (uint64_t i = 0; i < 60000; i++)
        count[0][dataset_label(f, i)]++;
    for (uint64_t i = 0; i < 10000; i++) {
        dataset_read(f, OSAFL_SPLIT_TEST, &i, 1, x, label);
        count[1][label[0]]++;
    }
    for (int i = 0; i < 10; i++) {
        assert_int_equal(count[0][i], train_counts[i]);
        assert_int_equal(count[1][i], test_counts[i]);
    }
    fixture_close(f);
}

static void reads_mnist(void **state)
{
    (void)state;
    check_installed(OSAFL_TEST_SOURCE_DIR "/../shared/data/mnist",
                    (const uint32_t[]){5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949},
                    (const uint32_t[]){980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009});
}

static void reads_fashion_mnist(void **state)
{
    (void)state;
    check_installed("/usr/share/datasets/fashion-mnist",
                    (const uint32_t[]){6000, 6000, 6000, 6000, 6000, 6000, 6000, 6000, 6000, 6000},
                    (const uint32_t[]){1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000});
}

#define WITH_FAMILY(test) cmocka_unit_test_setup_teardown(test, write_family, remove_test_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FAMILY(reads_plain_and_gzip_files),
        WITH_FAMILY(pixels_span_minus_one_to_one),
        WITH_FAMILY(pixels_span_zero_to_one),
        WITH_FAMILY(pixels_have_the_moments_of_the_training_split),
        WITH_FAMILY(pixels_that_never_change_are_zero),
        WITH_FAMILY(holds_out_the_same_samples_in_every_run),
        WITH_FAMILY(names_what_is_missing),
        WITH_FAMILY(refuses_files_that_do_not_belong_together),
        WITH_FAMILY(refuses_labels_out_of_range),
        WITH_FAMILY(refuses_settings_that_do_not_fit),
        WITH_FAMILY(refuses_damaged_gzip_files),
        WITH_FAMILY(says_which_of_two_files_is_read),
        cmocka_unit_test_setup_teardown(reads_numbers_of_every_type, make_test_folder,
                                        remove_test_folder),
        cmocka_unit_test_setup_teardown(arranges_channels_and_transposed_pictures, make_test_folder,
                                        remove_test_folder),
        cmocka_unit_test_setup_teardown(counts_labels_from_any_number, make_test_folder,
                                        remove_test_folder),
        cmocka_unit_test(parser_wants_the_exact_length),
        cmocka_unit_test(parser_refuses_wrong_headers),
        cmocka_unit_test(parser_does_not_believe_the_header),
        cmocka_unit_test(reads_mnist),
        cmocka_unit_test(reads_fashion_mnist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
