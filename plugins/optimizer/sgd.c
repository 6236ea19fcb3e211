/* sgd.c - stochastic gradient descent with momentum and weight decay.
 *
 * v <- momentum * v + (grad + weight_decay * w);  w <- w - rate * v.  Momentum starts at zero in
 * every client's round: a client keeps nothing from one round to the next. */
#include "osafl/optimizer.h"
#include "schedule/scheduled_optimizer.h"

struct config {
    struct learning_rate_config rate;
    double momentum;
    double weight_decay;
};
_Static_assert(offsetof(struct config, rate) == 0, "LEARNING_RATE_PARAMS binds to the start");

static osafl_status describe(void *self, osafl_call *c, osafl_optimizer_info *out)
{
    (void)c;
    const struct scheduled_optimizer *s = self;
    const struct config *config = s->config;
    out->is_plain = config->momentum == 0.0 && config->weight_decay == 0.0;
    out->round_floats = config->momentum != 0.0 ? s->dim : 0;
    return OSAFL_OK;
}

static osafl_status step(void *self, osafl_call *c, const osafl_local *l, float *w, float *grad)
{
    (void)c;
    const struct scheduled_optimizer *s = self;
    const struct config *config = s->config;
    const float rate = (float)l->rate;
    const float decay = (float)config->weight_decay;
    const float momentum = (float)config->momentum;

    if (decay != 0.0f) {
        for (uint64_t i = 0; i < l->dim; i++)
            grad[i] += decay * w[i];
    }
    if (momentum != 0.0f) {
        float *velocity = l->round_state;
        for (uint64_t i = 0; i < l->dim; i++) {
            velocity[i] = momentum * velocity[i] + grad[i];
            w[i] -= rate * velocity[i];
        }
    } else {
        for (uint64_t i = 0; i < l->dim; i++)
            w[i] -= rate * grad[i];
    }
    return OSAFL_OK;
}

static const osafl_param params[] = {
    LEARNING_RATE_PARAMS,
    OSAFL_REAL(struct config, momentum, 0, 0, 1,
               "Momentum within a client's round; 0 trains with plain SGD, as the paper does",
               .flags = OSAFL_P_HI_OPEN),
    OSAFL_REAL(struct config, weight_decay, 0, 0, 1,
               "L2 penalty: this times the parameters is added to the gradient"),
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
    .name = "sgd",
    .version = "1.0.0",
    .summary = "Stochastic gradient descent, with momentum, weight decay and schedules",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
