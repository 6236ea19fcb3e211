/* scaffold.c - SGD corrected by control variates, the client's side (Karimireddy et al. 2020;
 * ALGORITHMS.md 6).
 *
 * Step: y <- y - rate * (grad - c_u + c), with the server's variate c and the client's own c_u.
 * New variate: option I   c_u+ = gradient at w over the whole store
 *              option II  c_u+ = c_u - c + (w - y) / (K rate) after K steps
 * The change c_u+ - c_u goes up in slot 1, and the client applies it as the server received it, so
 * that quantization cannot part the two sides. */
#include "osafl/optimizer.h"
#include "schedule/scheduled_optimizer.h"

enum { OPTION_GRADIENT, OPTION_PATH };
static const char *const option_choices[] = {"gradient", "path", NULL};

struct config {
    struct learning_rate_config rate;
    osafl_choice option;
};
_Static_assert(offsetof(struct config, rate) == 0, "LEARNING_RATE_PARAMS binds to the start");

static osafl_status describe(void *self, osafl_call *c, osafl_optimizer_info *out)
{
    (void)c;
    const struct scheduled_optimizer *s = self;
    out->client_floats = s->dim;    /* c_u */
    out->broadcast_floats = s->dim; /* c */
    out->uplink_vectors = 1;        /* c_u+ - c_u */
    return OSAFL_OK;
}

static osafl_status step(void *self, osafl_call *c, const osafl_local *l, float *w, float *grad)
{
    (void)self;
    (void)c;
    const float rate = (float)l->rate;
    const float *server = l->broadcast;
    const float *own = l->client_state;
    for (uint64_t i = 0; i < l->dim; i++)
        w[i] -= rate * (grad[i] - own[i] + server[i]);
    return OSAFL_OK;
}

static osafl_status finish(void *self, osafl_call *c, const osafl_local *l, const float *w)
{
    const struct scheduled_optimizer *s = self;
    const struct config *config = s->config;
    const float *server = l->broadcast;
    const float *own = l->client_state;
    float *change = l->uplink[0];

    if (config->option.index == OPTION_GRADIENT) {
        OSAFL_TRY(l->store_gradient(l, c, l->w_start, change));
        for (uint64_t i = 0; i < l->dim; i++)
            change[i] -= own[i];
        return OSAFL_OK;
    }
    const double path = 1.0 / ((double)l->step * l->rate);
    for (uint64_t i = 0; i < l->dim; i++) {
        const double moved = (double)l->w_start[i] - (double)w[i];
        change[i] = (float)(moved * path - (double)server[i]);
    }
    return OSAFL_OK;
}

static osafl_status received(void *self, osafl_call *c, const osafl_local *l, const float *update,
                             const float *const *uplink)
{
    (void)self;
    (void)c;
    (void)update;
    float *own = l->client_state;
    for (uint64_t i = 0; i < l->dim; i++)
        own[i] += uplink[0][i];
    return OSAFL_OK;
}

static const osafl_param params[] = {
    LEARNING_RATE_PARAMS,
    OSAFL_CHOICE(struct config, option, OPTION_PATH, option_choices,
                 "New variate of a client: the gradient of its whole store at the global model "
                 "(SCAFFOLD's option I), or the mean gradient along its path (option II)"),
};

static const osafl_optimizer_vt vtable = {
    .life = {.struct_size = sizeof(osafl_optimizer_vt),
             .create = scheduled_create,
             .destroy = free},
    .describe = describe,
    .rate = scheduled_rate,
    .step = step,
    .finish = finish,
    .received = received,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_OPTIMIZER,
    .name = "scaffold",
    .version = "1.0.0",
    .summary = "SGD corrected by the control variates of client and server",
    .cite = "Karimireddy, Kale, Mohri, Reddi, Stich, Suresh: SCAFFOLD: Stochastic Controlled "
            "Averaging for Federated Learning, ICML 2020",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
