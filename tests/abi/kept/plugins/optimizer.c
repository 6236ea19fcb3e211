/* kept.c - an optimizer: how does a client step from its gradient?
 *
 * As generated it is SGD whose gradient is shortened to a largest norm:
 *
 *     w <- w - learning_rate * grad * min(1, max_norm / ||grad||)
 *
 * To make it yours, change step(); osafl/optimizer.h tells what a client can keep over steps and
 * rounds, how it can exchange further vectors with the aggregator, and how it has a model of its
 * own (start(), leave(), personal()). */
#include <math.h>
#include <stdlib.h>

#include <osafl/optimizer.h>

/* The settings, and the table from which the program reads, checks and explains them. */
struct config {
    double learning_rate;
    double max_norm;
};

static const osafl_param params[] = {
    OSAFL_REAL(struct config, learning_rate, 0.05, 0.0, 100.0, "Learning rate of every round",
               .flags = OSAFL_P_LO_OPEN),
    OSAFL_REAL(struct config, max_norm, 5.0, 0.0, 1e6,
               "Norm to which a longer gradient is shortened", .flags = OSAFL_P_LO_OPEN),
};

/* One instance.  step() runs on several threads at once, so that nothing here changes in it. */
struct optimizer {
    const struct config *config;
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)facts; /* number of clients and rounds, the data set, the model: osafl/plugin.h */
    struct optimizer *optimizer = malloc(sizeof *optimizer);
    if (optimizer == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    optimizer->config = config;
    *self = optimizer;
    return OSAFL_OK;
}

static void destroy(void *self)
{
    free(self);
}

/* What it keeps of its own: nothing.  All members are 0 before. */
static osafl_status describe(void *self, osafl_call *c, osafl_optimizer_info *out)
{
    (void)self;
    (void)c;
    out->is_plain = 0; /* 1: a step is w <- w - rate * grad and nothing else */
    return OSAFL_OK;
}

static osafl_status rate(void *self, osafl_call *c, uint32_t round, double *rate_out)
{
    (void)c;
    (void)round;
    const struct optimizer *optimizer = self;
    *rate_out = optimizer->config->learning_rate;
    return OSAFL_OK;
}

/* w[0..dim) is the client's model; grad may be overwritten. */
static osafl_status step(void *self, osafl_call *c, const osafl_local *l, float *w, float *grad)
{
    (void)c;
    const struct optimizer *optimizer = self;
    double norm2 = 0.0;
    for (uint64_t i = 0; i < l->dim; i++)
        norm2 += (double)grad[i] * (double)grad[i];
    const double norm = sqrt(norm2);
    const double longest = optimizer->config->max_norm;
    const double scale = l->rate * (norm > longest ? longest / norm : 1.0);
    for (uint64_t i = 0; i < l->dim; i++)
        w[i] = (float)((double)w[i] - scale * (double)grad[i]);
    return OSAFL_OK;
}

static const osafl_optimizer_vt vtable = {
    .life = {.struct_size = sizeof(osafl_optimizer_vt), .create = create, .destroy = destroy},
    .describe = describe,
    .rate = rate,
    .step = step,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_OPTIMIZER,
    .name = "kept",
    .version = "0.1.0",
    .summary = "SGD with gradients of bounded norm",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
