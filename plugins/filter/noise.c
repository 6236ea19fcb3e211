/* noise.c - attackers send Gaussian noise instead of their update. */
#include "shared/chosen.h"
#include "shared/norm.h"

struct settings {
    double share;
    double strength;
};

static const osafl_param params[] = {
    CHOSEN_SHARE_PARAM(struct settings),
    OSAFL_REAL(
        struct settings, strength, 1.0, 0.0, DBL_MAX,
        "Norm of the noise relative to the update's: its expected square is (strength * ||x||)^2"),
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const struct settings *s = config;
    return chosen_create(h, c, facts, config, s->share, self);
}

/* Noise is drawn for this many coordinates at a time. */
#define TILE 256

static osafl_status update(void *self, osafl_call *c, uint32_t client, uint32_t round,
                           const float *w, float *x)
{
    (void)w;
    const struct chosen *f = self;
    const struct settings *s = f->config;
    const double sigma = s->strength * sqrt(norm_squared(x, f->dim) / (double)f->dim);
    for (uint64_t begin = 0; begin < f->dim; begin += TILE) {
        uint32_t word[4 * TILE];
        const uint64_t n = f->dim - begin < TILE ? f->dim - begin : TILE;
        f->host->random_fill(c, 0, client, round, begin / TILE, word, 4 * n);
        for (uint64_t i = 0; i < n; i++)
            x[begin + i] = (float)(sigma * osafl_normal(&word[4 * i]));
    }
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
    .name = "noise",
    .version = "1.0.0",
    .summary = "Attack: Gaussian noise instead of updates",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct settings),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
