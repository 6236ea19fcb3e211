/* random_walk.c - moves on with each call, not with each round.  Caught by channel.repeatable. */
#include "template_with.h"

struct walking {
    struct channel base;
    double factor;
};

static osafl_status create_walking(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                                   const void *config, void **self)
{
    struct walking *w = malloc(sizeof *w);
    if (w == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *w = (struct walking){{h, config, facts->clients}, 1.0};
    *self = w;
    return OSAFL_OK;
}

static osafl_status walking_gains(void *self, osafl_call *c, uint32_t round, double *gain)
{
    struct walking *w = self;
    OSAFL_TRY(gains(self, c, round, gain));
    w->factor *= 0.9;
    for (uint32_t u = 0; u < w->base.clients; u++)
        gain[u] *= w->factor;
    return OSAFL_OK;
}

CHANGE(vt.gains = walking_gains; vt.life.create = create_walking;)
