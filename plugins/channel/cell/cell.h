/* cell.h - what the channel plugins share: the receiver's bandwidth and noise, and the clients of
 * one cell with their places, mean losses and log-normal shadowing. */
#ifndef OSAFL_CHANNEL_CELL_H
#define OSAFL_CHANNEL_CELL_H

#include "osafl/channel.h"

/* Rows of a channel's table; S has the double members of these names. */
#define CELL_LINK_PARAMS(S)                                                                        \
    OSAFL_REAL(S, bandwidth_hz, 540e3, 1.0, 1e12, "Bandwidth of one client's uplink",              \
               .unit = "Hz"),                                                                      \
        OSAFL_REAL(S, noise_dbm_per_hz, -174.0, -300.0, 100.0, "Noise power spectral density",     \
                   .unit = "dBm/Hz"),                                                              \
        OSAFL_REAL(S, noise_figure_db, 0.0, 0.0, 100.0, "Noise figure of the base station",        \
                   .unit = "dB")

/* Fills *out, whose struct_size is set. */
void cell_link(osafl_link *out, double bandwidth_hz, double noise_dbm_per_hz,
               double noise_figure_db);

/* 10^(db / 10) */
double cell_from_db(double db);

/* Random streams of a channel. */
enum { CELL_STREAM_PLACE = 1, CELL_STREAM_LINE_OF_SIGHT, CELL_STREAM_SHADOWING };

struct cell {
    const osafl_host *host;
    uint32_t clients;
    osafl_place *place;   /* of every client; fixed for a run */
    double *mean_gain_db; /* less path loss, plus antennas: 0 until the channel sets it */
    double *shadowing_db; /* standard deviation: 0 until the channel sets it */
};

/* Drops the clients uniformly over the ring min_distance_m <= d <= radius_m. */
osafl_status cell_create(struct cell *cell, const osafl_host *h, osafl_call *c, uint32_t clients,
                         double min_distance_m, double radius_m);
void cell_destroy(struct cell *cell);

/* Distance on the ground, in m. */
double cell_distance(const struct cell *cell, uint32_t client);

/* Uniform in [0, 1), one number per client. */
double cell_uniform(const struct cell *cell, osafl_call *c, uint32_t stream, uint32_t client);

/* Mean gain and shadowing, drawn anew for every client and round, as a linear power gain. */
void cell_gains(const struct cell *cell, osafl_call *c, uint32_t round, double *gain);

void cell_places(const struct cell *cell, osafl_place *out);

#endif
