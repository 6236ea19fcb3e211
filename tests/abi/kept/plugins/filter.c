/* kept.c - a filter: what does a client do to its update before it is coded?
 *
 * As generated the norm of an update is clipped.
 *
 * To make it yours, change clip(), or add labels(); osafl/filter.h tells more. */
#include <math.h>
#include <stdlib.h>

#include <osafl/filter.h>

/* The settings, and the table from which the program reads, checks and explains them. */
struct config {
    double norm;
};

static const osafl_param params[] = {
    OSAFL_REAL(struct config, norm, 10.0, 0.0, 1e300, "Greatest norm of an update",
               .flags = OSAFL_P_LO_OPEN),
};

struct filter {
    const struct config *config;
    uint64_t dim; /* elements of an update */
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    struct filter *filter = malloc(sizeof *filter);
    if (filter == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *filter = (struct filter){.config = config, .dim = facts->dim};
    *self = filter;
    return OSAFL_OK;
}

static void destroy(void *self)
{
    free(self);
}

/* Called by several threads at once, each with another client: the instance is only read. */
static osafl_status clip(void *self, osafl_call *c, uint32_t client, uint32_t round, const float *w,
                         float *update)
{
    (void)c;
    (void)client;
    (void)round;
    (void)w;
    const struct filter *filter = self;
    double square = 0.0;
    for (uint64_t i = 0; i < filter->dim; i++)
        square += (double)update[i] * (double)update[i];
    if (sqrt(square) <= filter->config->norm)
        return OSAFL_OK;
    const double factor = filter->config->norm / sqrt(square);
    for (uint64_t i = 0; i < filter->dim; i++)
        update[i] = (float)(factor * (double)update[i]);
    return OSAFL_OK;
}

static const osafl_filter_vt vtable = {
    .life = {.struct_size = sizeof(osafl_filter_vt), .create = create, .destroy = destroy},
    .update = clip,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_FILTER,
    .name = "kept",
    .version = "0.1.0",
    .summary = "Clips the norm of every update",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
