/* diurnal.c - the hour of the day says how much comes, and who is there.
 *
 * Client u has the hour h = round / period + h_u, with h_u uniform in [0, spread) days.  The number
 * of samples of a round is Poisson with mean = variance = E_u (1 + amplitude cos 2 pi h): most at
 * h = 0, least half a day later, E_u over a whole day.  With night > 0 a client is away while h is
 * within night / 2 of the middle of the night, h = 1/2. */
#include "counts/counts.h"

struct config {
    double fill;
    double period;
    double amplitude;
    double spread;
    double night;
};

static const osafl_param params[] = {
    OSAFL_REAL(struct config, period, 24.0, 1.0, 1e6, "Length of a day", .unit = "rounds"),
    OSAFL_REAL(struct config, amplitude, 0.8, 0.0, 1.0,
               "How far the mean number of samples goes above and below E_u, as a share of it"),
    OSAFL_REAL(
        struct config, spread, 1.0, 0.0, 1.0,
        "Largest difference between the clients' clocks, in days; 0: all have the same hour"),
    OSAFL_REAL(struct config, night, 0.0, 0.0, 1.0,
               "Part of the day, around the hour with fewest samples, in which a client is away",
               .flags = OSAFL_P_HI_OPEN),
    COUNTS_FILL(struct config, 0),
};

/* In days, [0, 1). */
static double hour_of(const struct config *config, osafl_call *c, uint32_t client, uint32_t round)
{
    uint32_t word[2];
    c->host->random_fill(c, 1, client, 0, 0, word, 2);
    const double days = round / config->period + config->spread * osafl_uniform(word);
    return days - floor(days);
}

static osafl_status arrive(void *self, osafl_call *c, const osafl_arrival_problem *p, uint32_t *n,
                           uint8_t *present)
{
    const struct config *config = self;
    for (uint32_t u = 0; u < p->clients; u++) {
        const double hour = hour_of(config, c, u, p->round);
        const double level = 1.0 + config->amplitude * cos(2.0 * 3.14159265358979323846 * hour);
        n[u] = counts_poisson(c, 2, u, p->round, level * p->arrivals[u], p->capacity[u]);
        present[u] = fabs(hour - 0.5) >= 0.5 * config->night;
    }
    return OSAFL_OK;
}

static const osafl_arrival_vt vtable = {
    .life = {.struct_size = sizeof(osafl_arrival_vt)},
    .arrive = arrive,
    .fill = counts_fill,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_ARRIVAL,
    .name = "diurnal",
    .version = "1.0.0",
    .summary = "Day and night: arrivals depend on the client's local hour",
    .cite = "Yang et al., Characterizing Impacts of Heterogeneity in Federated Learning upon "
            "Large-Scale Smartphone Data, WWW 2021",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
