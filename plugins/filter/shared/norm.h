/* norm.h - squared norm of an update. */
#ifndef OSAFL_FILTER_NORM_H
#define OSAFL_FILTER_NORM_H

#include <stdint.h>

/* Sums that run side by side.  Part of the results. */
#define NORM_LANES 8

/* ||x||^2 of n floats, in double and in a fixed order. */
static inline double norm_squared(const float *x, uint64_t n)
{
    double lane[NORM_LANES] = {0.0};
    uint64_t i = 0;
    for (; i + NORM_LANES <= n; i += NORM_LANES)
        for (unsigned j = 0; j < NORM_LANES; j++)
            lane[j] += (double)x[i + j] * (double)x[i + j];
    double sum = 0.0;
    for (unsigned j = 0; j < NORM_LANES; j++)
        sum += lane[j];
    for (; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sum;
}

#endif
