/* clock.h - how much time passes. */
#ifndef OSAFL_CORE_CLOCK_H
#define OSAFL_CORE_CLOCK_H

#include <time.h>

/* Seconds of a clock that never steps, whatever is done to the wall clock. */
static inline double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
