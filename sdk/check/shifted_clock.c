/* shifted_clock.c - the time of day that a plugin sees. */
#include "shifted_clock.h"

#include <sys/time.h>
#include <time.h>

#include "plugin_calls.h"

static int64_t shift_s;

static int shifted_clock_gettime(clockid_t id, struct timespec *out)
{
    const int status = clock_gettime(id, out);
    out->tv_sec += shift_s;
    return status;
}

static int shifted_timespec_get(struct timespec *out, int base)
{
    const int status = timespec_get(out, base);
    out->tv_sec += shift_s;
    return status;
}

static int shifted_gettimeofday(struct timeval *out, void *zone)
{
    const int status = gettimeofday(out, zone);
    out->tv_sec += shift_s;
    return status;
}

static time_t shifted_time(time_t *out)
{
    const time_t now = time(NULL) + shift_s;
    if (out != NULL)
        *out = now;
    return now;
}

static clock_t shifted_clock(void)
{
    return clock() + (clock_t)shift_s * CLOCKS_PER_SEC;
}

/* What now() of C++ returns: nanoseconds, in a class of that one member. */
static int64_t nanoseconds(clockid_t id)
{
    struct timespec now;
    shifted_clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t shifted_system_clock(void)
{
    return nanoseconds(CLOCK_REALTIME);
}

static int64_t shifted_steady_clock(void)
{
    return nanoseconds(CLOCK_MONOTONIC);
}

static const struct replacement replacements[] = {
    {"clock_gettime", (any_function *)shifted_clock_gettime},
    {"timespec_get", (any_function *)shifted_timespec_get},
    {"gettimeofday", (any_function *)shifted_gettimeofday},
    {"time", (any_function *)shifted_time},
    {"clock", (any_function *)shifted_clock},
    {"_ZNSt6chrono3_V212system_clock3nowEv", (any_function *)shifted_system_clock},
    {"_ZNSt6chrono3_V212steady_clock3nowEv", (any_function *)shifted_steady_clock},
};

bool clock_shift(const void *address_in_plugin, int64_t seconds)
{
    shift_s = seconds;
    return plugin_calls_redirect(address_in_plugin, replacements,
                                 sizeof replacements / sizeof replacements[0]);
}
