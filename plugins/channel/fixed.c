/* fixed.c - gains that never change: one for all clients, or one for each. */
#include "cell.h"

#include <inttypes.h>
#include <stdlib.h>

struct fixed_config {
    double gain_db;
    osafl_reals gains_db;
    double bandwidth_hz;
    double noise_dbm_per_hz;
    double noise_figure_db;
};

static const osafl_param params[] = {
    OSAFL_REAL(struct fixed_config, gain_db, -100.0, -400.0, 100.0,
               "Gain of every client, antennas included", .unit = "dB"),
    OSAFL_REALS(struct fixed_config, gains_db, -400.0, 100.0,
                "Gain of each client, in place of gain_db; one number per client", .unit = "dB"),
    CELL_LINK_PARAMS(struct fixed_config),
};

struct fixed {
    const struct fixed_config *config;
    uint32_t clients;
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const struct fixed_config *settings = config;
    if (settings->gains_db.n != 0 && settings->gains_db.n != facts->clients)
        return h->fail(c, OSAFL_E_CONFIG,
                       "channel.fixed.gains_db has %" PRIu64 " numbers for %" PRIu32
                       " clients; give one for each client, or gain_db for all",
                       settings->gains_db.n, facts->clients);
    struct fixed *channel = malloc(sizeof *channel);
    if (channel == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *channel = (struct fixed){.config = settings, .clients = facts->clients};
    *self = channel;
    return OSAFL_OK;
}

static osafl_status describe_link(void *self, osafl_call *c, osafl_link *out)
{
    (void)c;
    const struct fixed_config *settings = ((const struct fixed *)self)->config;
    cell_link(out, settings->bandwidth_hz, settings->noise_dbm_per_hz, settings->noise_figure_db);
    return OSAFL_OK;
}

static osafl_status gains(void *self, osafl_call *c, uint32_t round, double *gain)
{
    (void)c;
    (void)round;
    const struct fixed *channel = self;
    const osafl_reals each_db = channel->config->gains_db;
    for (uint32_t u = 0; u < channel->clients; u++)
        gain[u] = cell_from_db(each_db.n > 0 ? each_db.v[u] : channel->config->gain_db);
    return OSAFL_OK;
}

static const osafl_channel_vt vtable = {
    .life = {.struct_size = sizeof(osafl_channel_vt), .create = create, .destroy = free},
    .describe = describe_link,
    .gains = gains,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_CHANNEL,
    .name = "fixed",
    .version = "1.0.0",
    .summary = "constant gains, equal for all clients or one for each",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct fixed_config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
