/* asks_thread.c - answers otherwise on another thread.  Caught by threads.parallel. */
#include "template_with.h"

#include <pthread.h>

struct loop {
    pthread_t caller;
    float *w;
};

static osafl_status nudge(void *arg, uint64_t begin, uint64_t end, osafl_call *sub)
{
    (void)sub;
    const struct loop *loop = arg;
    let_others_in();
    for (uint64_t i = begin; i < end; i++)
        loop->w[i] += pthread_equal(loop->caller, pthread_self()) ? 0.0f : 1.0f;
    return OSAFL_OK;
}

static osafl_status aggregate_apart(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    struct loop loop = {pthread_self(), w};
    OSAFL_TRY(aggregate(self, c, u, w));
    return ((struct rule *)self)->host->parallel(c, u->dim, 64, nudge, &loop);
}

CHANGE(vt.aggregate = aggregate_apart;)
