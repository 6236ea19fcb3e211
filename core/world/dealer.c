/* dealer.c - hands out training samples from pools, each pool in a fixed order. */
#include "dealer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/streams.h"
#include "osafl/random.h"

struct dealer {
    uint32_t pools;
    uint64_t *dealt; /* [pools] */
    uint64_t *first; /* [pools + 1]: where each pool begins in order; NULL: endless */
    uint32_t *order; /* samples, pool after pool */
};

/* Words asked of the generator at a time. */
#define CHUNK 512

static void shuffle(uint64_t seed, uint32_t pool, uint32_t *order, uint64_t n)
{
    uint32_t word[2 * CHUNK];
    for (uint64_t left = n; left > 1; left--) { /* Fisher-Yates, from the end */
        const uint64_t draw = n - left;
        if (draw % CHUNK == 0)
            streams_fill(seed, 0, STREAM_POOL_ORDER, pool, 0, draw / CHUNK, word,
                         2 * (left < CHUNK ? left : CHUNK));
        const uint32_t chosen = osafl_below(word + 2 * (draw % CHUNK), (uint32_t)left);
        const uint32_t last = order[left - 1];
        order[left - 1] = order[chosen];
        order[chosen] = last;
    }
}

static struct dealer *dealer_alloc(uint32_t pools)
{
    struct dealer *d = calloc(1, sizeof *d);
    if (d == NULL)
        return NULL;
    d->pools = pools;
    d->dealt = calloc(pools, sizeof *d->dealt);
    if (d->dealt == NULL) {
        dealer_destroy(d);
        return NULL;
    }
    return d;
}

struct dealer *dealer_create(uint64_t seed, uint32_t pools, uint64_t n, dealer_pool_of *pool_of,
                             void *arg)
{
    assert(pools > 0 && n <= UINT32_MAX);
    struct dealer *d = dealer_alloc(pools);
    if (d == NULL)
        return NULL;
    d->first = calloc((size_t)pools + 1, sizeof *d->first);
    d->order = malloc((n > 0 ? n : 1) * sizeof *d->order);
    if (d->first == NULL || d->order == NULL) {
        dealer_destroy(d);
        return NULL;
    }
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t pool = pool_of(arg, i);
        if (pool != DEALER_NO_POOL)
            d->first[pool + 1]++;
    }
    for (uint32_t p = 0; p < pools; p++)
        d->first[p + 1] += d->first[p];
    /* dealt serves as the place where the next sample of each pool goes. */
    memcpy(d->dealt, d->first, pools * sizeof *d->dealt);
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t pool = pool_of(arg, i);
        if (pool != DEALER_NO_POOL)
            d->order[d->dealt[pool]++] = (uint32_t)i;
    }
    memset(d->dealt, 0, pools * sizeof *d->dealt);
    for (uint32_t p = 0; p < pools; p++)
        shuffle(seed, p, d->order + d->first[p], dealer_size(d, p));
    return d;
}

struct dealer *dealer_create_endless(uint32_t labels)
{
    return dealer_alloc(labels);
}

void dealer_destroy(struct dealer *d)
{
    if (d == NULL)
        return;
    free(d->dealt);
    free(d->first);
    free(d->order);
    free(d);
}

struct timed_sample {
    double time;
    uint32_t sample;
};

static int compare_times(const void *a, const void *b)
{
    const struct timed_sample *x = a;
    const struct timed_sample *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->sample < y->sample ? -1 : x->sample > y->sample;
}

bool dealer_sort(struct dealer *d, double *time)
{
    const uint64_t n = d->first[d->pools];
    struct timed_sample *timed = malloc((n > 0 ? n : 1) * sizeof *timed);
    if (timed == NULL)
        return false;
    for (uint64_t k = 0; k < n; k++)
        timed[k] = (struct timed_sample){.time = time[d->order[k]], .sample = d->order[k]};
    for (uint32_t p = 0; p < d->pools; p++)
        qsort(timed + d->first[p], dealer_size(d, p), sizeof *timed, compare_times);
    for (uint64_t k = 0; k < n; k++) {
        d->order[k] = timed[k].sample;
        time[k] = timed[k].time;
    }
    free(timed);
    return true;
}

const uint64_t *dealer_first(const struct dealer *d)
{
    return d->first;
}

uint64_t dealer_size(const struct dealer *d, uint32_t pool)
{
    return d->first == NULL ? OSAFL_ENDLESS : d->first[pool + 1] - d->first[pool];
}

uint64_t dealer_deal(struct dealer *d, uint32_t pool)
{
    const uint64_t k = d->dealt[pool]++;
    if (d->first == NULL)
        return k;
    assert(dealer_size(d, pool) > 0);
    return d->order[d->first[pool] + k % dealer_size(d, pool)];
}

void dealer_skip(struct dealer *d, uint32_t pool, uint64_t n)
{
    d->dealt[pool] += n;
}

uint64_t dealer_restarts(const struct dealer *d, uint32_t pool)
{
    if (d->first == NULL || d->dealt[pool] == 0)
        return 0;
    return (d->dealt[pool] - 1) / dealer_size(d, pool);
}

const uint64_t *dealer_dealt(const struct dealer *d)
{
    return d->dealt;
}

void dealer_set_dealt(struct dealer *d, const uint64_t *dealt)
{
    memcpy(d->dealt, dealt, d->pools * sizeof *d->dealt);
}

uint32_t dealer_pools(const struct dealer *d)
{
    return d->pools;
}

uint64_t dealer_bytes(const struct dealer *d)
{
    uint64_t bytes = sizeof *d + d->pools * sizeof *d->dealt;
    if (d->first != NULL)
        bytes +=
            ((uint64_t)d->pools + 1) * sizeof *d->first + d->first[d->pools] * sizeof *d->order;
    return bytes;
}
