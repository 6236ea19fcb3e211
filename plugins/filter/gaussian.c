/* gaussian.c - clips a client's update to a norm and adds Gaussian noise, so that what it sends is
 * differentially private.
 *
 * McMahan, Ramage, Talwar and Zhang, ICLR 2018 (arXiv:1710.06963), with the noise added by each
 * client.  x <- x * min(1, clip / ||x||) + N(0, (noise * clip)^2).  An update is there or is not
 * (add or remove): the sensitivity is clip.  The metric epsilon is for a client that takes part in
 * every round, against a server that sees its updates; shared/accountant.h. */
#include <float.h>
#include <stdlib.h>

#include "osafl/filter.h"
#include "osafl/random.h"
#include "shared/accountant.h"
#include "shared/norm.h"

/* Noise is drawn for this many coordinates at a time. */
#define TILE 256

struct settings {
    double clip;
    double noise;
    double delta;
    double sampling;
};

static const osafl_param params[] = {
    OSAFL_REAL(struct settings, clip, 1.0, 0.0, DBL_MAX, "Norm to which updates are clipped",
               .flags = OSAFL_P_LO_OPEN),
    OSAFL_REAL(struct settings, noise, 1.0, 0.0, DBL_MAX,
               "Noise multiplier z: the standard deviation of each coordinate is z * clip; 0: only "
               "clip"),
    OSAFL_REAL(struct settings, delta, 1e-5, 0.0, 1.0, "The delta for which epsilon is given",
               .flags = OSAFL_P_LO_OPEN | OSAFL_P_HI_OPEN),
    OSAFL_REAL(struct settings, sampling, 1.0, 0.0, 1.0,
               "Rate q at which a client takes part in a round, where each does so independently "
               "(Poisson sampling) and the server does not learn who; 1: nothing is gained by "
               "sampling",
               .flags = OSAFL_P_LO_OPEN),
};

static const osafl_metric metrics[] = {
    {"epsilon", NULL, "Privacy cost of the updates so far", OSAFL_PER_ROUND, OSAFL_LOWER},
};

struct gaussian {
    const osafl_host *host;
    const struct settings *settings;
    uint64_t dim;
    uint64_t releases; /* rounds in which updates arrived */
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    struct gaussian *g = calloc(1, sizeof *g);
    if (g == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *g = (struct gaussian){.host = h, .settings = config, .dim = facts->dim};
    *self = g;
    return OSAFL_OK;
}

static osafl_status update(void *self, osafl_call *c, uint32_t client, uint32_t round,
                           const float *w, float *x)
{
    (void)w;
    const struct gaussian *g = self;
    const double norm = sqrt(norm_squared(x, g->dim));
    const double factor = norm > g->settings->clip ? g->settings->clip / norm : 1.0;
    const double sigma = g->settings->noise * g->settings->clip;
    for (uint64_t begin = 0; begin < g->dim; begin += TILE) {
        uint32_t word[4 * TILE];
        const uint64_t n = g->dim - begin < TILE ? g->dim - begin : TILE;
        g->host->random_fill(c, 0, client, round, begin / TILE, word, 4 * n);
        for (uint64_t i = 0; i < n; i++) {
            const double noise = sigma > 0.0 ? sigma * osafl_normal(&word[4 * i]) : 0.0;
            x[begin + i] = (float)(factor * (double)x[begin + i] + noise);
        }
    }
    return OSAFL_OK;
}

static osafl_status end_round(void *self, osafl_call *c, uint32_t round, uint32_t n, uint32_t asked)
{
    (void)round;
    (void)asked;
    struct gaussian *g = self;
    const struct settings *s = g->settings;
    g->releases += n > 0;
    if (s->noise > 0.0)
        g->host->metric(c, 0, OSAFL_NO_CLIENT,
                        accountant_epsilon(s->noise, s->sampling, g->releases, s->delta));
    return OSAFL_OK;
}

static osafl_status save(void *self, osafl_call *c, osafl_writer *w)
{
    (void)c;
    const struct gaussian *g = self;
    return w->u64(w, "releases", &g->releases, 1);
}

static osafl_status load(void *self, osafl_call *c, osafl_reader *r)
{
    (void)c;
    struct gaussian *g = self;
    return r->u64(r, "releases", &g->releases, 1);
}

static const char *const features[] = {"private", NULL};

static const osafl_filter_vt vtable = {
    .life = {.struct_size = sizeof(osafl_filter_vt),
             .state_version = 1,
             .create = create,
             .destroy = free,
             .save = save,
             .load = load},
    .update = update,
    .end_round = end_round,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_FILTER,
    .name = "gaussian",
    .version = "1.0.0",
    .summary = "Clips updates to a norm and adds Gaussian noise; reports the privacy budget",
    .cite = "McMahan et al., ICLR 2018; Mironov, CSF 2017; Mironov, Talwar and Zhang 2019",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct settings),
    OSAFL_PLUGIN_METRICS(metrics),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
