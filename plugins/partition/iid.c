/* iid.c - every client's mix is that of the training split. */
#include <stdlib.h>
#include <string.h>

#include "osafl/partition.h"

struct iid {
    const double *share;
    uint32_t labels;
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)config;
    struct iid *p = malloc(sizeof *p);
    if (p == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *p = (struct iid){.share = facts->label_share, .labels = facts->dataset->labels};
    *self = p;
    return OSAFL_OK;
}

static osafl_status describe(void *self, osafl_call *c, osafl_partition_info *out)
{
    (void)self;
    (void)c;
    out->gives = OSAFL_PARTITION_MIX;
    return OSAFL_OK;
}

static osafl_status mix_of(void *self, osafl_call *c, uint32_t client, uint32_t draw, double *mix)
{
    (void)c;
    (void)client;
    (void)draw;
    const struct iid *p = self;
    memcpy(mix, p->share, p->labels * sizeof *mix);
    return OSAFL_OK;
}

static const osafl_partition_vt vtable = {
    .life = {.struct_size = sizeof(osafl_partition_vt), .create = create, .destroy = free},
    .describe = describe,
    .mix = mix_of,
};

static const char *const features[] = {"concurrent", NULL};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_PARTITION,
    .name = "iid",
    .version = "1.0.0",
    .summary = "Gives every client the label mix of the training split",
    .license = "MIT",
    .features = features,
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
