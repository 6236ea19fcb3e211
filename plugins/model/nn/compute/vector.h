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

/* Integers; as the result of a comparison, all bits or none of each lane. */
typedef int32_t int_vec __attribute__((vector_size(4 * LANES)));
typedef uint8_t byte_vec __attribute__((vector_size(LANES)));
typedef uint8_t unaligned_byte_vec __attribute__((vector_size(LANES), aligned(1), may_alias));

NN_INLINE vec vec_select(int_vec mask, vec yes, vec no)
{
    return (vec)((mask & (int_vec)yes) | (~mask & (int_vec)no));
}

/* max(x, 0) */
NN_INLINE vec vec_positive(vec x)
{
    return (vec)((int_vec)x & (x > 0));
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
