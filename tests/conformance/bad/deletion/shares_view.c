/* shares_view.c - says that select() is concurrent, and keeps the client in hand in the instance.
 * Caught by threads.workers. */
#include "template_with.h"

static const char *const concurrent[] = {"concurrent", NULL};

struct busy_policy {
    struct policy policy;
    volatile uint32_t client; /* in hand */
};

static osafl_status create_busy(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                                const void *config, void **self)
{
    (void)facts, (void)config;
    struct busy_policy *policy = calloc(1, sizeof *policy);
    if (policy == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    policy->policy.host = h;
    *self = policy;
    return OSAFL_OK;
}

static osafl_status select_busy(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                                uint32_t *position)
{
    struct busy_policy *policy = self;
    policy->client = v->client;
    let_others_in();
    OSAFL_TRY(select_samples(self, c, v, n, position));
    for (uint32_t i = 0; i < n; i++)
        position[i] = (position[i] + policy->client) % (v->stored + v->arrived);
    return OSAFL_OK;
}

CHANGE(vt.life.create = create_busy; vt.select = select_busy; p.features = concurrent;)
