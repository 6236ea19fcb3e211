/* vector.h - vectors of float as wide as the registers of the instruction set at hand, in the
 * vector extensions of gcc and clang. */
#ifndef OSAFL_NN_VECTOR_H
#define OSAFL_NN_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__AVX512F__)
#include <immintrin.h>
#define LANES 16
#elif defined(__AVX2__)
#include <immintrin.h>
#define LANES 8
#else
#define LANES 4
#endif

/* Vector registers; half of them is enough to hold what is not a tile of a result. */
#if defined(__AVX512F__) || defined(__aarch64__)
#define VECTOR_REGISTERS 32
#else
#define VECTOR_REGISTERS 16
#endif

typedef float vec __attribute__((vector_size(4 * LANES)));
typedef float unaligned_vec __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

#define NN_INLINE static inline __attribute__((always_inline))
/* Unrolls the loop that follows, whose length is a constant, completely. */
#if defined(__clang__)
#define NN_UNROLL _Pragma("clang loop unroll(full)")
#else
#define NN_UNROLL _Pragma("GCC unroll 64")
#endif

NN_INLINE vec vec_load(const float *p)
{
    return *(const unaligned_vec *)p;
}
NN_INLINE void vec_store(float *p, vec v)
{
    *(unaligned_vec *)p = v;
}
NN_INLINE vec vec_all(float x)
{
    return x - (vec){0};
}

/* v itself, which compilers must not load again for each use: where every operation has an operand
 * in memory, the loads take longer than the arithmetic. */
NN_INLINE vec vec_in_register(vec v)
{
#if defined(__AVX512F__)
    __asm__("" : "+v"(v));
#elif defined(__x86_64__)
    __asm__("" : "+x"(v));
#elif defined(__aarch64__)
    __asm__("" : "+w"(v));
#endif
    return v;
}

/* Integers; as the result of a comparison, all bits or none of each lane. */
typedef int32_t int_vec __attribute__((vector_size(4 * LANES)));
typedef uint8_t byte_vec __attribute__((vector_size(LANES)));
typedef uint8_t unaligned_byte_vec __attribute__((vector_size(LANES), aligned(1), may_alias));

/* One bit or more for each lane. */
#if LANES == 16
typedef __mmask16 lane_mask;
#else
typedef int_vec lane_mask;
#endif

NN_INLINE lane_mask vec_greater(vec a, vec b)
{
#if LANES == 16
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GT_OQ);
#else
    return a > b;
#endif
}
NN_INLINE vec vec_select(lane_mask mask, vec yes, vec no)
{
#if LANES == 16
    return (vec)_mm512_mask_mov_ps((__m512)no, mask, (__m512)yes);
#else
    return (vec)((mask & (int_vec)yes) | (~mask & (int_vec)no));
#endif
}
/* The first n lanes. */
NN_INLINE lane_mask vec_first(size_t n)
{
#if LANES == 16
    return (lane_mask)((1u << n) - 1); /* n may be 16 */
#else
    lane_mask mask;
    for (size_t i = 0; i < LANES; i++)
        mask[i] = i < n ? -1 : 0;
    return mask;
#endif
}
/* The lanes of the mask, which alone lie in memory; zeros in the others. */
NN_INLINE vec vec_load_some(const float *p, lane_mask mask)
{
#if LANES == 16
    return (vec)_mm512_maskz_loadu_ps(mask, p);
#elif LANES == 8
    return (vec)_mm256_maskload_ps(p, (__m256i)mask);
#else
    vec v = {0};
    for (size_t i = 0; i < LANES; i++)
        if (mask[i] != 0)
            v[i] = p[i];
    return v;
#endif
}
NN_INLINE void vec_store_some(float *p, lane_mask mask, vec v)
{
#if LANES == 16
    _mm512_mask_storeu_ps(p, mask, (__m512)v);
#elif LANES == 8
    _mm256_maskstore_ps(p, (__m256i)mask, (__m256)v);
#else
    for (size_t i = 0; i < LANES; i++)
        if (mask[i] != 0)
            p[i] = v[i];
#endif
}
NN_INLINE int_vec vec_select_int(lane_mask mask, int32_t yes, int_vec no)
{
#if LANES == 16
    return (int_vec)_mm512_mask_mov_epi32((__m512i)no, mask, _mm512_set1_epi32(yes));
#else
    return (mask & yes) | (~mask & no);
#endif
}

/* max(x, 0), and NaN where x is. */
NN_INLINE vec vec_positive(vec x)
{
#if LANES == 16
    return (vec)_mm512_max_ps(_mm512_setzero_ps(), (__m512)x);
#elif LANES == 8
    return (vec)_mm256_max_ps(_mm256_setzero_ps(), (__m256)x);
#else
    return (vec)((int_vec)x & ~(x < 0));
#endif
}

/* Small numbers as bytes, and back. */
NN_INLINE void vec_store_bytes(uint8_t *p, int_vec v)
{
    *(unaligned_byte_vec *)p = __builtin_convertvector(v, byte_vec);
}
NN_INLINE int_vec vec_load_bytes(const uint8_t *p)
{
    return __builtin_convertvector(*(const unaligned_byte_vec *)p, int_vec);
}

#if LANES >= 8
/* table[index[i]] for each lane i; 0 <= index < LANES. */
NN_INLINE vec vec_look_up(const float *table, int_vec index)
{
#if LANES == 16
    return (vec)_mm512_permutexvar_ps((__m512i)index, (__m512)vec_load(table));
#else
    return (vec)_mm256_permutevar8x32_ps((__m256)vec_load(table), (__m256i)index);
#endif
}
#endif

#endif
