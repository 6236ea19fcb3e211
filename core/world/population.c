/* population.c - what is drawn once per client: activity, sizes and limits. */
#include "population.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/decibels.h"
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

/* The ranges of a group, and where those of all clients are that they replace; below `unset` and
 * there it has none, and where it has one, it begins with `least` or above `unset`. */
static const struct own_range {
    const char *name;
    size_t of_group, of_all;
    double unset, least;
} own_ranges[] = {
#define OWN(m) #m, offsetof(struct client_group, m)
#define REPLACES(m) OWN(m), offsetof(struct client_settings, m)
    {OWN(storage), SIZE_MAX, 0.0, 1.0},
    {OWN(arrivals), SIZE_MAX, -1.0, 0.0},
    {REPLACES(activity), 0.0, 0.0},
    {REPLACES(cycles_per_bit), 0.0, 0.0},
    {REPLACES(energy_budget_j), 0.0, 0.0},
    {REPLACES(clock_max_hz), 0.0, 0.0},
    {REPLACES(power_max_dbm), CLIENT_GROUP_NO_POWER, CLIENT_GROUP_NO_POWER},
};
enum { OWN_RANGES = sizeof own_ranges / sizeof own_ranges[0] };

static const osafl_range *range_of(const struct client_group *g, const struct own_range *own)
{
    return (const osafl_range *)(const void *)((const unsigned char *)g + own->of_group);
}

/* Groups end within the clients, and their ranges begin with what a client can have. */
static osafl_status check_groups(const struct client_settings *s, struct error *error)
{
    const struct client_group *group = s->groups.v;
    int64_t end = 0;
    for (uint64_t i = 0; i < s->groups.n; i++) {
        const osafl_origin *at = &s->groups.at[i];
        end += group[i].clients;
        if (end > s->count)
            return error_set(error, OSAFL_E_CONFIG,
                             "%s:%" PRIu32 ": clients.groups[%" PRIu64 "] ends with client %" PRId64
                             ", but clients.count is %" PRId64 "; raise it or make groups smaller",
                             at->file, at->line, i, end - 1, s->count);
        for (size_t k = 0; k < OWN_RANGES; k++) {
            const struct own_range *own = &own_ranges[k];
            const osafl_range *r = range_of(&group[i], own);
            if (r->hi > own->unset && (r->lo <= own->unset || r->lo < own->least))
                return error_set(error, OSAFL_E_CONFIG,
                                 "%s:%" PRIu32 ": clients.groups[%" PRIu64 "].%s begins with %g, "
                                 "which no client can have; raise its lower end",
                                 at->file, at->line, i, own->name, r->lo);
        }
    }
    return OSAFL_OK;
}

/* What holds for a client of a group, but for its sizes. */
static struct client_settings settings_in(const struct client_settings *s,
                                          const struct client_group *g)
{
    struct client_settings result = *s;
    for (size_t k = 0; g != NULL && k < OWN_RANGES; k++) {
        const osafl_range *r = range_of(g, &own_ranges[k]);
        if (own_ranges[k].of_all != SIZE_MAX && r->hi > own_ranges[k].unset)
            memcpy((unsigned char *)&result + own_ranges[k].of_all, r, sizeof *r);
    }
    return result;
}

static osafl_status check_sizes(const struct client_settings *s, bool grouped, uint32_t u,
                                uint64_t samples, uint64_t arrivals, struct error *error)
{
    if (samples == 0)
        return error_set(
            error, OSAFL_E_CONFIG,
            "clients.storage * clients.activity, or its group's storage, leaves client "
            "%" PRIu32 " without a sample; raise one of them",
            u);
    if (samples > INT32_MAX) /* a full store and as many arrivals: positions of 32 bits */
        return error_set(error, OSAFL_E_CONFIG,
                         "clients.storage is too large: client %" PRIu32 " would hold %" PRIu64
                         " samples, and 2^31 - 1 is the limit",
                         u, samples);
    if (arrivals <= samples) /* most deletion policies keep every arrival */
        return OSAFL_OK;
    if (grouped)
        return error_set(error, OSAFL_E_CONFIG,
                         "clients.groups: client %" PRIu32 " stores %" PRIu64
                         " samples and would receive %" PRIu64
                         " in a round; lower the arrivals or raise the storage of its group",
                         u, samples, arrivals);
    return error_set(error, OSAFL_E_CONFIG,
                     "clients.arrivals (%" PRId64 ") is more than clients.storage (%" PRId64
                     "): client %" PRIu32 " stores %" PRIu64 " samples and would receive %" PRIu64
                     " in a round; lower clients.arrivals or raise clients.storage",
                     s->arrivals, s->storage, u, samples, arrivals);
}

static osafl_status draw_sizes(uint64_t seed, const struct client_settings *s,
                               const struct client_group *g, bool has_arrivals, uint32_t u,
                               struct columns *c, struct error *error)
{
    uint32_t word[4];
    streams_fill(seed, 0, STREAM_ACTIVITY, u, 0, 0, word, 2);
    c->activity[u] = uniform_in(s->activity, word);
    uint64_t samples = population_ceil(s->storage, c->activity[u]);
    uint64_t arrivals = population_ceil(s->arrivals, c->activity[u]);
    streams_fill(seed, 0, STREAM_LIMITS, u, 0, 1, word, 4);
    if (g != NULL && g->storage.hi > 0.0)
        samples = (uint64_t)nearbyint(uniform_in(g->storage, word));
    if (g != NULL && g->arrivals.lo >= 0.0)
        arrivals = (uint64_t)nearbyint(uniform_in(g->arrivals, word + 2));
    if (!has_arrivals)
        arrivals = 0;
    OSAFL_TRY(check_sizes(s, g != NULL, u, samples, arrivals, error));
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
    c->power_max_w[u] = watts_of_dbm(uniform_in(s->power_max_dbm, word + 6));
}

/* Draws clients group by group; those behind the last one are in none. */
static osafl_status draw_clients(uint64_t seed, const struct client_settings *s, bool has_arrivals,
                                 struct columns *c, uint64_t *total, struct error *error)
{
    const struct client_group *group = s->groups.v; /* NULL: there are none */
    uint64_t i = 0;
    int64_t drawn = 0; /* of group i */
    for (uint32_t u = 0; u < (uint32_t)s->count; u++) {
        if (i < s->groups.n && drawn == group[i].clients) {
            i++;
            drawn = 0;
        }
        drawn++;
        const struct client_group *in = i < s->groups.n ? &group[i] : NULL;
        const struct client_settings own = settings_in(s, in);
        OSAFL_TRY(draw_sizes(seed, &own, in, has_arrivals, u, c, error));
        draw_limits(seed, &own, u, c);
        *total += c->capacity[u]; /* below 2^64: fewer than 2^32 clients of as few samples */
    }
    return OSAFL_OK;
}

osafl_status population_draw(uint64_t seed, const struct client_settings *s, bool has_arrivals,
                             struct population *out, struct error *error)
{
    if (s->count < 1 || s->count >= UINT32_MAX)
        return error_set(error, OSAFL_E_CONFIG,
                         "clients.count is %" PRId64 "; it must be at least 1 and fit 32 bits",
                         s->count);
    OSAFL_TRY(check_groups(s, error));
    const uint32_t clients = (uint32_t)s->count;
    struct columns c;
    void *memory;
    if (columns_alloc(clients, &c, &memory) != OSAFL_OK)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for %" PRIu32 " clients", clients);
    uint64_t total = 0;
    const osafl_status status = draw_clients(seed, s, has_arrivals, &c, &total, error);
    if (status != OSAFL_OK) {
        free(memory);
        return status;
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
