/* fedasync.c - asynchronous federated optimization (Xie et al. 2019; ALGORITHMS.md 6).
 *
 * Each update is a step of the server, in the order of arrival: w <- (1 - a) w + a (w' + Q(Delta)),
 * with w' the model from which the client started and a = mixing * s(tau), tau the server's steps
 * since then.  The steps of a round are one linear form of w, the models of earlier rounds and the
 * updates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "osafl/aggregator.h"
#include "shared/versions.h"

enum { DECAY_POLYNOMIAL, DECAY_HINGE, DECAY_CONSTANT };
static const char *const decay_choices[] = {"polynomial", "hinge", "constant", NULL};

struct config {
    double mixing;
    osafl_choice decay;
    double exponent;
    double hinge_slope;
    double hinge_start;
    int64_t max_staleness;
};

struct fedasync {
    const struct config *config;
    uint64_t dim;
    float *start; /* [versions.rounds][dim]: the models at the start of the last rounds */
    struct versions versions;
};

static osafl_status describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    (void)c;
    const struct fedasync *f = self;
    out->sends = OSAFL_SENDS_DELTA;
    out->optimizer = "sgd";
    out->wants_empty_rounds = 1;
    out->max_staleness = (uint32_t)f->config->max_staleness;
    return OSAFL_OK;
}

/* s(tau) of the paper's section 5.2. */
static double decay(const struct config *s, double staleness)
{
    if (s->decay.index == DECAY_CONSTANT)
        return 1.0;
    if (s->decay.index == DECAY_POLYNOMIAL)
        return pow(staleness + 1.0, -s->exponent);
    const double beyond = staleness - s->hinge_start;
    return beyond <= 0.0 ? 1.0 : 1.0 / (s->hinge_slope * beyond + 1.0);
}

/* What the round's steps make of each update and of the models from which they started: weight[k],
 * model[place of the round].  Every step takes the same from all before it, so the last is first
 * here.  Returns what is left of w. */
static double weigh(const struct fedasync *f, const osafl_updates *u, const uint32_t *order,
                    double *weight, double *model)
{
    double left = 1.0;
    for (uint32_t j = u->n; j-- > 0;) {
        const uint32_t k = order[j];
        const double staleness = versions_staleness(&f->versions, u->start_round[k], j);
        const double a = f->config->mixing * decay(f->config, staleness);
        weight[k] = a * left;
        model[versions_place(&f->versions, u->start_round[k])] += a * left;
        left *= 1.0 - a;
    }
    return left;
}

static void mix_models(const struct fedasync *f, double left, const double *model, float *w)
{
    for (uint64_t i = 0; i < f->dim; i++) {
        double sum = left * (double)w[i];
        for (uint64_t r = 0; r < f->versions.rounds; r++)
            if (model[r] != 0.0)
                sum += model[r] * (double)f->start[r * f->dim + i];
        w[i] = (float)sum;
    }
}

static osafl_status aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    struct fedasync *f = self;
    uint32_t *order = c->host->scratch(c, (u->n + UINT64_C(1)) * sizeof *order);
    double *weight = c->host->scratch(c, (u->n + UINT64_C(1)) * sizeof *weight);
    double *model = c->host->scratch(c, f->versions.rounds * sizeof *model);
    if (order == NULL || weight == NULL || model == NULL)
        return OSAFL_E_NOMEM;
    versions_begin(&f->versions, u->round);
    memcpy(f->start + versions_place(&f->versions, u->round) * f->dim, w, f->dim * sizeof *w);
    if (u->n == 0)
        return OSAFL_OK;
    arrival_order(u, order);
    const double left = weigh(f, u, order, weight, model);
    mix_models(f, left, model, w);
    f->versions.steps += u->n;
    return u->ops->add(u, 0, weight, w);
}

static void destroy(void *self)
{
    struct fedasync *f = self;
    free(f->versions.at_start);
    free(f->start);
    free(f);
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const struct config *settings = config;
    struct fedasync *f = calloc(1, sizeof *f);
    if (f == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    f->config = settings;
    f->dim = facts->dim;
    if (versions_create(&f->versions, (uint32_t)settings->max_staleness))
        f->start = calloc(f->versions.rounds, f->dim * sizeof *f->start);
    if (f->start == NULL) {
        destroy(f);
        return h->fail(c, OSAFL_E_NOMEM,
                       "out of memory for %llu models; a smaller max_staleness takes less",
                       (unsigned long long)settings->max_staleness + 1);
    }
    *self = f;
    return OSAFL_OK;
}

static osafl_status save(void *self, osafl_call *c, osafl_writer *w)
{
    (void)c;
    const struct fedasync *f = self;
    OSAFL_TRY(w->f32(w, "start", f->start, f->versions.rounds * f->dim));
    return versions_save(&f->versions, w);
}

static osafl_status load(void *self, osafl_call *c, osafl_reader *r)
{
    struct fedasync *f = self;
    OSAFL_TRY(r->f32(r, "start", f->start, f->versions.rounds * f->dim));
    for (uint64_t i = 0; i < f->versions.rounds * f->dim; i++)
        if (!isfinite(f->start[i]))
            return c->host->fail(c, OSAFL_E_STATE, "an earlier model is not finite");
    return versions_load(&f->versions, c, r);
}

static const osafl_param params[] = {
    OSAFL_REAL(struct config, mixing, 0.6, 0, 1, "alpha, weight of an update that is not stale",
               .flags = OSAFL_P_LO_OPEN),
    OSAFL_CHOICE(struct config, decay, DECAY_POLYNOMIAL, decay_choices,
                 "How the weight falls with the staleness tau: (tau + 1)^-exponent, or 1 up to "
                 "hinge_start and 1 / (hinge_slope (tau - hinge_start) + 1) beyond, or not at all"),
    OSAFL_REAL(struct config, exponent, 0.5, 0, 100, "Exponent of decay = \"polynomial\""),
    OSAFL_REAL(struct config, hinge_slope, 10, 0, 1e6, "Slope of decay = \"hinge\""),
    OSAFL_REAL(struct config, hinge_start, 4, 0, 1e9,
               "Staleness up to which decay = \"hinge\" is 1", .unit = "steps"),
    OSAFL_INT(struct config, max_staleness, 4, 0, 1000,
              "Rounds by which an update may be late (uplink.late = \"carry\"); one more than this "
              "many models are kept",
              .unit = "rounds"),
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
    .name = "fedasync",
    .version = "1.0.0",
    .summary = "Asynchronous optimization: each update is mixed in as it arrives, late ones with "
               "less weight",
    .cite = "Xie, Koyejo, Gupta: Asynchronous Federated Optimization, arXiv:1903.03934, 2019",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
