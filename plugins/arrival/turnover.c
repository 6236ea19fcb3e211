/* turnover.c - clients join, sleep now and then, and leave.  Who is there receives E_u samples in a
 * round; others nothing, and they keep their stores. */
#include "counts/counts.h"

struct config {
    double fill;
    osafl_range join;
    osafl_range stay;
    double sleep;
};

static const osafl_param params[] = {
    OSAFL_RANGE(struct config, join, 0.0, 0.0, 0.0, INT32_MAX,
                "First round of a client, a whole number drawn uniformly", .unit = "rounds"),
    OSAFL_RANGE(struct config, stay, 0.0, 0.0, 0.0, INT32_MAX,
                "Rounds until it leaves for good, drawn in the same way; 0: it stays",
                .unit = "rounds"),
    OSAFL_REAL(struct config, sleep, 0.0, 0.0, 1.0,
               "Probability that it sleeps in a round between the two", .flags = OSAFL_P_HI_OPEN),
    COUNTS_FILL(struct config, 0),
};

/* One of the whole numbers in a range. */
static double whole_in(osafl_range r, const uint32_t word[2])
{
    const double lo = ceil(r.lo);
    return lo + floor(osafl_uniform(word) * (floor(r.hi) - lo + 1.0));
}

static osafl_status check(const osafl_host *h, osafl_call *c, const void *settings)
{
    const struct config *config = settings;
    if (ceil(config->join.lo) <= floor(config->join.hi) &&
        ceil(config->stay.lo) <= floor(config->stay.hi))
        return OSAFL_OK;
    return h->fail(c, OSAFL_E_CONFIG,
                   "arrival.turnover: no whole number of rounds lies in join = [%g, %g] or in "
                   "stay = [%g, %g]; write whole numbers",
                   config->join.lo, config->join.hi, config->stay.lo, config->stay.hi);
}

static bool is_there(const struct config *config, osafl_call *c, uint32_t client, uint32_t round)
{
    uint32_t word[4];
    c->host->random_fill(c, 1, client, 0, 0, word, 4);
    const double since = round - whole_in(config->join, word);
    const double stay = whole_in(config->stay, word + 2);
    if (since < 0.0 || (stay > 0.0 && since >= stay))
        return false;
    c->host->random_fill(c, 2, client, round, 0, word, 2);
    return osafl_uniform(word) >= config->sleep;
}

static osafl_status arrive(void *self, osafl_call *c, const osafl_arrival_problem *p, uint32_t *n,
                           uint8_t *present)
{
    for (uint32_t u = 0; u < p->clients; u++) {
        present[u] = is_there(self, c, u, p->round);
        n[u] = present[u] ? p->arrivals[u] : 0;
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
    .name = "turnover",
    .version = "1.0.0",
    .summary = "Clients join, sleep and leave; E_u samples reach those that are there",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
