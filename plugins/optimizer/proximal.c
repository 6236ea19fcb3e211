/* proximal.c - SGD with FedProx's proximal term (Li et al. 2020; ALGORITHMS.md 3).
 *
 * The client minimizes its loss plus mu/2 ||w - w^t||^2, so w <- w - rate * (grad + mu (w - w^t)).
 */
#include "osafl/optimizer.h"
#include "schedule/scheduled_optimizer.h"

struct config {
    struct learning_rate_config rate;
    double mu;
};
_Static_assert(offsetof(struct config, rate) == 0, "LEARNING_RATE_PARAMS binds to the start");

static osafl_status describe(void *self, osafl_call *c, osafl_optimizer_info *out)
{
    (void)self;
    (void)c;
    (void)out; /* not plain, and without vectors of its own */
    return OSAFL_OK;
}

static osafl_status step(void *self, osafl_call *c, const osafl_local *l, float *w, float *grad)
{
    (void)c;
    const struct scheduled_optimizer *s = self;
    const struct config *config = s->config;
    const float rate = (float)l->rate;
    const float mu = (float)config->mu;
    const float *w_start = l->w_start;
    for (uint64_t i = 0; i < l->dim; i++)
        w[i] -= rate * (grad[i] + mu * (w[i] - w_start[i]));
    return OSAFL_OK;
}

static const osafl_param params[] = {
    LEARNING_RATE_PARAMS,
    OSAFL_REAL(struct config, mu, 0.01, 0, 1e6,
               "Weight of the proximal term, which pulls a client back to the global model"),
};

static const osafl_optimizer_vt vtable = {
    .life = {.struct_size = sizeof(osafl_optimizer_vt),
             .create = scheduled_create,
             .destroy = free},
    .describe = describe,
    .rate = scheduled_rate,
    .step = step,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_OPTIMIZER,
    .name = "proximal",
    .version = "1.0.0",
    .summary = "SGD with a proximal term toward the global model",
    .cite = "Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith: Federated Optimization in Heterogeneous "
            "Networks, MLSys 2020",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
