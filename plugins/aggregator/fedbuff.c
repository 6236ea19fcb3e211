/* fedbuff.c - buffered asynchronous aggregation (Nguyen et al. 2022; ALGORITHMS.md 6).
 *
 * Updates are added up as they arrive, late ones by s(tau) = 1 / sqrt(1 + tau), tau the server's
 * steps since the client got its model.  When `buffer` of them are in, the server steps:
 * w <- w + eta_g * (sum of s(tau) Q(Delta)) / buffer, and the buffer is empty again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "osafl/aggregator.h"
#include "shared/versions.h"

struct config {
    int64_t buffer;
    double server_learning_rate;
    int64_t max_staleness;
};

struct fedbuff {
    const struct config *config;
    uint64_t dim;
    uint64_t waiting; /* updates in the buffer, < config->buffer */
    float *sum;       /* [dim] of them */
    struct versions versions;
};

static osafl_status describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    (void)c;
    const struct fedbuff *f = self;
    out->sends = OSAFL_SENDS_DELTA;
    out->optimizer = "sgd";
    out->wants_empty_rounds = 1;
    out->max_staleness = (uint32_t)f->config->max_staleness;
    return OSAFL_OK;
}

/* weight[k]: s(tau) of those that wait when the round is over, 0 of the others; step[k]: the same
 * for those that went into a step.  Returns the steps. */
static uint64_t weigh(struct fedbuff *f, const osafl_updates *u, const uint32_t *order,
                      double *step, double *weight)
{
    uint64_t steps = 0;
    for (uint32_t j = 0; j < u->n; j++) {
        const uint32_t k = order[j];
        weight[k] = 1.0 / sqrt(1.0 + versions_staleness(&f->versions, u->start_round[k], steps));
        f->waiting++;
        if (f->waiting < (uint64_t)f->config->buffer)
            continue;
        f->waiting = 0;
        steps++;
        for (uint32_t i = 0; i <= j; i++) {
            step[order[i]] += weight[order[i]];
            weight[order[i]] = 0.0;
        }
    }
    return steps;
}

static osafl_status take_steps(struct fedbuff *f, const osafl_updates *u, double *step, float *w)
{
    const double rate = f->config->server_learning_rate / (double)f->config->buffer;
    for (uint64_t i = 0; i < f->dim; i++)
        w[i] = (float)((double)w[i] + rate * (double)f->sum[i]);
    memset(f->sum, 0, f->dim * sizeof *f->sum);
    for (uint32_t k = 0; k < u->n; k++)
        step[k] *= rate;
    return u->ops->add(u, 0, step, w);
}

static osafl_status aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    struct fedbuff *f = self;
    uint32_t *order = c->host->scratch(c, (u->n + UINT64_C(1)) * sizeof *order);
    double *step = c->host->scratch(c, (u->n + UINT64_C(1)) * sizeof *step);
    double *weight = c->host->scratch(c, (u->n + UINT64_C(1)) * sizeof *weight);
    if (order == NULL || step == NULL || weight == NULL)
        return OSAFL_E_NOMEM;
    versions_begin(&f->versions, u->round);
    arrival_order(u, order);
    const uint64_t steps = weigh(f, u, order, step, weight);
    if (steps > 0)
        OSAFL_TRY(take_steps(f, u, step, w));
    f->versions.steps += steps;
    return u->n > 0 ? u->ops->add(u, 0, weight, f->sum) : OSAFL_OK;
}

static void destroy(void *self)
{
    struct fedbuff *f = self;
    free(f->versions.at_start);
    free(f->sum);
    free(f);
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const struct config *settings = config;
    struct fedbuff *f = calloc(1, sizeof *f);
    if (f == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    f->config = settings;
    f->dim = facts->dim;
    f->sum = calloc(f->dim, sizeof *f->sum);
    if (f->sum == NULL || !versions_create(&f->versions, (uint32_t)settings->max_staleness)) {
        destroy(f);
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    }
    *self = f;
    return OSAFL_OK;
}

static osafl_status save(void *self, osafl_call *c, osafl_writer *w)
{
    (void)c;
    const struct fedbuff *f = self;
    OSAFL_TRY(w->u64(w, "waiting", &f->waiting, 1));
    OSAFL_TRY(w->f32(w, "sum", f->sum, f->dim));
    return versions_save(&f->versions, w);
}

static osafl_status load(void *self, osafl_call *c, osafl_reader *r)
{
    struct fedbuff *f = self;
    OSAFL_TRY(r->u64(r, "waiting", &f->waiting, 1));
    OSAFL_TRY(r->f32(r, "sum", f->sum, f->dim));
    for (uint64_t i = 0; i < f->dim; i++)
        if (!isfinite(f->sum[i]))
            return c->host->fail(c, OSAFL_E_STATE, "the buffer holds a value that is not finite");
    if (f->waiting >= (uint64_t)f->config->buffer)
        return c->host->fail(c, OSAFL_E_STATE, "the buffer holds more updates than it can");
    return versions_load(&f->versions, c, r);
}

static const osafl_param params[] = {
    OSAFL_INT(struct config, buffer, 10, 1, 1000000, "K, the updates that make a step",
              .unit = "updates"),
    OSAFL_REAL(struct config, server_learning_rate, 1, 0, 1e6, "eta_g, factor of the server's step",
               .flags = OSAFL_P_LO_OPEN),
    OSAFL_INT(struct config, max_staleness, 8, 0, 10000,
              "Rounds by which an update may be late (uplink.late = \"carry\")", .unit = "rounds"),
};

static const char *const features[] = {"scale_free", NULL};

static const osafl_aggregator_vt vtable = {
    .life = {.struct_size = sizeof(osafl_aggregator_vt),
             .state_version = 1,
             .create = create,
             .destroy = destroy,
             .save = save,
             .load = load},
    .describe = describe,
    .aggregate = aggregate,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_AGGREGATOR,
    .name = "fedbuff",
    .version = "1.0.0",
    .summary = "Buffered asynchronous aggregation: one step for every K updates, late ones with "
               "less weight",
    .cite =
        "Nguyen, Malik, Zhan, Yousefpour, Rabbat, Malek, Huba: Federated Learning with Buffered "
        "Asynchronous Aggregation, AISTATS 2022",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
