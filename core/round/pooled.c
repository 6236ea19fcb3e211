/* pooled.c - centralised training: one trainee with the union of all stores. */
#include "pooled.h"

#include <stdlib.h>
#include <string.h>

bool pooled_create(const struct session *s, const struct world *world, struct pooled *out)
{
    uint64_t capacity = 0;
    *out = (struct pooled){0};
    if (session_has_link(s))
        return true;
    for (uint32_t u = 0; u < s->facts.clients; u++)
        capacity += world_population(world)->capacity[u];
    out->sample = calloc(capacity, sizeof *out->sample);
    out->histogram = calloc(s->dataset.labels, sizeof *out->histogram);
    return out->sample != NULL && out->histogram != NULL;
}

void pooled_destroy(struct pooled *p)
{
    free(p->sample);
    free(p->histogram);
    *p = (struct pooled){0};
}

struct train_task pooled_task(struct pooled *p, const struct session *s, const struct world *world,
                              uint64_t steps)
{
    const uint32_t labels = s->dataset.labels;
    uint64_t n = 0;
    memset(p->histogram, 0, labels * sizeof *p->histogram);
    for (uint32_t u = 0; u < s->facts.clients; u++) {
        const struct store_samples store = world_store(world, u);
        memcpy(p->sample + n, store.sample, (size_t)store.n * sizeof *p->sample);
        n += store.n;
        for (uint32_t label = 0; label < labels; label++)
            p->histogram[label] += world_histogram(world, u)[label];
    }
    return (struct train_task){
        .local_rounds = 1,
        .minibatches = steps,
        .store = {.n = n, .sample = p->sample},
    };
}
