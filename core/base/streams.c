/* streams.c - random streams as pure functions of their names.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
 * SC 2011) is a keyed bijection of 128-bit counters.  A stream's name is longer than one counter,
 * so it is used twice: once to turn (seed, kind, purpose, client, round) into the key of the
 * stream, then under that key for the words themselves. */
#include "streams.h"

#include <string.h>

#include <Random123/philox.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Upper half of the word that holds the kind: "OS", so that no other use of Philox under the same
 * key meets our counters by accident. */
#define DOMAIN_WORD UINT32_C(0x4f530000)

/* Words of the blocks [begin, end) of a stream, at their places in out. */
static void fill_blocks(philox4x32_key_t key, uint64_t index, uint64_t begin, uint64_t end,
                        uint32_t *out)
{
    for (uint64_t block = begin; block < end; block++) {
        const philox4x32_ctr_t counter = {
            {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)index, (uint32_t)(index >> 32)}};
        const philox4x32_ctr_t words = philox4x32(counter, key);
        memcpy(out + 4 * block, words.v, sizeof words.v);
    }
}

#if defined(__x86_64__)
/* The same four blocks at a time, for encoders that draw a word for every parameter of a model:
 * the lower halves of four lanes hold one word each of four counters, the upper halves anything.
 * Returns how many of n blocks are done. */
__attribute__((target("avx2"))) static uint64_t fill_by_fours(philox4x32_key_t key, uint64_t index,
                                                              uint64_t n, uint32_t *out)
{
    enum { ROUNDS = 10, LOWER_LANES = 0x20, UPPER_LANES = 0x31, ODD_WORDS = 0xaa };
    const __m256i factor_0 = _mm256_set1_epi64x(PHILOX_M4x32_0);
    const __m256i factor_1 = _mm256_set1_epi64x(PHILOX_M4x32_1);
    __m256i key_0[ROUNDS];
    __m256i key_1[ROUNDS];
    for (uint32_t r = 0; r < ROUNDS; r++) {
        key_0[r] = _mm256_set1_epi64x(key.v[0] + r * PHILOX_W32_0);
        key_1[r] = _mm256_set1_epi64x(key.v[1] + r * PHILOX_W32_1);
    }
    for (uint64_t block = 0; block < n / 4 * 4; block += 4) {
        __m256i a =
            _mm256_add_epi64(_mm256_set1_epi64x((long long)block), _mm256_set_epi64x(3, 2, 1, 0));
        __m256i b = _mm256_srli_epi64(a, 32);
        __m256i c = _mm256_set1_epi64x((long long)index);
        __m256i d = _mm256_srli_epi64(c, 32);
        for (int r = 0; r < ROUNDS; r++) {
            const __m256i p = _mm256_mul_epu32(factor_0, a);
            const __m256i q = _mm256_mul_epu32(factor_1, c);
            a = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(q, 32), b), key_0[r]);
            b = q;
            c = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p, 32), d), key_1[r]);
            d = p;
        }
        /* lanes of (a, b) and (c, d), then the four words of each block side by side */
        const __m256i ab = _mm256_blend_epi32(a, _mm256_slli_epi64(b, 32), ODD_WORDS);
        const __m256i cd = _mm256_blend_epi32(c, _mm256_slli_epi64(d, 32), ODD_WORDS);
        const __m256i even = _mm256_unpacklo_epi64(ab, cd);
        const __m256i odd = _mm256_unpackhi_epi64(ab, cd);
        __m256i *to = (__m256i *)(void *)(out + 4 * block);
        _mm256_storeu_si256(to, _mm256_permute2x128_si256(even, odd, LOWER_LANES));
        _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(even, odd, UPPER_LANES));
    }
    return n / 4 * 4;
}
#endif

void streams_fill(uint64_t seed, uint32_t kind, uint32_t purpose, uint32_t client, uint32_t round,
                  uint64_t index, uint32_t *out, uint64_t n)
{
    const philox4x32_key_t seed_key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    const philox4x32_ctr_t name = {{client, round, purpose, kind | DOMAIN_WORD}};
    const philox4x32_ctr_t derived = philox4x32(name, seed_key);
    const philox4x32_key_t key = {{derived.v[0], derived.v[1]}};

    const uint64_t whole = n / 4;
    uint64_t done = 0;
#if defined(__x86_64__)
    if (whole >= 8 && __builtin_cpu_supports("avx2"))
        done = fill_by_fours(key, index, whole, out);
#endif
    fill_blocks(key, index, done, whole, out);
    if (n % 4 != 0) {
        const philox4x32_ctr_t counter = {
            {(uint32_t)whole, (uint32_t)(whole >> 32), (uint32_t)index, (uint32_t)(index >> 32)}};
        const philox4x32_ctr_t words = philox4x32(counter, key);
        memcpy(out + 4 * whole, words.v, (size_t)(n % 4) * sizeof words.v[0]);
    }
}
