/* osafl/channel.h - what is client u's gain to the base station in round t? */
#ifndef OSAFL_CHANNEL_H
#define OSAFL_CHANNEL_H

#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is the same for all clients and rounds.  The rate of client u in round t at power p is
 * bandwidth_hz * log2(1 + gain * p / (bandwidth_hz * noise_w_per_hz)), the paper's R(p). */
typedef struct osafl_link {
    uint32_t struct_size;
    uint32_t reserved;
    double bandwidth_hz;   /* of one client, omega */
    double noise_w_per_hz; /* at the receiver, noise figure included, xi^2 */
} osafl_link;

/* Where a client is. */
typedef struct osafl_place {
    double x_m; /* from the base station; NaN where the channel knows no geometry */
    double y_m;
    uint32_t line_of_sight; /* 1 or 0 */
    uint32_t reserved;
} osafl_place;

typedef struct osafl_channel_vt {
    osafl_lifecycle life;
    /* REQUIRED.  The same answer every time.  [any] */
    osafl_status (*describe)(void *self, osafl_call *c, osafl_link *out);
    /* REQUIRED.  gain[u] >= 0, finite, linear power gain (antennas included) of every client in
     * one round.  A function of the round, whatever was asked before: a channel that evolves in
     * time (mobility, correlated shadowing) keeps or recomputes what it needs.  Rounds are asked
     * for in ascending order, the same one possibly twice.  [coord] */
    osafl_status (*gains)(void *self, osafl_call *c, uint32_t round, double *gain);
    /* OPTIONAL: place of every client in one round, in rows of place_size bytes (R5); NULL: places
     * are not known.  [coord] */
    osafl_status (*place)(void *self, osafl_call *c, uint32_t round, uint32_t place_size,
                          osafl_place *out);
} osafl_channel_vt;

#ifdef __cplusplus
}
#endif
#endif
