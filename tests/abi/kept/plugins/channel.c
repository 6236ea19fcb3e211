/* kept.c - a channel: what is client u's gain to the base station in round t?
 *
 * As generated it is Rayleigh block fading: all clients have one mean gain, and a client's gain in
 * a round is that times an exponential random number of mean 1.
 *
 * To make it yours, change gains(); osafl/channel.h tells more. */
#include <math.h>
#include <stdlib.h>

#include <osafl/channel.h>
#include <osafl/random.h>

/* The settings, and the table from which the program reads, checks and explains them. */
struct config {
    double mean_gain_db;
    double bandwidth_hz;
    double noise_dbm_per_hz;
};

static const osafl_param params[] = {
    OSAFL_REAL(struct config, mean_gain_db, -110.0, -300.0, 100.0,
               "Mean gain of every client, antennas included", .unit = "dB"),
    OSAFL_REAL(struct config, bandwidth_hz, 540e3, 1.0, 1e12, "Bandwidth of one client's uplink",
               .unit = "Hz"),
    OSAFL_REAL(struct config, noise_dbm_per_hz, -174.0, -300.0, 100.0,
               "Noise power spectral density at the base station", .unit = "dBm/Hz"),
};

/* Streams of random numbers, in the plugin's own numbering. */
enum { STREAM_FADING = 1 };

struct channel {
    const osafl_host *host;
    const struct config *config;
    uint32_t clients;
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    struct channel *channel = malloc(sizeof *channel);
    if (channel == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *channel = (struct channel){.host = h, .config = config, .clients = facts->clients};
    *self = channel;
    return OSAFL_OK;
}

static void destroy(void *self)
{
    free(self);
}

static double from_db(double db)
{
    return pow(10.0, db / 10.0);
}

/* What is the same for all clients and rounds. */
static osafl_status describe_link(void *self, osafl_call *c, osafl_link *out)
{
    (void)c;
    const struct channel *channel = self;
    out->bandwidth_hz = channel->config->bandwidth_hz;
    out->noise_w_per_hz = 1e-3 * from_db(channel->config->noise_dbm_per_hz);
    return OSAFL_OK;
}

/* gain[u]: linear power gain of each client.  A function of the round, whatever was asked before;
 * random_fill() makes that easy, since it is one of its arguments and the run's seed. */
static osafl_status gains(void *self, osafl_call *c, uint32_t round, double *gain)
{
    const struct channel *channel = self;
    const double mean = from_db(channel->config->mean_gain_db);
    for (uint32_t u = 0; u < channel->clients; u++) {
        uint32_t word[2];
        channel->host->random_fill(c, STREAM_FADING, u, round, 0, word, 2);
        gain[u] = -mean * log1p(-osafl_uniform(word)); /* osafl_uniform() is below 1 */
    }
    return OSAFL_OK;
}

static const osafl_channel_vt vtable = {
    .life = {.struct_size = sizeof(osafl_channel_vt), .create = create, .destroy = destroy},
    .describe = describe_link,
    .gains = gains,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_CHANNEL,
    .name = "kept",
    .version = "0.1.0",
    .summary = "Rayleigh block fading around one mean gain",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
