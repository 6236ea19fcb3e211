/* population.c - what is drawn once per client: activity, sizes and limits. */
#include "population.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/streams.h"

uint64_t population_ceil(int64_t n, double share)
{
    const double exact = (double)n * share;
    const double nearest = nearbyint(exact);
    /* Rounding of the share to a double and of the product: half an epsilon each. */
    if (fabs(exact - nearest) <= 2.0 * DBL_EPSILON * exact)
        return (uint64_t)nearest;
    return (uint64_t)ceil(exact);
}

static double uniform_in(osafl_range r, const uint32_t word[2])
{
    return r.lo + (r.hi - r.lo) * osafl_uniform(word);
}

/* The arrays of a population while they are filled. */
struct columns {
    double *activity, *cycles_per_bit, *energy_budget_j, *clock_max_hz, *power_max_w;
    uint64_t *capacity;
    uint32_t *arrivals;
};

static osafl_status columns_alloc(uint32_t n, struct columns *c, void **memory)
{
    const size_t row = 5 * sizeof(double) + sizeof(uint64_t) + sizeof(uint32_t);
    double *block = calloc(n, row);
    if (block == NULL)
        return OSAFL_E_NOMEM;
    c->activity = block;
    c->cycles_per_bit = block + n;
    c->energy_budget_j = block + 2 * (size_t)n;
    c->clock_max_hz = block + 3 * (size_t)n;
    c->power_max_w = block + 4 * (size_t)n;
    c->capacity = (uint64_t *)(void *)(block + 5 * (size_t)n);
    c->arrivals = (uint32_t *)(void *)(c->capacity + n);
    *memory = block;
    return OSAFL_OK;
}

static osafl_status draw_sizes(uint64_t seed, const struct client_settings *s, uint32_t u,
                               struct columns *c, struct error *error)
{
    uint32_t word[2];
    streams_fill(seed, 0, STREAM_ACTIVITY, u, 0, 0, word, 2);
    c->activity[u] = uniform_in(s->activity, word);
    const uint64_t samples = population_ceil(s->storage, c->activity[u]);
    const uint64_t arrivals = population_ceil(s->arrivals, c->activity[u]);
    if (samples == 0)
        return error_set(error, OSAFL_E_CONFIG,
                         "clients.storage * clients.activity leaves client %" PRIu32
                         " without a sample; raise one of them",
                         u);
    if (samples > INT32_MAX) /* a full store and as many arrivals: positions of 32 bits */
        return error_set(error, OSAFL_E_CONFIG,
                         "clients.storage is too large: client %" PRIu32 " would hold %" PRIu64
                         " samples, and 2^31 - 1 is the limit",
                         u, samples);
    /* Most deletion policies keep every arrival. */
    if (arrivals > samples)
        return error_set(error, OSAFL_E_CONFIG,
                         "clients.arrivals (%" PRId64 ") is more than clients.storage (%" PRId64
                         "): client %" PRIu32 " stores %" PRIu64
                         " samples and would receive %" PRIu64
                         " in a round; lower clients.arrivals or raise clients.storage",
                         s->arrivals, s->storage, u, samples, arrivals);
    c->capacity[u] = samples;
    c->arrivals[u] = (uint32_t)arrivals;
    return OSAFL_OK;
}

static void draw_limits(uint64_t seed, const struct client_settings *s, uint32_t u,
                        struct columns *c)
{
    uint32_t word[8];
    streams_fill(seed, 0, STREAM_LIMITS, u, 0, 0, word, 8);
    c->cycles_per_bit[u] = uniform_in(s->cycles_per_bit, word);
    c->energy_budget_j[u] = uniform_in(s->energy_budget_j, word + 2);
    c->clock_max_hz[u] = uniform_in(s->clock_max_hz, word + 4);
    const double power_dbm = uniform_in(s->power_max_dbm, word + 6);
    c->power_max_w[u] = pow(10.0, (power_dbm - 30.0) / 10.0);
}

osafl_status population_draw(uint64_t seed, const struct client_settings *s, struct population *out,
                             struct error *error)
{
    if (s->count < 1 || s->count >= UINT32_MAX)
        return error_set(error, OSAFL_E_CONFIG,
                         "clients.count is %" PRId64 "; it must be at least 1 and fit 32 bits",
                         s->count);
    const uint32_t clients = (uint32_t)s->count;
    struct columns c;
    void *memory;
    if (columns_alloc(clients, &c, &memory) != OSAFL_OK)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for %" PRIu32 " clients", clients);
    uint64_t total = 0;
    for (uint32_t u = 0; u < clients; u++) {
        const osafl_status status = draw_sizes(seed, s, u, &c, error);
        if (status != OSAFL_OK) {
            free(memory);
            return status;
        }
        draw_limits(seed, s, u, &c);
        total += c.capacity[u]; /* below 2^64: fewer than 2^32 clients of fewer than 2^32 samples */
    }
    *out = (struct population){
        .clients = clients,
        .total_capacity = total,
        .activity = c.activity,
        .capacity = c.capacity,
        .arrivals = c.arrivals,
        .cycles_per_bit = c.cycles_per_bit,
        .energy_budget_j = c.energy_budget_j,
        .clock_max_hz = c.clock_max_hz,
        .power_max_w = c.power_max_w,
        .memory = memory,
    };
    return OSAFL_OK;
}

void population_free(struct population *p)
{
    free(p->memory);
    *p = (struct population){0};
}
