/* fading.h - small-scale fading of a narrow-band link, constant within a round and correlated
 * between rounds as Clarke's and Jakes's model has it: a sum of sinusoids with random phases (Xiao,
 * Zheng and Beaulieu 2006), which is a function of client and round alone. */
#ifndef OSAFL_CHANNEL_FADING_H
#define OSAFL_CHANNEL_FADING_H

#include "osafl/channel.h"

enum { FADING_NONE, FADING_RAYLEIGH, FADING_RICIAN, FADING_SIGHT };

struct fading {
    const osafl_host *host;
    int32_t kind;  /* FADING_*, but not NONE */
    double k;      /* Rician: power of the direct path over that of the scattered ones */
    double cycles; /* of the greatest Doppler shift, from one round to the next */
};

/* |h|^2 of mean 1 in one round. */
double fading_gain(const struct fading *f, osafl_call *c, uint32_t client, uint32_t round,
                   bool in_sight);

#endif
