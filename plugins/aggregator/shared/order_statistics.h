/* order_statistics.h - rules that treat every coordinate on its own, by the order of the clients'
 * values (Yin et al. 2018). */
#ifndef OSAFL_AGGREGATOR_ORDER_STATISTICS_H
#define OSAFL_AGGREGATOR_ORDER_STATISTICS_H

#include <string.h>

#include "participants.h"

/* Coordinates that are sorted side by side, in lanes that the compiler turns into vectors. */
#define LANES 64

/* A location of the n ascending values sorted[0], sorted[LANES], sorted[2 * LANES], ... */
typedef double location_rule(const float *sorted, uint32_t n, const void *config);

struct coordinate_rule {
    const osafl_host *host;
    location_rule *location;
    const void *config;
    uint32_t clients;
    float *w;
};

/* Of zeros the sign may be lost. */
static inline void sort_rows(float *restrict low, float *restrict high)
{
    for (unsigned i = 0; i < LANES; i++) {
        const float a = low[i];
        const float b = high[i];
        low[i] = a < b ? a : b;
        high[i] = a > b ? a : b;
    }
}

/* Sorts every column of tile[n][LANES] by Batcher's odd-even merge sort (Knuth, TAOCP 3, 5.2.2 M):
 * its comparisons do not depend on the values, so all columns go through them together. */
static inline void sort_columns(float *tile, uint32_t n)
{
    const uint64_t rows = n;
    for (uint64_t p = 1; p < rows; p *= 2) {
        for (uint64_t k = p; k >= 1; k /= 2) {
            for (uint64_t j = k % p; j + k < rows; j += 2 * k) {
                for (uint64_t i = j; i < j + k && i + k < rows; i++) {
                    if (i / (2 * p) == (i + k) / (2 * p))
                        sort_rows(tile + i * LANES, tile + (i + k) * LANES);
                }
            }
        }
    }
}

static inline osafl_status move_block(void *arg, uint64_t begin, uint64_t n, const float *const *x,
                                      osafl_call *sub)
{
    const struct coordinate_rule *r = arg;
    float *tile = r->host->scratch(sub, (uint64_t)r->clients * LANES * sizeof *tile);
    if (tile == NULL)
        return OSAFL_E_NOMEM;
    for (uint64_t i = 0; i < n; i += LANES) {
        const uint64_t lanes = n - i < LANES ? n - i : LANES;
        for (uint64_t k = 0; k < r->clients; k++)
            memcpy(tile + k * LANES, x[k] + i, lanes * sizeof *tile);
        sort_columns(tile, r->clients);
        for (uint64_t lane = 0; lane < lanes; lane++) {
            float *w = r->w + begin + i + lane;
            *w = (float)((double)*w + r->location(tile + lane, r->clients, r->config));
        }
    }
    return OSAFL_OK;
}

/* w <- w + location of the updates, coordinate by coordinate. */
static inline osafl_status add_location(const osafl_host *h, const osafl_updates *u,
                                        location_rule *location, const void *config, float *w)
{
    struct coordinate_rule rule = {
        .host = h, .location = location, .config = config, .clients = u->n, .w = w};
    return u->ops->each_block(u, 0, move_block, &rule);
}

#endif
