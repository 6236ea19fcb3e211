/* transpose.h - transposes matrices in registers. */
#ifndef OSAFL_NN_TRANSPOSE_H
#define OSAFL_NN_TRANSPOSE_H

#include "vector.h"

/* Elements of the first (second) halves of a and b in turn. */
NN_INLINE vec vec_interleave_low(vec a, vec b)
{
#if LANES == 16
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#elif LANES == 8
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#else
    return __builtin_shufflevector(a, b, 0, 4, 1, 5);
#endif
}
NN_INLINE vec vec_interleave_high(vec a, vec b)
{
#if LANES == 16
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                   31);
#elif LANES == 8
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#else
    return __builtin_shufflevector(a, b, 2, 6, 3, 7);
#endif
}

/* Transposes a square of LANES rows: log2(LANES) times, rows i and i + LANES / 2 are interleaved
 * into rows 2 i and 2 i + 1. */
NN_INLINE void transpose_square(vec row[LANES])
{
    vec next[LANES];
    NN_UNROLL
    for (int stage = 1; stage < LANES; stage *= 2) {
        NN_UNROLL
        for (int i = 0; i < LANES / 2; i++) {
            next[2 * i] = vec_interleave_low(row[i], row[i + LANES / 2]);
            next[2 * i + 1] = vec_interleave_high(row[i], row[i + LANES / 2]);
        }
        NN_UNROLL
        for (int i = 0; i < LANES; i++)
            row[i] = next[i];
    }
}

/* to[j * to_row + i] = from[i * from_row + j]; columns of `to` from rows up to the next multiple
 * of LANES become 0 when padded. */
static inline void transpose(size_t rows, size_t columns, const float *from, size_t from_row,
                             float *to, size_t to_row, bool padded)
{
    const size_t whole_rows = rows / LANES * LANES;
    const size_t whole_columns = columns / LANES * LANES;
    for (size_t i = 0; i < whole_rows; i += LANES)
        for (size_t j = 0; j < whole_columns; j += LANES) {
            vec square[LANES];
            NN_UNROLL
            for (int k = 0; k < LANES; k++)
                square[k] = vec_load(from + (i + (size_t)k) * from_row + j);
            transpose_square(square);
            NN_UNROLL
            for (int k = 0; k < LANES; k++)
                vec_store(to + (j + (size_t)k) * to_row + i, square[k]);
        }
    const size_t end = padded ? (rows + LANES - 1) / LANES * LANES : rows;
    for (size_t j = 0; j < columns; j++)
        for (size_t i = j < whole_columns ? whole_rows : 0; i < end; i++)
            to[j * to_row + i] = i < rows ? from[i * from_row + j] : 0;
}

#endif
