/* finite.h - are all values finite? */
#ifndef OSAFL_CORE_FINITE_H
#define OSAFL_CORE_FINITE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static inline bool all_finite(const float *x, uint64_t n)
{
    uint32_t bad = 0;
    for (uint64_t i = 0; i < n; i++) /* without a branch, so that it runs as fast as memory */
        bad |= !(fabsf(x[i]) <= __FLT_MAX__);
    return bad == 0;
}

#endif
