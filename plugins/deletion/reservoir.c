/* reservoir.c - keeps a uniform sample of everything a client has ever seen (Vitter 1985,
 * algorithm R).
 *
 * Arrival number i of the stream takes the place of a random sample of the store with probability
 * stored / i, and is refused otherwise, so every sample of the past is stored with equal
 * probability.  The number seen is state; the first store counts as seen. */
#include <stdlib.h>

#include "osafl/deletion.h"
#include "osafl/random.h"

enum { STREAM_PLACE = 1 };

struct reservoir {
    const osafl_host *host;
    uint32_t clients;
    uint64_t *seen; /* [clients]; 0: no arrival yet */
};

/* Uniform in {0, ..., n - 1} for any n >= 1; osafl_below() ends at 2^32. */
static uint64_t below(const uint32_t word[2], uint64_t n)
{
    if (n <= UINT32_MAX)
        return osafl_below(word, (uint32_t)n);
    return (uint64_t)(osafl_uniform(word) * (double)n);
}

static osafl_status select_samples(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                                   uint32_t *position)
{
    struct reservoir *r = self;
    const uint32_t size = v->stored + v->arrived - n;
    if (n > v->arrived)
        return r->host->fail(c, OSAFL_E_UNSUPPORTED,
                             "a reservoir never shrinks: %u samples arrived and %u should leave",
                             v->arrived, n);
    uint32_t *place = r->host->scratch(c, ((uint64_t)size + 1) * sizeof *place);
    uint32_t *word = r->host->scratch(c, ((uint64_t)n + 1) * 2 * sizeof *word);
    if (place == NULL || word == NULL)
        return OSAFL_E_NOMEM;
    for (uint32_t i = 0; i < size; i++)
        place[i] = i; /* which sample the reservoir holds there; free places take arrivals */
    r->host->random_fill(c, STREAM_PLACE, v->client, v->round, 0, word, (uint64_t)2 * n);

    uint64_t *seen = &r->seen[v->client];
    if (*seen == 0)
        *seen = size;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t arrival = size + i;
        (*seen)++;
        const uint64_t j = below(word + (size_t)2 * i, *seen);
        if (j < size) {
            position[i] = place[j];
            place[j] = arrival;
        } else {
            position[i] = arrival;
        }
    }
    return OSAFL_OK;
}

static void destroy(void *self)
{
    struct reservoir *r = self;
    free(r->seen);
    free(r);
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)config;
    struct reservoir *r = calloc(1, sizeof *r);
    uint64_t *seen = calloc(facts->clients, sizeof *seen);
    if (r == NULL || seen == NULL) {
        free(r);
        free(seen);
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    }
    *r = (struct reservoir){.host = h, .clients = facts->clients, .seen = seen};
    *self = r;
    return OSAFL_OK;
}

static osafl_status save(void *self, osafl_call *c, osafl_writer *writer)
{
    (void)c;
    const struct reservoir *r = self;
    return writer->u64(writer, "seen", r->seen, r->clients);
}

static osafl_status load(void *self, osafl_call *c, osafl_reader *reader)
{
    const struct reservoir *r = self;
    OSAFL_TRY(reader->u64(reader, "seen", r->seen, r->clients));
    for (uint32_t i = 0; i < r->clients; i++) {
        if (r->seen[i] > UINT64_MAX / 2)
            return r->host->fail(c, OSAFL_E_STATE, "client %u has seen too many samples", i);
    }
    return OSAFL_OK;
}

static const osafl_deletion_vt vtable = {
    .life = {.struct_size = sizeof(osafl_deletion_vt),
             .state_version = 1,
             .create = create,
             .destroy = destroy,
             .save = save,
             .load = load},
    .select = select_samples,
};

static const char *const features[] = {"concurrent", NULL};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_DELETION,
    .name = "reservoir",
    .version = "1.0.0",
    .summary = "Keeps a uniform sample of everything that a client has seen",
    .cite = "Vitter: Random Sampling with a Reservoir, ACM Transactions on Mathematical Software "
            "11(1), 1985",
    .license = "MIT",
    .features = features,
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
