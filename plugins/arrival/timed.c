/* timed.c - samples come at times of their own, which the data set knows: in round t those of
 * [start + t * period, start + (t + 1) * period).  Those from before `start` are in the stores when
 * the run begins, as far as there is room for them, the last ones first. */
#include <inttypes.h>
#include <stdlib.h>

#include "counts/counts.h"

struct config {
    double start;
    double period;
};

static const osafl_param params[] = {
    OSAFL_REAL(struct config, start, 0.0, -1e30, 1e30,
               "When round 0 begins, in the unit of the samples' times; what came before is in the "
               "stores, the last samples of each client"),
    OSAFL_REAL(struct config, period, 0.0, 0.0, 1e30, "How long a round lasts, in the same unit",
               .flags = OSAFL_P_REQUIRED | OSAFL_P_LO_OPEN),
};

struct timed {
    const struct config *config;
    uint32_t rounds;
};

/* What comes in the rounds of the run. */
struct stream {
    uint64_t within;
    uint64_t after;
    uint32_t last; /* round in which a sample comes */
    /* What needs the largest clients.storage of all that does not fit; 0: all fits. */
    double storage;
    uint32_t client, round;
    uint64_t n;
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    struct timed *t = malloc(sizeof *t);
    if (t == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *t = (struct timed){.config = config, .rounds = facts->rounds};
    *self = t;
    return OSAFL_OK;
}

static void destroy(void *self)
{
    free(self);
}

static double begin_of(const struct timed *t, uint32_t round)
{
    return t->config->start + round * t->config->period;
}

/* How many samples of a client came before a time. */
static uint64_t count_before(const osafl_arrival_problem *p, uint32_t client, double time)
{
    uint64_t low = p->time_first[client];
    uint64_t high = p->time_first[client + 1];
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (p->time[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low - p->time_first[client];
}

static osafl_status refuse_crowd(const struct timed *t, osafl_call *c,
                                 const osafl_arrival_problem *p, uint32_t client, uint32_t round,
                                 uint64_t n)
{
    char room[COUNTS_ROOM_BYTES];
    return c->host->fail(c, OSAFL_E_CONFIG,
                         "%" PRIu64 " samples of client %" PRIu32 " come in round %" PRIu32
                         " (times from %.15g to %.15g), and its store has %s, or shorten "
                         "arrival.timed.period",
                         n, client, round, begin_of(t, round), begin_of(t, round + 1),
                         counts_room(p, client, n, room));
}

static void note_crowd(struct stream *s, const osafl_arrival_problem *p, uint32_t client,
                       uint32_t round, uint64_t n)
{
    const double storage = n > p->capacity[client] ? counts_storage_for(p, client, n) : 0.0;
    if (storage <= s->storage)
        return;
    s->storage = storage;
    s->client = client;
    s->round = round;
    s->n = n;
}

/* Goes through the samples of a client from round 0 on. */
static void look_ahead(const struct timed *t, const osafl_arrival_problem *p, uint32_t client,
                       struct stream *s)
{
    const uint64_t end = p->time_first[client + 1];
    uint64_t k = p->time_first[client] + count_before(p, client, t->config->start);
    for (uint32_t round = 0; round < t->rounds && k < end; round++) {
        const uint64_t first = k;
        while (k < end && p->time[k] < begin_of(t, round + 1))
            k++;
        note_crowd(s, p, client, round, k - first);
        s->within += k - first;
        s->last = k > first && round > s->last ? round : s->last;
    }
    s->after += end - k;
}

static osafl_status refuse_silence(const struct timed *t, osafl_call *c,
                                   const osafl_arrival_problem *p)
{
    double least = p->time[0];
    double most = p->time[0];
    for (uint64_t k = 0; k < p->time_first[p->clients]; k++) {
        least = p->time[k] < least ? p->time[k] : least;
        most = p->time[k] > most ? p->time[k] : most;
    }
    return c->host->fail(c, OSAFL_E_CONFIG,
                         "no sample comes in the %" PRIu32
                         " rounds, which last from %.15g to %.15g; the times of the clients' "
                         "samples are from %.15g to %.15g; set arrival.timed.start and period",
                         t->rounds, t->config->start, begin_of(t, t->rounds), least, most);
}

/* Before the first round, so that no run ends because a later sample does not fit. */
static osafl_status fill(void *self, osafl_call *c, const osafl_arrival_problem *p, uint64_t *n)
{
    const struct timed *t = self;
    struct stream s = {0};
    if (p->time == NULL)
        return c->host->fail(
            c, OSAFL_E_CONFIG,
            "it needs samples that have times and are dealt to the clients that own them; set "
            "partition.plugin = \"natural\" and name the columns or arrays of both "
            "(dataset.csv.time and client, or those of npy), or choose another arrival");
    for (uint32_t u = 0; u < p->clients; u++) {
        look_ahead(t, p, u, &s);
        n[u] = count_before(p, u, t->config->start);
    }
    if (s.storage > 0.0)
        return refuse_crowd(t, c, p, s.client, s.round, s.n);
    if (s.within == 0)
        return refuse_silence(t, c, p);
    if (s.last + 1 < t->rounds)
        c->host->log(c, OSAFL_LOG_WARN,
                     "the last sample comes in round %" PRIu32 " of 0 .. %" PRIu32
                     "; nothing arrives afterwards",
                     s.last, t->rounds - 1);
    if (s.after > 0)
        c->host->log(c, OSAFL_LOG_WARN, "%" PRIu64 " sample%s after the last round and %s left out",
                     s.after, s.after == 1 ? " comes" : "s come", s.after == 1 ? "is" : "are");
    return OSAFL_OK;
}

static osafl_status arrive(void *self, osafl_call *c, const osafl_arrival_problem *p, uint32_t *n,
                           uint8_t *present)
{
    (void)present;
    const struct timed *t = self;
    for (uint32_t u = 0; u < p->clients; u++) {
        const uint64_t come = count_before(p, u, begin_of(t, p->round + 1)) -
                              count_before(p, u, begin_of(t, p->round));
        if (come > p->capacity[u])
            return refuse_crowd(t, c, p, u, p->round, come);
        n[u] = (uint32_t)come;
    }
    return OSAFL_OK;
}

static const osafl_arrival_vt vtable = {
    .life = {.struct_size = sizeof(osafl_arrival_vt), .create = create, .destroy = destroy},
    .arrive = arrive,
    .fill = fill,
};

static const char *const features[] = {"own_numbers", NULL};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_ARRIVAL,
    .name = "timed",
    .version = "1.0.0",
    .summary = "Each sample comes once, in the round of its own time",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
