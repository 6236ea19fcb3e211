/* kept.c - a partition: which labels does a client see?
 *
 * As generated every client has one main label, chosen at random, and the rest of its samples are
 * mixed as the training split is.
 *
 * To make it yours, change mix_of(); osafl/partition.h tells more. */
#include <stdlib.h>

#include <osafl/partition.h>
#include <osafl/random.h>

/* The settings, and the table from which the program reads, checks and explains them. */
struct config {
    double main_share;
};

static const osafl_param params[] = {
    OSAFL_REAL(struct config, main_share, 0.8, 0.0, 1.0,
               "Share of a client's samples that have its main label"),
};

struct partition {
    const struct config *config;
    const double *share; /* mix of the training split */
    uint32_t labels;
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    struct partition *partition = malloc(sizeof *partition);
    if (partition == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *partition = (struct partition){
        .config = config, .share = facts->label_share, .labels = facts->dataset->labels};
    *self = partition;
    return OSAFL_OK;
}

static void destroy(void *self)
{
    free(self);
}

static osafl_status describe(void *self, osafl_call *c, osafl_partition_info *out)
{
    (void)self;
    (void)c;
    out->gives = OSAFL_PARTITION_MIX;
    return OSAFL_OK;
}

/* mix[l]: probability of label l, the draw-th mix of a client.  A label without samples keeps
 * probability 0: the main label is drawn in proportion to the shares. */
static osafl_status mix_of(void *self, osafl_call *c, uint32_t client, uint32_t draw, double *mix)
{
    const struct partition *partition = self;
    uint32_t word[2];
    c->host->random_fill(c, 0, client, draw, 0, word, 2);
    double left = osafl_uniform(word);
    uint32_t main_label = 0;
    for (uint32_t l = 0; l < partition->labels; l++) {
        if (partition->share[l] == 0.0)
            continue;
        main_label = l;
        if (left < partition->share[l])
            break;
        left -= partition->share[l];
    }
    for (uint32_t l = 0; l < partition->labels; l++)
        mix[l] = (1.0 - partition->config->main_share) * partition->share[l];
    mix[main_label] += partition->config->main_share;
    return OSAFL_OK;
}

static const osafl_partition_vt vtable = {
    .life = {.struct_size = sizeof(osafl_partition_vt), .create = create, .destroy = destroy},
    .describe = describe,
    .mix = mix_of,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_PARTITION,
    .name = "kept",
    .version = "0.1.0",
    .summary = "One main label for each client",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
