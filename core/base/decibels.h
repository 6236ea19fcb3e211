/* decibels.h - powers in dBm, as settings have them. */
#ifndef OSAFL_CORE_DECIBELS_H
#define OSAFL_CORE_DECIBELS_H

#include <math.h>

static inline double watts_of_dbm(double dbm)
{
    return pow(10.0, (dbm - 30.0) / 10.0);
}

#endif
