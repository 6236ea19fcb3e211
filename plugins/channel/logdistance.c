/* logdistance.c - path loss that grows by a fixed number of decibels per decade of distance, with
 * log-normal shadowing.  The defaults are 3GPP's urban macro cell at
 * 2 GHz, 128.1 + 37.6 lg(d / km) dB. */
#include "cell.h"

#include <math.h>

struct logdistance_config {
    double reference_loss_db;
    double reference_distance_m;
    double exponent;
    double shadowing_db;
    double bandwidth_hz;
    double noise_dbm_per_hz;
    double noise_figure_db;
    double radius_m;
    double min_distance_m;
};

static const osafl_param params[] = {
    OSAFL_REAL(struct logdistance_config, reference_loss_db, 128.1, -100.0, 1000.0,
               "Path loss at the reference distance", .unit = "dB"),
    OSAFL_REAL(struct logdistance_config, reference_distance_m, 1000.0, 1e-3, 1e6,
               "Reference distance", .unit = "m"),
    OSAFL_REAL(struct logdistance_config, exponent, 3.76, 0.0, 20.0,
               "Path loss exponent: a tenth of the decibels per decade of distance"),
    OSAFL_REAL(struct logdistance_config, shadowing_db, 8.0, 0.0, 100.0,
               "Standard deviation of the shadowing, independent for every client and round",
               .unit = "dB"),
    CELL_LINK_PARAMS(struct logdistance_config),
    OSAFL_REAL(struct logdistance_config, radius_m, 500.0, 1.0, 1e6, "Radius of the cell",
               .unit = "m"),
    OSAFL_REAL(struct logdistance_config, min_distance_m, 10.0, 1e-3, 1e6,
               "Least distance of a client from the base station", .unit = "m"),
};

static osafl_status check(const osafl_host *h, osafl_call *c, const void *config)
{
    const struct logdistance_config *settings = config;
    if (settings->min_distance_m >= settings->radius_m)
        return h->fail(c, OSAFL_E_CONFIG,
                       "channel.logdistance: min_distance_m = %g must be below radius_m = %g",
                       settings->min_distance_m, settings->radius_m);
    return OSAFL_OK;
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const struct logdistance_config *settings = config;
    const struct cell_shape shape = {
        .min_distance_m = settings->min_distance_m,
        .radius_m = settings->radius_m,
        .bandwidth_hz = settings->bandwidth_hz,
        .noise_dbm_per_hz = settings->noise_dbm_per_hz,
        .noise_figure_db = settings->noise_figure_db,
    };
    struct cell *cell = NULL;
    OSAFL_TRY(cell_create(h, c, facts->clients, &shape, &cell));
    for (uint32_t u = 0; u < cell->clients; u++) {
        const double decades = log10(cell_distance(cell, u) / settings->reference_distance_m);
        cell->mean_gain_db[u] =
            -(settings->reference_loss_db + 10.0 * settings->exponent * decades);
        cell->shadowing_db[u] = settings->shadowing_db;
    }
    *self = cell;
    return OSAFL_OK;
}

static const osafl_channel_vt vtable = {
    .life = {.struct_size = sizeof(osafl_channel_vt),
             .check = check,
             .create = create,
             .destroy = cell_destroy},
    .describe = cell_describe_link,
    .gains = cell_gains,
    .place = cell_places,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_CHANNEL,
    .name = "logdistance",
    .version = "1.0.0",
    .summary = "log-distance path loss with log-normal shadowing",
    .cite = "3GPP TR 36.942, section 4.5.2, urban macro cell at 2 GHz (defaults)",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct logdistance_config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
