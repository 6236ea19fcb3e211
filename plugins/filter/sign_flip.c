/* sign_flip.c - attackers send their update with its sign flipped. */
#include "shared/chosen.h"

struct settings {
    double share;
    double strength;
};

static const osafl_param params[] = {
    CHOSEN_SHARE_PARAM(struct settings),
    OSAFL_REAL(struct settings, strength, 1.0, 0.0, DBL_MAX,
               "Factor s: the update x becomes -s * x"),
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const struct settings *s = config;
    return chosen_create(h, c, facts, config, s->share, self);
}

static osafl_status update(void *self, osafl_call *c, uint32_t client, uint32_t round,
                           const float *w, float *x)
{
    (void)c;
    (void)client;
    (void)round;
    (void)w;
    const struct chosen *f = self;
    const struct settings *s = f->config;
    chosen_scale(f, -s->strength, x);
    return OSAFL_OK;
}

static const osafl_filter_vt vtable = {
    .life = {.struct_size = sizeof(osafl_filter_vt), .create = create, .destroy = free},
    .touches = chosen_touches,
    .update = update,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_FILTER,
    .name = "sign_flip",
    .version = "1.0.0",
    .summary = "Attack: updates with their sign flipped",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct settings),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
