/* unit_scale.c - which multiple of a unit suits a column or an axis. */
#include "unit_scale.h"

#include <stddef.h>

/* The largest of n ascending scales that does not make `most` smaller than 1. */
static struct unit_scale choose(const struct unit_scale *scale, size_t n, double most)
{
    size_t i = 0;
    while (i + 1 < n && most >= scale[i + 1].divisor)
        i++;
    return scale[i];
}

struct unit_scale unit_scale_bits(double most)
{
    static const struct unit_scale scale[] = {
        {1, "bit"}, {1e3, "kbit"}, {1e6, "Mbit"}, {1e9, "Gbit"}, {1e12, "Tbit"}};
    return choose(scale, 5, most);
}

struct unit_scale unit_scale_joules(double most)
{
    static const struct unit_scale scale[] = {
        {1e-3, "mJ"}, {1, "J"}, {1e3, "kJ"}, {1e6, "MJ"}, {1e9, "GJ"}};
    return choose(scale, 5, most == 0 ? 1 : most);
}

struct unit_scale unit_scale_seconds(double most)
{
    /* A unit is left when there are more than five of the next, so that axes keep whole numbers. */
    const struct unit_scale seconds = {1, "s"};
    const struct unit_scale minutes = {60, "min"};
    const struct unit_scale hours = {3600, "h"};
    const struct unit_scale days = {86400, "days"};
    if (most < 5 * 60)
        return seconds;
    if (most < 5 * 3600)
        return minutes;
    return most < 5 * 86400 ? hours : days;
}
