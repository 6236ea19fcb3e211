/* onoff.c - bursts: a client receives samples for some rounds, then none for some.
 *
 * Bursts and pauses end with probability b = 1 / burst and a = 1 / pause after each round (Gilbert
 * 1960), so that their lengths are geometric with these means.  With s = a / (a + b), the share of
 * rounds in a burst, and A = E_u / s samples in each of them, rounded, the number of a round has
 * mean s A = E_u, variance s (1 - s) A^2 and autocorrelation (1 - a - b)^k after k rounds, from the
 * first round on. */
#include "counts/counts.h"

struct config {
    double fill;
    double burst;
    double pause;
    bool away;
};

static const osafl_param params[] = {
    OSAFL_REAL(struct config, burst, 4.0, 1.0, 1e6, "Mean length of a burst", .unit = "rounds"),
    OSAFL_REAL(struct config, pause, 12.0, 1.0, 1e6,
               "Mean length of a pause; 1 / burst + 1 / pause is at most 1", .unit = "rounds"),
    OSAFL_BOOL(struct config, away, false, "Whether a client is unavailable during its pauses"),
    COUNTS_FILL(struct config, 0),
};

static osafl_status check(const osafl_host *h, osafl_call *c, const void *settings)
{
    const struct config *config = settings;
    if (1.0 / config->burst + 1.0 / config->pause <= 1.0)
        return OSAFL_OK;
    return h->fail(c, OSAFL_E_CONFIG,
                   "arrival.onoff: bursts of %g rounds with pauses of %g are too short: 1 / burst "
                   "+ 1 / pause must be at most 1; raise one of them, 2 and 2 will do",
                   config->burst, config->pause);
}

/* Every round draws a number x: below a there is a burst in it whatever was before, from 1 - b on
 * a pause, and in between it goes on as before.  The latest round that settles it is looked for
 * backwards, 1 / (a + b) of them on average; the first round draws from the long run. */
static bool in_burst(const struct config *config, osafl_call *c, uint32_t client, uint32_t round)
{
    const double begin = 1.0 / config->pause;
    const double end = 1.0 / config->burst;
    for (;; round--) {
        uint32_t word[2];
        c->host->random_fill(c, 1, client, round, 0, word, 2);
        const double x = osafl_uniform(word);
        if (round == 0)
            return x < begin / (begin + end);
        if (x < begin || x >= 1.0 - end)
            return x < begin;
    }
}

static osafl_status arrive(void *self, osafl_call *c, const osafl_arrival_problem *p, uint32_t *n,
                           uint8_t *present)
{
    const struct config *config = self;
    const double peak = (config->burst + config->pause) / config->burst; /* 1 / s */
    for (uint32_t u = 0; u < p->clients; u++) {
        if (in_burst(config, c, u, p->round))
            n[u] = (uint32_t)fmin(nearbyint(peak * p->arrivals[u]), (double)p->capacity[u]);
        else
            present[u] = !config->away;
    }
    return OSAFL_OK;
}

static const osafl_arrival_vt vtable = {
    .life = {.struct_size = sizeof(osafl_arrival_vt), .check = check},
    .arrive = arrive,
    .fill = counts_fill,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_ARRIVAL,
    .name = "onoff",
    .version = "1.0.0",
    .summary = "Bursts: samples arrive for some rounds, then none for some",
    .cite = "Gilbert, Capacity of a Burst-Noise Channel, Bell System Technical Journal 39(5), 1960",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
