/* step_clock.c - LD_PRELOAD: the clock of the day steps back by an hour each time it is read. */
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_long readings;

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *t)
{
    const int result = (int)syscall(SYS_clock_gettime, clock, t);
    if (result == 0 && clock == CLOCK_REALTIME)
        t->tv_sec -= 3600 * (1 + atomic_fetch_add(&readings, 1));
    return result;
}

__attribute__((visibility("default"))) time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL)
        *out = now.tv_sec;
    return now.tv_sec;
}

__attribute__((visibility("default"))) int gettimeofday(struct timeval *t, void *zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}
