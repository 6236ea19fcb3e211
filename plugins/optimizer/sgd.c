/* sgd.c - stochastic gradient descent with momentum and weight decay.
 *
 * v <- momentum * v + (grad + weight_decay * w);  w <- w - rate * v.  Momentum starts at zero in
 * every client's round: a client keeps nothing from one round to the next. */
#include <stdlib.h>

#include "osafl/optimizer.h"
#include "schedule/learning_rate.h"

struct config {
    struct learning_rate_config rate;
    double momentum;
    double weight_decay;
};
_Static_assert(offsetof(struct config, rate) == 0, "LEARNING_RATE_PARAMS binds to the start");

struct sgd {
    const struct config *config;
    uint32_t rounds;
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const struct config *settings = config;
    OSAFL_TRY(learning_rate_check(h, c, &settings->rate, facts->rounds));
    struct sgd *s = calloc(1, sizeof *s);
    if (s == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    s->config = settings;
    s->rounds = facts->rounds;
    *self = s;
    return OSAFL_OK;
}

static bool is_plain(const struct sgd *s)
{
    return s->config->momentum == 0.0 && s->config->weight_decay == 0.0;
}

static osafl_status describe(void *self, osafl_call *c, osafl_optimizer_info *out)
{
    (void)c;
    const struct sgd *s = self;
    out->is_plain = is_plain(s);
    out->round_vectors = s->config->momentum != 0.0;
    return OSAFL_OK;
}

static double rate(void *self, uint32_t round)
{
    const struct sgd *s = self;
    return learning_rate_of_round(&s->config->rate, s->rounds, round);
}

static osafl_status step(void *self, osafl_call *c, const osafl_local *l, float *w, float *grad)
{
    (void)c;
    const struct sgd *s = self;
    const float rate_now = (float)l->rate;
    const float decay = (float)s->config->weight_decay;
    const float momentum = (float)s->config->momentum;

    if (decay != 0.0f) {
        for (uint64_t i = 0; i < l->dim; i++)
            grad[i] += decay * w[i];
    }
    if (momentum != 0.0f) {
        float *velocity = l->round_vector[0];
        for (uint64_t i = 0; i < l->dim; i++) {
            velocity[i] = momentum * velocity[i] + grad[i];
            w[i] -= rate_now * velocity[i];
        }
    } else {
        for (uint64_t i = 0; i < l->dim; i++)
            w[i] -= rate_now * grad[i];
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
    .life = {.struct_size = sizeof(osafl_optimizer_vt), .create = create, .destroy = free},
    .describe = describe,
    .rate = rate,
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

const osafl_plugin *osafl_plugin_entry_v0(void)
{
    return &plugin;
}
