/* logdistance.c - path loss that grows by a fixed number of decibels per decade of distance, with
 * log-normal shadowing.  The defaults are 3GPP's urban macro cell at
 * 2 GHz, 128.1 + 37.6 lg(d / km) dB. */
#include "cell.h"

#include <math.h>

struct logdistance_config {
    struct cell_settings cell; /* first */
    double reference_loss_db;
    double reference_distance_m;
    double exponent;
    double shadowing_db;
};

static const osafl_param params[] = {
    OSAFL_REAL(struct logdistance_config, reference_loss_db, 128.1, -100.0, 1000.0,
               "Path loss at the reference distance", .unit = "dB"),
    OSAFL_REAL(struct logdistance_config, reference_distance_m, 1000.0, 1e-3, 1e6,
               "Reference distance", .unit = "m"),
    OSAFL_REAL(struct logdistance_config, exponent, 3.76, 0.0, 20.0,
               "Path loss exponent: a tenth of the decibels per decade of distance"),
    OSAFL_REAL(struct logdistance_config, shadowing_db, 8.0, 0.0, 100.0,
               "Standard deviation of the shadowing, independent for every client and round unless "
               "spatially_consistent",
               .unit = "dB"),
    CELL_LINK_PARAMS(struct cell_settings),
    OSAFL_REAL(struct cell_settings, radius_m, 500.0, 1.0, 1e6, "Radius of the cell", .unit = "m"),
    OSAFL_REAL(struct cell_settings, min_distance_m, 10.0, 1e-3, 1e6,
               "Least distance of a client from the base station", .unit = "m"),
    CELL_TIME_PARAMS,
    OSAFL_REAL(struct cell_settings, decorrelation_m, 50.0, 1e-3, 1e6,
               "Spatially consistent shadowing: distance at which its correlation is 1/e",
               .unit = "m", .flags = OSAFL_P_LATER),
};

static osafl_status check(const osafl_host *h, osafl_call *c, const void *config)
{
    return cell_check(h, c, "logdistance", config);
}

static void path(const void *config, double distance_m, double uniform, struct cell_path *out)
{
    (void)uniform;
    const struct logdistance_config *settings = config;
    const double decades = log10(distance_m / settings->reference_distance_m);
    out->mean_gain_db = -(settings->reference_loss_db + 10.0 * settings->exponent * decades);
    out->shadowing_db = settings->shadowing_db;
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const struct cell_settings *settings = config;
    const double decorrelation_m = settings->decorrelation_m;
    const struct cell_plan plan = {
        .settings = settings,
        .law = path,
        .decorrelation_m = {decorrelation_m, decorrelation_m, decorrelation_m},
    };
    return cell_create(h, c, facts, &plan, self);
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
