/* participants.h - what aggregators share that weigh clients by their share of the data. */
#ifndef OSAFL_AGGREGATOR_PARTICIPANTS_H
#define OSAFL_AGGREGATOR_PARTICIPANTS_H

#include <stdlib.h>

#include "osafl/aggregator.h"

/* An aggregator without state: its host and its settings. */
struct stateless_rule {
    const osafl_host *host;
    const void *config;
};

static inline osafl_status stateless_create(const osafl_host *h, osafl_call *c,
                                            const osafl_facts *facts, const void *config,
                                            void **self)
{
    (void)facts;
    struct stateless_rule *r = calloc(1, sizeof *r);
    if (r == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    r->host = h;
    r->config = config;
    *self = r;
    return OSAFL_OK;
}

static inline double participants_alpha(const osafl_updates *u)
{
    double total = 0.0;
    for (uint32_t k = 0; k < u->n; k++)
        total += u->alpha[k];
    return total;
}

/* share[k] = a_k = alpha_k / sum of alpha over the participants.  Equal shares when none of them
 * has data. */
static inline void participants_shares(const osafl_updates *u, double *share)
{
    const double total = participants_alpha(u);
    for (uint32_t k = 0; k < u->n; k++)
        share[k] = total > 0.0 ? u->alpha[k] / total : 1.0 / (double)u->n;
}

/* FedAvg's step over the participants: w <- w + rate * sum of a_k x_k. */
static inline osafl_status participants_add_mean(const osafl_host *h, osafl_call *c,
                                                 const osafl_updates *u, double rate, float *w)
{
    double *weight = h->scratch(c, (uint64_t)u->n * sizeof *weight);
    if (weight == NULL)
        return OSAFL_E_NOMEM;
    participants_shares(u, weight);
    for (uint32_t k = 0; k < u->n; k++)
        weight[k] *= rate;
    return u->ops->add(u, 0, weight, w);
}

#endif
