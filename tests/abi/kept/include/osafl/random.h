/* osafl/random.h - turns the random words of host->random_fill into numbers.
 *
 * The mappings are part of the interface: changing one changes every result.  All are exact
 * integer or IEEE operations except the normal one, which uses libm. */
#ifndef OSAFL_RANDOM_H
#define OSAFL_RANDOM_H

#include <math.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Uniform in [0, 1) with 24 bits, from one word. */
static inline float osafl_uniform_float(uint32_t word)
{
    return (float)(word >> 8) * 0x1p-24f;
}

/* Uniform in [0, 1) with 53 bits, from two words. */
static inline double osafl_uniform(const uint32_t word[2])
{
    const uint64_t bits = ((uint64_t)word[0] << 32) | word[1];
    return (double)(bits >> 11) * 0x1p-53;
}

/* Uniform in {0, ..., n - 1}, n >= 1, from two words.  The bias is below n / 2^64. */
static inline uint32_t osafl_below(const uint32_t word[2], uint32_t n)
{
    const uint64_t bits = ((uint64_t)word[0] << 32) | word[1];
    /* high 32 bits of bits * n / 2^32, without a 128-bit product */
    const uint64_t high = (bits >> 32) * n;
    const uint64_t low = ((bits & 0xffffffffu) * n) >> 32;
    return (uint32_t)((high + low) >> 32);
}

/* Standard normal, from four words (Box-Muller, cosine branch). */
static inline double osafl_normal(const uint32_t word[4])
{
    const double u = osafl_uniform(word) + 0x1p-54; /* in (0, 1) */
    const double v = osafl_uniform(word + 2);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586476925 * v);
}

#ifdef __cplusplus
}
#endif
#endif
