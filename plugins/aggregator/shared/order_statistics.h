/* order_statistics.h - rules that treat every coordinate on its own, by the order of the clients'
 * values (Yin et al. 2018). */
#ifndef OSAFL_AGGREGATOR_ORDER_STATISTICS_H
#define OSAFL_AGGREGATOR_ORDER_STATISTICS_H

#include "participants.h"

/* A location of the n ascending values. */
typedef double location_rule(const float *sorted, uint32_t n, const void *config);

struct coordinate_rule {
    const osafl_host *host;
    location_rule *location;
    const void *config;
    uint32_t clients;
    float *w;
};

/* Shell sort with Ciura's gaps: short columns are the rule, and nothing is allocated. */
static inline void sort_column(float *x, uint32_t n)
{
    static const uint32_t gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++) {
        const uint32_t gap = gaps[g];
        for (uint32_t i = gap; i < n; i++) {
            const float value = x[i];
            uint32_t j = i;
            for (; j >= gap && x[j - gap] > value; j -= gap)
                x[j] = x[j - gap];
            x[j] = value;
        }
    }
}

static inline osafl_status move_block(void *arg, uint64_t begin, uint64_t n, const float *const *x,
                                      osafl_call *sub)
{
    const struct coordinate_rule *r = arg;
    float *column = r->host->scratch(sub, (uint64_t)r->clients * sizeof *column);
    if (column == NULL)
        return OSAFL_E_NOMEM;
    for (uint64_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < r->clients; k++)
            column[k] = x[k][i];
        sort_column(column, r->clients);
        const double move = r->location(column, r->clients, r->config);
        r->w[begin + i] = (float)((double)r->w[begin + i] + move);
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
