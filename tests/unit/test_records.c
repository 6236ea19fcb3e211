/* test_records.c - records go round, and no damage gets through. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/records.h"
#include "record_sections.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static struct error error;

static const uint64_t some_u64[3] = {0, UINT64_MAX, UINT64_C(0x0102030405060708)};
static const double some_f64[2] = {-0.0, 5e-324};
static const float some_f32[3] = {1.5f, -2.25f, 1e-45f};
static const char some_bytes[5] = {'a', 0, 'b', '\n', 'c'};

/* Puts the checksum right. */
static void seal(unsigned char *block, size_t size)
{
    const uint64_t sum = XXH3_64bits(block, size - 8);
    memcpy(block + size - 8, &sum, 8);
}

/* A block with two sections and every type. */
static struct record_writer *make_block(const void **data, size_t *size)
{
    struct record_writer *w = record_writer_create();
    assert_non_null(w);
    osafl_writer *to = record_writer_section(w, "core.world", 7);
    assert_int_equal(to->u64(to, "z.last", some_u64, 3), OSAFL_OK);
    assert_int_equal(to->f64(to, "a_first", some_f64, 2), OSAFL_OK);
    assert_int_equal(to->f32(to, "m", some_f32, 3), OSAFL_OK);
    to = record_writer_section(w, "aggregator/osafl", 1);
    assert_int_equal(to->bytes(to, "code", some_bytes, 5), OSAFL_OK);
    assert_int_equal(to->u64(to, "nothing", NULL, 0), OSAFL_OK);
    assert_int_equal(record_writer_finish(w, data, size, &error), OSAFL_OK);
    return w;
}

static void test_round_trip(void **state)
{
    (void)state;
    const void *data = NULL;
    size_t size = 0;
    struct record_writer *w = make_block(&data, &size);
    struct record_set *set = NULL;
    assert_int_equal(record_set_open(data, size, &set, &error), OSAFL_OK);
    char name[RECORD_NAME_BYTES];
    assert_int_equal(record_sections(data), 2);
    record_section_name(data, 0, name);
    assert_string_equal(name, "core.world");
    assert_true(record_has_section(data, "aggregator/osafl"));
    assert_false(record_has_section(data, "aggregator"));

    struct record_reader r;
    assert_int_equal(record_reader_open(set, "core.world", &r, &error), OSAFL_OK);
    osafl_reader *from = &r.base;
    assert_int_equal(from->state_version, 7);
    double f64[2];
    uint64_t u64[3];
    float f32[3];
    uint64_t n = 0;
    assert_int_equal(from->f64(from, "a_first", f64, 2), OSAFL_OK);
    assert_memory_equal(f64, some_f64, sizeof f64);
    assert_int_equal(from->count(from, "z.last", &n), OSAFL_OK);
    assert_int_equal(n, 3);
    assert_int_equal(from->u64(from, "z.last", u64, 3), OSAFL_OK);
    assert_memory_equal(u64, some_u64, sizeof u64);
    assert_int_equal(from->f32(from, "m", f32, 3), OSAFL_OK);
    assert_memory_equal(f32, some_f32, sizeof f32);
    assert_string_equal(r.error.text, "");

    assert_int_equal(record_reader_open(set, "aggregator/osafl", &r, &error), OSAFL_OK);
    char bytes[5];
    assert_int_equal(from->bytes(from, "code", bytes, 5), OSAFL_OK);
    assert_memory_equal(bytes, some_bytes, sizeof bytes);
    assert_int_equal(from->u64(from, "nothing", NULL, 0), OSAFL_OK);
    record_set_destroy(set);
    record_writer_destroy(w);
}

/* The format is a file format: these bytes must never change under one format number. */
static void test_bytes_of_a_block(void **state)
{
    (void)state;
    static const unsigned char expected[] = {
        0x8f, 'O', 'S',  'A',  'F', 'L', '\r', '\n', /* magic */
        2,    0,   0,    0,    1,   0,   0,    0,    /* format 2, 1 section */
        88,   0,   0,    0,    0,   0,   0,    0,    /* size */
        1,    0,   0,    0,    3,   0,   0,    0,    /* name of 1 byte, state version 3 */
        32,   0,   0,    0,    0,   0,   0,    0,    /* records of 32 bytes */
        's',  0,   0,    0,    0,   0,   0,    0,    /* */
        2,    0,   0,    0,    3,   0,   0,    0,    /* key of 2 bytes, f32 */
        1,    0,   0,    0,    0,   0,   0,    0,    /* 1 element */
        'k',  '1', 0,    0,    0,   0,   0,    0,    /* */
        0,    0,   0xc0, 0x3f, 0,   0,   0,    0,    /* 1.5f, padded */
    };
    struct record_writer *w = record_writer_create();
    osafl_writer *to = record_writer_section(w, "s", 3);
    assert_int_equal(to->f32(to, "k1", some_f32, 1), OSAFL_OK);
    const void *data = NULL;
    size_t size = 0;
    assert_int_equal(record_writer_finish(w, &data, &size, &error), OSAFL_OK);
    assert_int_equal(size, sizeof expected + 8);
    assert_memory_equal(data, expected, sizeof expected);

    unsigned char old[sizeof expected + 8]; /* format 1 is the same where nothing is deflated */
    memcpy(old, data, size);
    old[8] = 1;
    seal(old, size);
    struct record_set *set = NULL;
    assert_int_equal(record_set_open(old, size, &set, &error), OSAFL_OK);
    record_set_destroy(set);
    record_writer_destroy(w);
}

/* More than one chunk, and no whole number of them. */
#define MANY 20011

/* A block of two tables that become smaller, and one of noise that does not. */
static struct record_writer *make_tables(const uint64_t *u64, const double *f64,
                                         const uint64_t *noise, const void **data, size_t *size)
{
    struct record_writer *w = record_writer_create();
    osafl_writer *to = record_writer_section(w, "s", 1);
    assert_int_equal(to->u64(to, "counts", u64, MANY), OSAFL_OK);
    assert_int_equal(to->f64(to, "doubles", f64, MANY), OSAFL_OK);
    assert_int_equal(to->u64(to, "noise", noise, MANY), OSAFL_OK);
    assert_int_equal(to->u64(to, "short", u64, 5), OSAFL_OK);
    assert_int_equal(record_writer_finish(w, data, size, &error), OSAFL_OK);
    return w;
}

static void fill_tables(uint64_t *u64, double *f64, uint64_t *noise)
{
    for (uint64_t i = 0; i < MANY; i++) {
        u64[i] = i % 7;
        f64[i] = i % 5 == 0 ? 0.25 * (double)i : (double)NAN;
        noise[i] = XXH3_64bits(&i, sizeof i);
    }
}

static void test_large_tables_are_deflated(void **state)
{
    (void)state;
    static uint64_t u64[MANY], noise[MANY], found[MANY];
    static double f64[MANY], found_f64[MANY];
    const void *data = NULL;
    size_t size = 0;
    uint64_t n = 0;
    fill_tables(u64, f64, noise);
    struct record_writer *w = make_tables(u64, f64, noise, &data, &size);
    assert_in_range(size, sizeof noise, sizeof noise + sizeof u64 / 2);
    struct record_set *set = NULL;
    struct record_reader r;
    assert_int_equal(record_set_open(data, size, &set, &error), OSAFL_OK);
    assert_int_equal(record_reader_open(set, "s", &r, &error), OSAFL_OK);
    osafl_reader *from = &r.base;
    assert_int_equal(from->count(from, "counts", &n), OSAFL_OK);
    assert_int_equal(n, MANY);
    assert_int_equal(from->u64(from, "counts", found, MANY), OSAFL_OK);
    assert_memory_equal(found, u64, sizeof u64);
    assert_int_equal(from->f64(from, "doubles", found_f64, MANY), OSAFL_OK);
    assert_memory_equal(found_f64, f64, sizeof f64);
    assert_int_equal(from->u64(from, "noise", found, MANY), OSAFL_OK);
    assert_memory_equal(found, noise, sizeof noise);
    assert_int_equal(from->u64(from, "short", found, 5), OSAFL_OK);
    record_set_destroy(set);
    record_writer_destroy(w);
}

/* Damage to a stream behind a right checksum: said when the record is read, and nothing worse. */
static void test_damaged_streams(void **state)
{
    (void)state;
    static uint64_t u64[MANY], noise[MANY], found[MANY];
    static double f64[MANY];
    const void *data = NULL;
    size_t size = 0;
    fill_tables(u64, f64, noise);
    struct record_writer *w = make_tables(u64, f64, noise, &data, &size);
    unsigned char *copy = malloc(size);
    size_t refused = 0;
    for (size_t at = 24; at < 600; at++) { /* heads and the stream of "counts" */
        memcpy(copy, data, size);
        copy[at] ^= 0x55;
        seal(copy, size);
        struct record_set *set = NULL;
        struct record_reader r;
        osafl_status status = record_set_open(copy, size, &set, &error);
        if (status == OSAFL_OK)
            status = record_reader_open(set, "s", &r, &error);
        if (status == OSAFL_OK)
            status = r.base.u64(&r.base, "counts", found, MANY);
        assert_true(status == OSAFL_OK || status == OSAFL_E_STATE);
        refused += status != OSAFL_OK ? 1 : 0;
        record_set_destroy(set);
    }
    assert_true(refused > 200);
    free(copy);
    record_writer_destroy(w);
}

static void test_same_records_are_the_same_bytes(void **state)
{
    (void)state;
    const void *data = NULL;
    size_t size = 0;
    struct record_writer *w = make_block(&data, &size);
    unsigned char *copy = malloc(size);
    memcpy(copy, data, size);
    const size_t first = size;
    record_writer_destroy(w);
    w = record_writer_create();
    osafl_writer *to = record_writer_section(w, "core.world", 7);
    to->u64(to, "z.last", some_u64, 3);
    to->f64(to, "a_first", some_f64, 2);
    to->f32(to, "m", some_f32, 3);
    to = record_writer_section(w, "aggregator/osafl", 1);
    to->bytes(to, "code", some_bytes, 5);
    to->u64(to, "nothing", NULL, 0);
    assert_int_equal(record_writer_finish(w, &data, &size, &error), OSAFL_OK);
    assert_int_equal(size, first);
    assert_memory_equal(data, copy, size);
    free(copy);
    record_writer_destroy(w);
}

static void test_misfits(void **state)
{
    (void)state;
    const void *data = NULL;
    size_t size = 0;
    struct record_writer *w = make_block(&data, &size);
    struct record_set *set = NULL;
    assert_int_equal(record_set_open(data, size, &set, &error), OSAFL_OK);
    struct record_reader r;
    double f64[3];
    uint64_t u64[3];
    uint64_t n = 0;
    assert_int_equal(record_reader_open(set, "core.rng", &r, &error), OSAFL_E_STATE);
    assert_string_equal(error.text, "saved state has no section core.rng");

    assert_int_equal(record_reader_open(set, "core.world", &r, &error), OSAFL_OK);
    assert_int_equal(r.base.f64(&r.base, "a_first", f64, 3), OSAFL_E_STATE);
    assert_string_equal(r.error.text, "saved state has 2 elements in record a_first of section "
                                      "core.world, expected are 3");
    /* The first message stays. */
    assert_int_equal(r.base.u64(&r.base, "m", u64, 3), OSAFL_E_STATE);
    assert_non_null(strstr(r.error.text, "a_first"));

    assert_int_equal(record_reader_open(set, "core.world", &r, &error), OSAFL_OK);
    assert_int_equal(r.base.u64(&r.base, "m", u64, 3), OSAFL_E_STATE);
    assert_string_equal(r.error.text, "saved state has record m of section core.world as f32, "
                                      "expected is u64");
    assert_int_equal(record_reader_open(set, "core.world", &r, &error), OSAFL_OK);
    assert_int_equal(r.base.count(&r.base, "code", &n), OSAFL_E_STATE);
    assert_string_equal(r.error.text, "saved state has no record code in section core.world");
    record_set_destroy(set);
    record_writer_destroy(w);
}

static void expect_unfinished(struct record_writer *w, osafl_status status, const char *text)
{
    const void *data = NULL;
    size_t size = 0;
    assert_int_equal(record_writer_finish(w, &data, &size, &error), status);
    if (strstr(error.text, text) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, text);
    assert_null(data);
    record_writer_destroy(w);
}

static void test_wrong_names_spoil_the_block(void **state)
{
    (void)state;
    char longest[RECORD_NAME_BYTES + 1];
    memset(longest, 'k', RECORD_NAME_BYTES);
    longest[RECORD_NAME_BYTES] = '\0';
    const char *const keys[] = {"", "Upper", "1st", "a/b", "a b", longest};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct record_writer *w = record_writer_create();
        osafl_writer *to = record_writer_section(w, "s", 1);
        assert_int_equal(to->u64(to, keys[i], some_u64, 1), OSAFL_E_BUG);
        assert_string_not_equal(record_writer_problem(w), "");
        expect_unfinished(w, OSAFL_E_BUG, "is not a record key");
    }
    struct record_writer *w = record_writer_create();
    (void)record_writer_section(w, "No", 1);
    expect_unfinished(w, OSAFL_E_BUG, "is not a section name");

    w = record_writer_create();
    osafl_writer *to = record_writer_section(w, "s", 1);
    to->u64(to, "k", some_u64, 1);
    to->f64(to, "k", some_f64, 1);
    expect_unfinished(w, OSAFL_E_BUG, "section s has record k twice");

    w = record_writer_create();
    (void)record_writer_section(w, "s", 1);
    (void)record_writer_section(w, "s", 1);
    expect_unfinished(w, OSAFL_E_BUG, "section s twice");

    w = record_writer_create();
    to = record_writer_section(w, "s", 1);
    assert_int_equal(to->u64(to, "k", some_u64, UINT64_MAX / 8), OSAFL_E_NOMEM);
    expect_unfinished(w, OSAFL_E_NOMEM, "record k has too many elements");
}

static void expect_refused(const void *data, size_t size, const char *text)
{
    struct record_set *set = NULL;
    assert_int_equal(record_set_open(data, size, &set, &error), OSAFL_E_STATE);
    assert_null(set);
    if (strstr(error.text, text) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, text);
}

static void test_truncation_anywhere(void **state)
{
    (void)state;
    const void *data = NULL;
    size_t size = 0;
    struct record_writer *w = make_block(&data, &size);
    for (size_t n = 0; n < size; n++) {
        unsigned char *part =
            malloc(n > 0 ? n : 1); /* exactly, so that sanitizers see a step too far */
        memcpy(part, data, n);
        expect_refused(part, n, n < 8 ? "is not saved state" : "truncated");
        free(part);
    }
    record_writer_destroy(w);
}

static void test_every_flipped_bit(void **state)
{
    (void)state;
    const void *data = NULL;
    size_t size = 0;
    struct record_writer *w = make_block(&data, &size);
    unsigned char *copy = malloc(size);
    memcpy(copy, data, size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        copy[bit / 8] ^= (unsigned char)(1u << (bit % 8));
        expect_refused(copy, size, "");
        copy[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    }
    free(copy);
    record_writer_destroy(w);
}

static void test_foreign_blocks(void **state)
{
    (void)state;
    static const char text[64] = "round,test_accuracy\n0,0.1\n";
    expect_refused(text, sizeof text, "is not saved state of this program");
    expect_refused("", 0, "is not saved state of this program");

    const void *data = NULL;
    size_t size = 0;
    struct record_writer *w = make_block(&data, &size);
    unsigned char *copy = malloc(size);
    memcpy(copy, data, size);
    copy[8] = 9;
    expect_refused(copy, size, "format 9, this program reads formats 1 to 2");
    free(copy);
    record_writer_destroy(w);
}

/* Damage behind a right checksum, as a hostile hand would do it: all lengths and counts are
 * overwritten by extreme values. */
static void test_resealed_damage(void **state)
{
    (void)state;
    static const uint32_t values[] = {0, 1, 7, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff};
    const void *data = NULL;
    size_t size = 0;
    struct record_writer *w = make_block(&data, &size);
    unsigned char *copy = malloc(size);
    size_t refused = 0;
    for (size_t at = 8; at + 12 <= size; at += 4) {
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            memcpy(copy, data, size);
            memcpy(copy + at, &values[i], 4);
            seal(copy, size);
            struct record_set *set = NULL;
            const osafl_status status = record_set_open(copy, size, &set, &error);
            assert_true(status == OSAFL_OK || status == OSAFL_E_STATE);
            refused += status != OSAFL_OK ? 1 : 0;
            record_set_destroy(set);
        }
    }
    assert_true(refused > 50); /* values of elements may change unseen, structure may not */
    free(copy);
    record_writer_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_bytes_of_a_block),
        cmocka_unit_test(test_large_tables_are_deflated),
        cmocka_unit_test(test_damaged_streams),
        cmocka_unit_test(test_same_records_are_the_same_bytes),
        cmocka_unit_test(test_misfits),
        cmocka_unit_test(test_wrong_names_spoil_the_block),
        cmocka_unit_test(test_truncation_anywhere),
        cmocka_unit_test(test_every_flipped_bit),
        cmocka_unit_test(test_foreign_blocks),
        cmocka_unit_test(test_resealed_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
