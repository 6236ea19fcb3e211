/* tr38901.c - large-scale channel of 3GPP TR 38.901, section 7.4: urban macro (UMa) and urban micro
 * street canyon (UMi), for clients outdoors.
 *
 * By default position and line of sight are drawn once per client, shadowing once per client and
 * round, and there is no small-scale fading: an upload lasts much longer than a channel's coherence
 * time. */
#include "cell.h"

#include <math.h>

enum { UMA, UMI };

struct tr38901_config {
    struct cell_settings cell; /* first */
    osafl_choice scenario;
    double carrier_hz;
    double bs_height_m;
    double ut_height_m;
    double bs_antenna_gain_dbi;
    double ut_antenna_gain_dbi;
    bool shadowing;
};

static const char *const scenarios[] = {"uma", "umi", NULL};

static const osafl_param params[] = {
    OSAFL_CHOICE(struct tr38901_config, scenario, UMA, scenarios,
                 "Urban macro cell or urban micro street canyon"),
    OSAFL_REAL(struct tr38901_config, carrier_hz, 2.4e9, 0.5e9, 100e9, "Carrier frequency",
               .unit = "Hz"),
    CELL_LINK_PARAMS(struct cell_settings),
    OSAFL_REAL(struct cell_settings, radius_m, 500.0, 1.0, 5000.0, "Radius of the cell",
               .unit = "m"),
    OSAFL_REAL(struct cell_settings, min_distance_m, 10.0, 0.0, 5000.0,
               "Least distance of a client from the base station, on the ground", .unit = "m"),
    OSAFL_REAL(struct tr38901_config, bs_height_m, 0.0, 0.0, 150.0,
               "Height of the base station; 0: 25 m (uma), 10 m (umi)", .unit = "m"),
    OSAFL_REAL(struct tr38901_config, ut_height_m, 1.5, 1.5, 13.0,
               "Height of the clients; above 13 m the standard has other formulas", .unit = "m"),
    OSAFL_REAL(struct tr38901_config, bs_antenna_gain_dbi, 0.0, -100.0, 100.0,
               "Antenna gain of the base station", .unit = "dBi"),
    OSAFL_REAL(struct tr38901_config, ut_antenna_gain_dbi, 0.0, -100.0, 100.0,
               "Antenna gain of a client", .unit = "dBi"),
    OSAFL_BOOL(struct tr38901_config, shadowing, true,
               "Log-normal shadowing, independent for every client and round unless "
               "spatially_consistent"),
    CELL_TIME_PARAMS,
    OSAFL_REAL(struct cell_settings, decorrelation_m, 0.0, 0.0, 1e6,
               "Spatially consistent shadowing: distance at which its correlation is 1/e; 0: the "
               "standard's, 37 m in sight and 50 m else (uma), 10 m and 13 m (umi)",
               .unit = "m", .flags = OSAFL_P_LATER),
};

/* What tells the scenarios apart (tables 7.4.1-1 and 7.4.2-1). */
struct scenario {
    double bs_height_m;
    /* Line of sight: intercept + slope lg d + 20 lg f up to the breakpoint, then
     * intercept + 40 lg d + 20 lg f - beyond lg(breakpoint^2 + height difference^2). */
    double los_intercept_db;
    double los_slope_db;
    double los_beyond_db;
    /* No line of sight: intercept + slope lg d + frequency lg f - height (h_UT - 1.5). */
    double nlos_intercept_db;
    double nlos_slope_db;
    double nlos_frequency_db;
    double nlos_height_db_per_m;
    double los_shadowing_db;
    double nlos_shadowing_db;
    double los_decay_m; /* of the line-of-sight probability beyond 18 m */
    /* Correlation distances of shadowing (table 7.5-6). */
    double los_decorrelation_m;
    double nlos_decorrelation_m;
};

/* Of the line of sight, in both scenarios (table 7.6.3.1-2). */
#define SIGHT_DECORRELATION_M 50.0

static const struct scenario scenario_table[] = {
    [UMA] = {25.0, 28.0, 22.0, 9.0, 13.54, 39.08, 20.0, 0.6, 4.0, 6.0, 63.0, 37.0, 50.0},
    [UMI] = {10.0, 32.4, 21.0, 9.5, 22.4, 35.3, 21.3, 0.3, 4.0, 7.82, 36.0, 10.0, 13.0},
};

static double bs_height(const struct tr38901_config *config)
{
    return config->bs_height_m > 0.0 ? config->bs_height_m
                                     : scenario_table[config->scenario.index].bs_height_m;
}

static double los_probability(const struct scenario *s, double distance_m)
{
    if (distance_m <= 18.0)
        return 1.0;
    const double near = 18.0 / distance_m;
    return near + exp(-distance_m / s->los_decay_m) * (1.0 - near);
}

/* distance_m is on the ground; the formulas' d is the distance between the antennas. */
static double los_loss_db(const struct tr38901_config *config, double distance_m)
{
    const struct scenario *s = &scenario_table[config->scenario.index];
    const double height_m = bs_height(config) - config->ut_height_m;
    const double lg_d = log10(hypot(distance_m, height_m));
    const double frequency_db = 20.0 * log10(config->carrier_hz / 1e9);
    /* The effective environment height of 1 m is taken off both antennas. */
    const double breakpoint_m =
        4.0 * (bs_height(config) - 1.0) * (config->ut_height_m - 1.0) * config->carrier_hz / 3e8;
    if (distance_m <= breakpoint_m)
        return s->los_intercept_db + s->los_slope_db * lg_d + frequency_db;
    return s->los_intercept_db + 40.0 * lg_d + frequency_db -
           s->los_beyond_db * log10(breakpoint_m * breakpoint_m + height_m * height_m);
}

static double nlos_loss_db(const struct tr38901_config *config, double distance_m)
{
    const struct scenario *s = &scenario_table[config->scenario.index];
    const double lg_d = log10(hypot(distance_m, bs_height(config) - config->ut_height_m));
    const double loss_db = s->nlos_intercept_db + s->nlos_slope_db * lg_d +
                           s->nlos_frequency_db * log10(config->carrier_hz / 1e9) -
                           s->nlos_height_db_per_m * (config->ut_height_m - 1.5);
    /* What stands in the way never makes a link better than the free view. */
    return fmax(los_loss_db(config, distance_m), loss_db);
}

static osafl_status check(const osafl_host *h, osafl_call *c, const void *config)
{
    const struct tr38901_config *settings = config;
    OSAFL_TRY(cell_check(h, c, "tr38901", &settings->cell));
    if (bs_height(settings) <= 1.0)
        return h->fail(c, OSAFL_E_CONFIG,
                       "channel.tr38901: bs_height_m = %g must be above 1, or 0 for the "
                       "scenario's own height",
                       settings->bs_height_m);
    return OSAFL_OK;
}

static void path(const void *config, double distance_m, double uniform, struct cell_path *out)
{
    const struct tr38901_config *settings = config;
    const struct scenario *s = &scenario_table[settings->scenario.index];
    const bool sight = uniform < los_probability(s, distance_m);
    out->in_sight = sight;
    out->mean_gain_db =
        settings->bs_antenna_gain_dbi + settings->ut_antenna_gain_dbi -
        (sight ? los_loss_db(settings, distance_m) : nlos_loss_db(settings, distance_m));
    out->shadowing_db = !settings->shadowing ? 0.0
                        : sight              ? s->los_shadowing_db
                                             : s->nlos_shadowing_db;
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const struct tr38901_config *settings = config;
    const struct scenario *s = &scenario_table[settings->scenario.index];
    const double own_m = settings->cell.decorrelation_m;
    const struct cell_plan plan = {
        .settings = &settings->cell,
        .law = path,
        .decorrelation_m = {[CELL_FIELD_SIGHT] = SIGHT_DECORRELATION_M,
                            [CELL_FIELD_IN_SIGHT] = own_m > 0.0 ? own_m : s->los_decorrelation_m,
                            [CELL_FIELD_OUT_OF_SIGHT] =
                                own_m > 0.0 ? own_m : s->nlos_decorrelation_m},
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
    .name = "tr38901",
    .version = "1.0.0",
    .summary = "path loss, line of sight and shadowing of an urban cell (UMa, UMi)",
    .cite = "3GPP TR 38.901, sections 7.4 and 7.6.3",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct tr38901_config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
