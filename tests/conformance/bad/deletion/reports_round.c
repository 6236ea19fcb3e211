/* reports_round.c - says that select() is concurrent, and reports a metric for the whole round.
 * Caught by threads.workers. */
#include "template_with.h"

static const char *const concurrent[] = {"concurrent", NULL};
static const osafl_metric metrics[] = {
    {.name = "left", .doc = "Samples that left a store", .scope = OSAFL_PER_ROUND}};

static osafl_status select_and_report(void *self, osafl_call *c, const osafl_store_view *v,
                                      uint32_t n, uint32_t *position)
{
    c->host->metric(c, 0, OSAFL_NO_CLIENT, n);
    return select_samples(self, c, v, n, position);
}

CHANGE(vt.select = select_and_report; p.features = concurrent; p.metrics = metrics; p.n_metrics = 1;
       p.metric_size = sizeof(osafl_metric);)
