/* leaving.h - what the deletion policies share: random and oldest choices among the samples of
 * a client.  Positions are those of osafl_store_view. */
#ifndef OSAFL_DELETION_SELECTION_H
#define OSAFL_DELETION_SELECTION_H

#include <stdlib.h>

#include "osafl/dataset.h"
#include "osafl/deletion.h"
#include "osafl/random.h"

/* How a policy picks among samples that are equal to it. */
enum { WHICH_RANDOM, WHICH_OLDEST };
static const char *const selection_which[] = {"random", "oldest", NULL};

/* A policy that never refuses an arrival can give up stored samples only. */
static inline osafl_status selection_check(const osafl_host *h, osafl_call *c,
                                           const osafl_store_view *v, uint32_t n)
{
    if (n <= v->stored)
        return OSAFL_OK;
    return h->fail(c, OSAFL_E_UNSUPPORTED,
                   "client %u should delete %u of %u stored samples: this policy keeps every "
                   "arrival, so a store must hold at least as many samples as arrive in a round",
                   v->client, n, v->stored);
}

/* Brings a uniformly random choice of n of the m positions to the front, in random order: the
 * first n steps of a Fisher-Yates shuffle.  word: 2 * n random words. */
static inline void selection_random(uint32_t *position, uint32_t m, uint32_t n,
                                    const uint32_t *word)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t j = i + osafl_below(word + (size_t)2 * i, m - i);
        const uint32_t chosen = position[j];
        position[j] = position[i];
        position[i] = chosen;
    }
}

struct selection_aged {
    uint32_t age;
    uint32_t position;
};

static inline int selection_older_first(const void *a, const void *b)
{
    const struct selection_aged *x = a;
    const struct selection_aged *y = b;
    if (x->age != y->age)
        return x->age > y->age ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* Sorts the m positions by age, oldest first; of equal age the lower position first.  aged: room
 * for m elements. */
static inline void selection_oldest(const osafl_store_view *v, uint32_t *position, uint32_t m,
                                    struct selection_aged *aged)
{
    for (uint32_t i = 0; i < m; i++)
        aged[i] = (struct selection_aged){v->age[position[i]], position[i]};
    qsort(aged, m, sizeof aged[0], selection_older_first);
    for (uint32_t i = 0; i < m; i++)
        position[i] = aged[i].position;
}

/* Chooses take[l] stored samples of every label l and appends them to position; take[l] is at most
 * the number of stored samples of that label.  purpose: the policy's random stream. */
static inline osafl_status selection_by_label(const osafl_host *h, osafl_call *c,
                                              const osafl_store_view *v, const uint32_t *take,
                                              int32_t which, uint32_t purpose, uint32_t *position)
{
    uint32_t *candidate = h->scratch(c, (uint64_t)v->stored * sizeof *candidate);
    uint32_t *word = h->scratch(c, (uint64_t)v->stored * 2 * sizeof *word);
    struct selection_aged *aged = h->scratch(c, (uint64_t)v->stored * sizeof *aged);
    if (candidate == NULL || word == NULL || aged == NULL)
        return OSAFL_E_NOMEM;

    uint32_t chosen = 0;
    for (uint32_t label = 0; label < v->labels; label++) {
        if (take[label] == 0)
            continue;
        uint32_t m = 0;
        for (uint32_t i = 0; i < v->stored; i++) {
            if ((uint32_t)v->label[i] == label)
                candidate[m++] = i;
        }
        if (which == WHICH_OLDEST) {
            selection_oldest(v, candidate, m, aged);
        } else {
            h->random_fill(c, purpose, v->client, v->round, label, word, (uint64_t)2 * take[label]);
            selection_random(candidate, m, take[label], word);
        }
        for (uint32_t i = 0; i < take[label]; i++)
            position[chosen++] = candidate[i];
    }
    return OSAFL_OK;
}

/* count[l]: stored samples of label l; count: v->labels elements, zeroed. */
static inline void selection_count(const osafl_store_view *v, uint32_t *count)
{
    for (uint32_t i = 0; i < v->stored; i++)
        count[v->label[i]]++;
}

/* A policy needs nothing but its host and its settings. */
struct selection_policy {
    const osafl_host *host;
    const void *config;
};

static inline osafl_status selection_create(const osafl_host *h, osafl_call *c,
                                            const osafl_facts *facts, const void *config,
                                            void **self)
{
    (void)facts;
    struct selection_policy *p = calloc(1, sizeof *p);
    if (p == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    p->host = h;
    p->config = config;
    *self = p;
    return OSAFL_OK;
}

/* The same for a policy that goes by labels. */
static inline osafl_status selection_create_by_label(const osafl_host *h, osafl_call *c,
                                                     const osafl_facts *facts, const void *config,
                                                     void **self)
{
    if (facts->dataset->target_type == OSAFL_TARGET_REAL && facts->dataset->labels == 1)
        return h->fail(c, OSAFL_E_CONFIG,
                       "the targets are real numbers, so there are no labels to choose by; choose "
                       "another deletion policy, such as \"fifo\" or \"random\"");
    return selection_create(h, c, facts, config, self);
}

static const char *const selection_features[] = {"concurrent", "keeps_arrivals", NULL};

#endif
