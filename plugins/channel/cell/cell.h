/* cell.h - what the channel plugins share: the receiver's bandwidth and noise, and the clients of
 * one cell with their places, mean losses, log-normal shadowing and fading. */
#ifndef OSAFL_CHANNEL_CELL_H
#define OSAFL_CHANNEL_CELL_H

#include "osafl/channel.h"

#define CELL_TWO_PI 6.283185307179586476925

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

/* Random words of a cell: those of a channel's streams in the run, or of a data set's own. */
struct cell_source {
    void (*fill)(const struct cell_source *s, uint32_t stream, uint32_t client, uint64_t index,
                 uint32_t *out, uint32_t n);
};

/* Random streams of a channel. */
enum {
    CELL_STREAM_PLACE = 1,
    CELL_STREAM_LINE_OF_SIGHT,
    CELL_STREAM_SHADOWING,
    CELL_STREAM_FADING,
    CELL_STREAM_WAYPOINT,
    CELL_STREAM_FIELD, /* and the next two, in the order of CELL_FIELD_* */
};

/* Settings of a channel whose clients are in one cell: the first member of its config. */
struct cell_settings {
    double bandwidth_hz;
    double noise_dbm_per_hz;
    double noise_figure_db;
    double radius_m;
    double min_distance_m;
    osafl_choice fading; /* FADING_* */
    double rician_k_db;
    double doppler_hz;
    osafl_range speed_m_per_s;
    osafl_range pause_s;
    double round_s;
    bool spatially_consistent;
    double decorrelation_m;
};

/* Rows for what changes over time, from fading on; the channel's own row for decorrelation_m
 * follows. */
#define CELL_TIME_PARAMS                                                                           \
    OSAFL_CHOICE(struct cell_settings, fading, 0, cell_fadings,                                    \
                 "Fading of the gain, constant within a round: none, Rayleigh, Rician, or Rician " \
                 "for clients in sight and Rayleigh for the others",                               \
                 .flags = OSAFL_P_LATER),                                                          \
        OSAFL_REAL(struct cell_settings, rician_k_db, 9.0, -100.0, 100.0,                          \
                   "Rician fading: power of the direct path over that of the others",              \
                   .unit = "dB", .flags = OSAFL_P_LATER),                                          \
        OSAFL_REAL(struct cell_settings, doppler_hz, 8.0, 0.0, 1e6,                                \
                   "Greatest Doppler shift of the fading, speed over wavelength (1 m/s at 2.4 "    \
                   "GHz: 8 Hz): fading is correlated over rounds by J0(2 pi doppler_hz round_s)",  \
                   .unit = "Hz", .flags = OSAFL_P_LATER),                                          \
        OSAFL_RANGE(struct cell_settings, speed_m_per_s, 0.0, 0.0, 0.0, 1e3,                       \
                    "Speed of a client on its way to each random waypoint, drawn uniformly; 0: "   \
                    "clients stay where they are",                                                 \
                    .unit = "m/s", .flags = OSAFL_P_LATER),                                        \
        OSAFL_RANGE(struct cell_settings, pause_s, 0.0, 0.0, 0.0, 1e9,                             \
                    "Pause at each waypoint, drawn uniformly", .unit = "s",                        \
                    .flags = OSAFL_P_LATER),                                                       \
        OSAFL_REAL(struct cell_settings, round_s, 0.0, 0.0, 1e9,                                   \
                   "Time from one round to the next, for movement and fading; 0: deadline_s",      \
                   .unit = "s", .flags = OSAFL_P_LATER),                                           \
        OSAFL_BOOL(struct cell_settings, spatially_consistent, false,                              \
                   "Shadowing and line of sight are those of the place, alike at places that are " \
                   "near, and not drawn for each client (and shadowing for each round)",           \
                   .flags = OSAFL_P_LATER)
extern const char *const cell_fadings[];

/* What a channel says of a client at a distance. */
struct cell_path {
    bool in_sight;
    double mean_gain_db; /* less path loss, plus antennas */
    double shadowing_db; /* standard deviation */
};
/* uniform: in [0, 1), of the client or, where spatially consistent, of its place; it decides on the
 * line of sight. */
typedef void cell_law(const void *config, double distance_m, double uniform, struct cell_path *out);

/* Fields of what is spatially consistent, in the order of their streams. */
enum { CELL_FIELD_SIGHT, CELL_FIELD_IN_SIGHT, CELL_FIELD_OUT_OF_SIGHT, CELL_FIELDS };

/* What cell_create() needs to know. */
struct cell_plan {
    const struct cell_settings *settings; /* the config: the law gets the same pointer */
    cell_law *law;
    double decorrelation_m[CELL_FIELDS];
};

/* A channel whose clients are in one cell is this and nothing more: create() makes it, and the
 * functions below are the other functions of its vtable. */
struct cell;

/* Settings that contradict each other; name: of the plugin. */
osafl_status cell_check(const osafl_host *h, osafl_call *c, const char *name,
                        const struct cell_settings *s);

/* Drops the clients uniformly over the ring min_distance_m <= d <= radius_m.  *out goes to
 * cell_destroy(). */
osafl_status cell_create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                         const struct cell_plan *plan, void **out);

/* A point of the ring, from four random words. */
void cell_draw_place(const struct cell_settings *s, const uint32_t word[4], double place_m[2]);

/* The functions of the vtable; self is the struct cell. */
void cell_destroy(void *self);
osafl_status cell_describe_link(void *self, osafl_call *c, osafl_link *out);
/* Mean gain, shadowing and fading of every client in a round, as a linear power gain. */
osafl_status cell_gains(void *self, osafl_call *c, uint32_t round, double *gain);
osafl_status cell_places(void *self, osafl_call *c, uint32_t round, uint32_t place_size,
                         osafl_place *out);

#endif
