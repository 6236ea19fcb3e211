/* test_streams.c - known answers of Philox and of the mapping from names to words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <Random123/philox.h>

#include "base/streams.h"
#include "osafl/random.h"

/* Published with the generator (Random123, examples/kat_vectors). */
static void test_philox_known_answers(void **state)
{
    (void)state;
    static const struct {
        philox4x32_ctr_t counter;
        philox4x32_key_t key;
        uint32_t answer[4];
    } cases[] = {
        {{{0, 0, 0, 0}}, {{0, 0}}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}},
         {{UINT32_MAX, UINT32_MAX}},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
         {{0xa4093822, 0x299f31d0}},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const philox4x32_ctr_t words = philox4x32(cases[i].counter, cases[i].key);
        assert_memory_equal(words.v, cases[i].answer, sizeof words.v);
    }
}

/* Computed by an independent implementation; a change here changes every result there is. */
static void test_golden_words(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed;
        uint32_t kind, purpose, client, round;
        uint64_t index;
        uint32_t n;
        uint32_t words[7];
    } cases[] = {
        {1,
         0,
         STREAM_ACTIVITY,
         0,
         0,
         0,
         7,
         {0x4e6bb632, 0x84e4e3c0, 0xf5a41a58, 0x53ff9838, 0x5d9f8cc4, 0x2adf6971, 0xb4f54289}},
        {UINT64_C(0x123456789abcdef0),
         8,
         3,
         24,
         49,
         UINT64_C(0x100000005),
         5,
         {0xe4a9c231, 0xc149b709, 0x18eb90a2, 0xa13488a9, 0xc6651e3e}},
        {UINT64_MAX,
         6,
         UINT32_MAX,
         UINT32_MAX,
         UINT32_MAX,
         UINT64_MAX,
         4,
         {0xc4cd87b1, 0x6c3569a8, 0x0c083341, 0x801a1699}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t out[8];
        memset(out, 0xa5, sizeof out);
        streams_fill(cases[i].seed, cases[i].kind, cases[i].purpose, cases[i].client,
                     cases[i].round, cases[i].index, out, cases[i].n);
        assert_memory_equal(out, cases[i].words, cases[i].n * sizeof out[0]);
        assert_int_equal(out[cases[i].n], 0xa5a5a5a5); /* nothing behind the end is written */
    }
}

/* Long requests, of which several blocks are made at a time, are the same blocks of the generator,
 * from any index and to any address. */
static void test_blocks_of_long_streams(void **state)
{
    (void)state;
    enum { BLOCKS = 41, REST = 3, WORDS = 4 * BLOCKS + REST };
    static const uint64_t indices[] = {0, 6, UINT64_C(0xfedcba9876543210), UINT64_MAX};
    for (uint32_t i = 0; i < sizeof indices / sizeof indices[0]; i++) {
        uint32_t out[WORDS + 4];
        const uint32_t shift = i % 4;
        const philox4x32_key_t seed = {{0x89abcdef, 0x01234567}};
        const philox4x32_ctr_t name = {{UINT32_MAX - i, 5, 1, 0x4f530002}};
        const philox4x32_ctr_t derived = philox4x32(name, seed);
        const philox4x32_key_t key = {{derived.v[0], derived.v[1]}};
        streams_fill(UINT64_C(0x0123456789abcdef), 2, 1, UINT32_MAX - i, 5, indices[i], out + shift,
                     WORDS);
        for (uint32_t block = 0; block <= BLOCKS; block++) {
            const philox4x32_ctr_t counter = {
                {block, 0, (uint32_t)indices[i], (uint32_t)(indices[i] >> 32)}};
            const philox4x32_ctr_t words = philox4x32(counter, key);
            assert_memory_equal(out + shift + 4 * (size_t)block, words.v,
                                (block < BLOCKS ? 4 : REST) * sizeof words.v[0]);
        }
    }
}

/* A shorter request is the beginning of a longer one. */
static void test_prefixes(void **state)
{
    (void)state;
    uint32_t whole[103];
    streams_fill(9, 2, 1, 4, 5, 6, whole, 103);
    for (uint64_t n = 0; n <= 103; n++) {
        uint32_t part[103] = {0};
        streams_fill(9, 2, 1, 4, 5, 6, part, n);
        assert_memory_equal(part, whole, n * sizeof part[0]);
    }
}

/* Each argument by itself makes another stream. */
static void test_every_argument_counts(void **state)
{
    (void)state;
    uint32_t words[7][4];
    streams_fill(1, 2, 3, 4, 5, 6, words[0], 4);
    streams_fill(1 + (UINT64_C(1) << 32), 2, 3, 4, 5, 6, words[1], 4);
    streams_fill(1, 3, 3, 4, 5, 6, words[2], 4);
    streams_fill(1, 2, 4, 4, 5, 6, words[3], 4);
    streams_fill(1, 2, 3, 5, 5, 6, words[4], 4);
    streams_fill(1, 2, 3, 4, 6, 6, words[5], 4);
    streams_fill(1, 2, 3, 4, 5, 6 + (UINT64_C(1) << 32), words[6], 4);
    for (size_t i = 0; i < 7; i++) {
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(words[i], words[j], sizeof words[i]);
    }
}

/* Mean and variance of many uniform and normal numbers, within five standard errors. */
static void test_moments(void **state)
{
    (void)state;
    enum { N = 100000 };
    double uniform = 0.0;
    double normal = 0.0;
    double square = 0.0;
    for (uint64_t i = 0; i < N; i++) {
        uint32_t word[4];
        streams_fill(7, 0, 1, 0, 0, i, word, 4);
        uniform += osafl_uniform(word);
        const double z = osafl_normal(word);
        normal += z;
        square += z * z;
    }
    const double root = sqrt((double)N);
    assert_true(fabs(uniform / N - 0.5) < 5.0 * sqrt(1.0 / 12.0) / root);
    assert_true(fabs(normal / N) < 5.0 / root);
    assert_true(fabs(square / N - 1.0) < 5.0 * sqrt(2.0) / root);
}

static void test_below(void **state)
{
    (void)state;
    const uint32_t zero[2] = {0, 0};
    const uint32_t most[2] = {UINT32_MAX, UINT32_MAX};
    const uint32_t half[2] = {0x80000000u, 0};
    assert_int_equal(osafl_below(zero, 10), 0);
    assert_int_equal(osafl_below(most, 10), 9);
    assert_int_equal(osafl_below(half, 10), 5);
    assert_int_equal(osafl_below(most, 1), 0);
    assert_int_equal(osafl_below(most, UINT32_MAX), UINT32_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_philox_known_answers),
        cmocka_unit_test(test_golden_words),
        cmocka_unit_test(test_blocks_of_long_streams),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_every_argument_counts),
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
