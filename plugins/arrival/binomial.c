/* binomial.c - each of E_u samples arrives with a probability. */
#include "counts/counts.h"

struct settings {
    double fill;
    double probability;
};

static const osafl_param params[] = {
    OSAFL_REAL(struct settings, probability, 0.0, 0.0, 1.0,
               "Probability p_ac that a sample arrives; 0: the client's activity"),
    COUNTS_FILL(struct settings, OSAFL_P_LATER),
};

static osafl_status arrive(void *self, osafl_call *c, const osafl_arrival_problem *p, uint32_t *n,
                           uint8_t *present)
{
    (void)present; /* 1, as it was filled */
    const struct settings *s = self;
    uint32_t largest = 0;
    for (uint32_t u = 0; u < p->clients; u++)
        largest = p->arrivals[u] > largest ? p->arrivals[u] : largest;
    uint32_t *word = c->host->scratch(c, (uint64_t)largest * 2 * sizeof *word);
    if (word == NULL)
        return OSAFL_E_NOMEM;
    for (uint32_t u = 0; u < p->clients; u++) {
        const double probability = s->probability > 0.0 ? s->probability : p->activity[u];
        c->host->random_fill(c, 0, u, p->round, 0, word, 2 * (uint64_t)p->arrivals[u]);
        for (uint32_t k = 0; k < p->arrivals[u]; k++)
            n[u] += osafl_uniform(word + 2 * (size_t)k) < probability;
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
    .name = "binomial",
    .version = "1.0.0",
    .summary = "Binomial arrivals: each of E_u samples arrives with a fixed probability",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct settings),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
