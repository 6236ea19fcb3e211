/* scheduled_optimizer.h - what an optimizer without instance state needs: its settings, which begin
 * with a learning_rate_config, and the number of rounds. */
#ifndef OSAFL_OPTIMIZER_SCHEDULED_OPTIMIZER_H
#define OSAFL_OPTIMIZER_SCHEDULED_OPTIMIZER_H

#include <stdlib.h>

#include "learning_rate.h"
#include "osafl/optimizer.h"

struct scheduled_optimizer {
    const void *config; /* begins with a learning_rate_config */
    uint32_t rounds;
    uint64_t dim;
};

static inline osafl_status scheduled_create(const osafl_host *h, osafl_call *c,
                                            const osafl_facts *facts, const void *config,
                                            void **self)
{
    OSAFL_TRY(learning_rate_check(h, c, config, facts->rounds));
    struct scheduled_optimizer *s = calloc(1, sizeof *s);
    if (s == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    s->config = config;
    s->rounds = facts->rounds;
    s->dim = facts->dim;
    *self = s;
    return OSAFL_OK;
}

static inline osafl_status scheduled_rate(void *self, osafl_call *c, uint32_t round, double *rate)
{
    (void)c;
    const struct scheduled_optimizer *s = self;
    *rate = learning_rate_of_round(s->config, s->rounds, round);
    return OSAFL_OK;
}

#endif
