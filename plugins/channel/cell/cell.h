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

/* A channel whose clients lie in one cell is this and nothing more: create() makes it and sets the
 * gains, and the functions below are the other functions of its vtable. */
struct cell {
    const osafl_host *host;
    uint32_t clients;
    double bandwidth_hz;
    double noise_w_per_hz;
    osafl_place *place;   /* of every client; fixed for a run */
    double *mean_gain_db; /* less path loss, plus antennas: 0 until the channel sets it */
    double *shadowing_db; /* standard deviation: 0 until the channel sets it */
};

struct cell_shape {
    double min_distance_m;
    double radius_m;
    double bandwidth_hz;
    double noise_dbm_per_hz;
    double noise_figure_db;
};

/* Drops the clients uniformly over the ring min_distance_m <= d <= radius_m.  *out goes to
 * cell_destroy(). */
osafl_status cell_create(const osafl_host *h, osafl_call *c, uint32_t clients,
                         const struct cell_shape *shape, struct cell **out);

/* Distance on the ground, in m. */
double cell_distance(const struct cell *cell, uint32_t client);

/* Uniform in [0, 1), one number per client. */
double cell_uniform(const struct cell *cell, osafl_call *c, uint32_t stream, uint32_t client);

/* The functions of the vtable; self is the struct cell. */
void cell_destroy(void *self);
osafl_status cell_describe_link(void *self, osafl_call *c, osafl_link *out);
/* Mean gain and shadowing, drawn anew for every client and round, as a linear power gain. */
osafl_status cell_gains(void *self, osafl_call *c, uint32_t round, double *gain);
osafl_status cell_places(void *self, osafl_call *c, uint32_t round, uint32_t place_size,
                         osafl_place *out);

#endif
