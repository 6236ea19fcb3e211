/* counts.h - what the arrivals share: how full stores begin, what they need, and Poisson counts. */
#ifndef OSAFL_ARRIVAL_COUNTS_H
#define OSAFL_ARRIVAL_COUNTS_H

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "osafl/arrival.h"
#include "osafl/random.h"

/* The setting `fill`, a double that is the first member of a plugin's settings. */
#define COUNTS_FILL(S, bits)                                                                       \
    OSAFL_REAL(S, fill, 1.0, 0.0, 1.0,                                                             \
               "Share of a store that is full before the first round; the rest fills with what "   \
               "arrives",                                                                          \
               .flags = (bits))

static inline void counts_fill_stores(double share, const osafl_arrival_problem *p, uint64_t *n)
{
    for (uint32_t u = 0; u < p->clients; u++)
        n[u] = (uint64_t)nearbyint(share * (double)p->capacity[u]);
}

/* fill() of a plugin whose self is its settings, with `fill` first. */
static inline osafl_status counts_fill(void *self, osafl_call *c, const osafl_arrival_problem *p,
                                       uint64_t *n)
{
    (void)c;
    counts_fill_stores(*(const double *)self, p, n);
    return OSAFL_OK;
}

/* The least clients.storage with which n samples fit into the store of a client. */
static inline double counts_storage_for(const osafl_arrival_problem *p, uint32_t client, uint64_t n)
{
    return floor((double)(n - 1) / p->activity[client] * (1.0 + 4.0 * DBL_EPSILON)) + 1.0;
}

#define COUNTS_ROOM_BYTES 384

/* How a message goes on about n samples that do not fit. */
static inline const char *counts_room(const osafl_arrival_problem *p, uint32_t client, uint64_t n,
                                      char text[COUNTS_ROOM_BYTES])
{
    snprintf(text, COUNTS_ROOM_BYTES,
             "room for %" PRIu64 ": clients.storage times its activity of %.6g (clients.activity), "
             "rounded up, or what its group says; set clients.storage to %.15g or more, or with "
             "clients.activity = [1.0, 1.0] to %" PRIu64 " or more",
             p->capacity[client], p->activity[client], counts_storage_for(p, client, n), n);
    return text;
}

/* Random words are asked for so many at a time. */
#define COUNTS_UNIFORMS 32

/* A Poisson variate: arrivals within `mean` when the gaps between them are exponential with mean 1
 * (a Poisson process); no more than `most`.  Gap k takes words 2 k and 2 k + 1 of the stream, 64
 * words an index. */
static inline uint32_t counts_poisson(osafl_call *c, uint32_t purpose, uint32_t client,
                                      uint32_t round, double mean, uint64_t most)
{
    double time = 0.0;
    uint32_t n = 0;
    for (uint64_t index = 0;; index++) {
        uint32_t word[2 * COUNTS_UNIFORMS];
        c->host->random_fill(c, purpose, client, round, index, word, 2 * COUNTS_UNIFORMS);
        for (uint32_t k = 0; k < COUNTS_UNIFORMS; k++) {
            time -= log(osafl_uniform(word + 2 * (size_t)k) + 0x1p-54);
            if (time > mean || n >= most)
                return n;
            n++;
        }
    }
}

#endif
