/* chosen.h - what the attacks share: a share of the clients, the same in all rounds.
 *
 * Those are touched whose draw is among the round(share * U) smallest. */
#ifndef OSAFL_FILTER_CHOSEN_H
#define OSAFL_FILTER_CHOSEN_H

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "osafl/filter.h"
#include "osafl/random.h"

/* One purpose serves all draws, told apart by the round: that of who is touched and that of labels
 * stand outside the rounds. */
#define CHOSEN_ROUND UINT32_MAX
#define CHOSEN_LABELS_ROUND (UINT32_MAX - 1)

#define CHOSEN_SHARE_PARAM(S)                                                                      \
    OSAFL_REAL(S, share, 0.0, 0.0, 1.0,                                                            \
               "Share of the clients that attack, rounded to whole clients")

struct chosen {
    const osafl_host *host;
    const void *config;
    uint64_t dim;
    uint32_t labels;
    uint32_t clients;
    uint8_t touched[]; /* [clients] */
};

struct chosen_draw {
    uint64_t value;
    uint32_t client;
};

static inline int chosen_compare(const void *a, const void *b)
{
    const struct chosen_draw *x = a;
    const struct chosen_draw *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->client < y->client ? -1 : x->client > y->client;
}

/* What create() makes; share: of the clients.  osafl_lifecycle.destroy is free(). */
static inline osafl_status chosen_create(const osafl_host *h, osafl_call *c,
                                         const osafl_facts *facts, const void *config, double share,
                                         void **self)
{
    const uint32_t clients = facts->clients;
    struct chosen_draw *draw = h->scratch(c, (uint64_t)clients * sizeof *draw);
    struct chosen *f = calloc(1, sizeof *f + clients);
    if (draw == NULL || f == NULL) {
        free(f);
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    }
    f->host = h;
    f->config = config;
    f->dim = facts->dim;
    f->labels = facts->dataset->labels;
    f->clients = clients;
    for (uint32_t u = 0; u < clients; u++) {
        uint32_t word[2];
        h->random_fill(c, 0, u, CHOSEN_ROUND, 0, word, 2);
        draw[u] = (struct chosen_draw){.value = ((uint64_t)word[0] << 32) | word[1], .client = u};
    }
    qsort(draw, clients, sizeof *draw, chosen_compare);
    const uint32_t n = (uint32_t)lround(share * (double)clients);
    for (uint32_t k = 0; k < n; k++)
        f->touched[draw[k].client] = 1;
    *self = f;
    return OSAFL_OK;
}

static inline uint32_t chosen_touches(void *self, uint32_t client)
{
    const struct chosen *f = self;
    return f->touched[client];
}

/* x <- factor * x. */
static inline void chosen_scale(const struct chosen *f, double factor, float *x)
{
    for (uint64_t i = 0; i < f->dim; i++)
        x[i] = (float)(factor * (double)x[i]);
}

#endif
