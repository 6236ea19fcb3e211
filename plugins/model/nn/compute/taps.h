/* taps.h - which taps of a filter meet the input, along one axis. */
#ifndef OSAFL_NN_TAPS_H
#define OSAFL_NN_TAPS_H

#include "arithmetic.h"

/* Taps [begin, end) of n that meet an input of `length` from output position o. */
struct span {
    size_t begin;
    size_t end;
};

static inline struct span taps_at(size_t o, size_t n, size_t stride, size_t padding, size_t length)
{
    const size_t first = o * stride; /* of the input, padding included */
    struct span s = {.begin = first < padding ? padding - first : 0,
                     .end = length + padding > first ? length + padding - first : 0};
    if (s.end > n)
        s.end = n;
    if (s.begin > s.end)
        s.begin = s.end;
    return s;
}

/* Output positions [begin, end) of n at which tap t meets the input. */
static inline struct span positions_of(size_t t, size_t n, size_t stride, size_t padding,
                                       size_t length)
{
    struct span s = {.begin = t < padding ? (padding - t + stride - 1) / stride : 0, .end = 0};
    if (length + padding > t)
        s.end = smaller((length + padding - t - 1) / stride + 1, n);
    if (s.begin > s.end)
        s.begin = s.end;
    return s;
}

#endif
