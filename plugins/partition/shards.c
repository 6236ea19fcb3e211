/* shards.c - every client sees a few labels, equally. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "osafl/partition.h"
#include "osafl/random.h"
#include "shared/labels.h"

struct settings {
    int64_t labels;
};

static const osafl_param params[] = {
    OSAFL_INT(struct settings, labels, 2, 1, INT32_MAX, "Labels of a client", .unit = "labels"),
};

struct shards {
    const osafl_host *host;
    const double *share;
    uint32_t labels;       /* of the data set */
    uint32_t with_samples; /* of them */
    uint32_t per_client;
};

static osafl_status mix_of(void *self, osafl_call *c, uint32_t client, uint32_t draw, double *mix);

/* A run whose clients never meet a label that is tested for is easily taken for a bad one. */
static osafl_status tell_of_unseen(struct shards *p, osafl_call *c, uint32_t clients)
{
    double *mix = p->host->scratch(c, p->labels * sizeof *mix);
    double *seen = p->host->scratch(c, p->labels * sizeof *seen);
    char text[256] = "";
    if (mix == NULL || seen == NULL)
        return OSAFL_E_NOMEM;
    for (uint32_t u = 0; u < clients; u++) {
        OSAFL_TRY(mix_of(p, c, u, 0, mix));
        for (uint32_t l = 0; l < p->labels; l++)
            seen[l] += mix[l];
    }
    for (uint32_t l = 0; l < p->labels; l++) {
        const size_t used = strlen(text);
        if (p->share[l] <= 0.0 || seen[l] > 0.0)
            continue;
        (void)snprintf(text + used, sizeof text - used, "%s%u", used > 0 ? ", " : "", l);
    }
    if (text[0] != '\0')
        p->host->log(c, OSAFL_LOG_WARN,
                     "nobody holds these labels: %s; more clients, or a larger "
                     "partition.shards.labels, would bring them in",
                     text);
    return OSAFL_OK;
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const struct settings *settings = config;
    const uint32_t with_samples = labels_with_samples(facts);
    OSAFL_TRY(labels_required(h, c, facts));
    if (settings->labels > with_samples)
        return h->fail(c, OSAFL_E_CONFIG,
                       "partition.shards.labels is %lld, but %u labels have training samples; "
                       "choose 1 .. %u",
                       (long long)settings->labels, with_samples, with_samples);
    struct shards *p = malloc(sizeof *p);
    if (p == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *p = (struct shards){.host = h,
                         .share = facts->label_share,
                         .labels = facts->dataset->labels,
                         .with_samples = with_samples,
                         .per_client = (uint32_t)settings->labels};
    const osafl_status status = tell_of_unseen(p, c, facts->clients);
    if (status != OSAFL_OK) {
        free(p);
        return status;
    }
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

/* Selection sampling (Knuth, TAOCP 3.4.2, algorithm S): exactly so many of the labels that have
 * samples. */
static osafl_status mix_of(void *self, osafl_call *c, uint32_t client, uint32_t draw, double *mix)
{
    const struct shards *p = self;
    uint32_t candidates = p->with_samples;
    uint32_t wanted = p->per_client;
    for (uint32_t l = 0; l < p->labels; l++) {
        mix[l] = 0.0;
        if (p->share[l] <= 0.0)
            continue;
        uint32_t word[2];
        p->host->random_fill(c, 0, client, draw, l, word, 2);
        if (osafl_below(word, candidates) < wanted) {
            mix[l] = 1.0 / p->per_client;
            wanted--;
        }
        candidates--;
    }
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
    .name = "shards",
    .version = "1.0.0",
    .summary = "Gives every client a few labels, chosen at random, in equal parts",
    .cite = "McMahan et al., Communication-Efficient Learning of Deep Networks, AISTATS 2017",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct settings),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
