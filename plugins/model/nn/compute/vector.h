/* vector.h - vectors of float as wide as the registers of the instruction set at hand, in the
 * vector extensions of gcc and clang. */
#ifndef OSAFL_NN_VECTOR_H
#define OSAFL_NN_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX2__)
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

typedef int32_t mask_vec __attribute__((vector_size(4 * LANES)));

/* max(x, 0) */
NN_INLINE vec vec_positive(vec x)
{
    return (vec)((mask_vec)x & (x > 0));
}

#endif
