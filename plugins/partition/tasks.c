/* tasks.c - labels come one group after the other: class-incremental learning.
 *
 * All clients have the labels of task k as draw k, in equal parts, so that a drift that moves on
 * from draw to draw (incremental, recurrent) moves on from task to task.  After the last task the
 * first one follows. */
#include <stdlib.h>

#include "osafl/partition.h"
#include "osafl/random.h"
#include "shared/labels.h"

enum { ORDER_ASCENDING, ORDER_SHUFFLED };
static const char *const orders[] = {"ascending", "shuffled", NULL};

struct settings {
    int64_t labels;
    osafl_choice order;
    bool keep;
};

static const osafl_param params[] = {
    OSAFL_INT(struct settings, labels, 2, 1, INT32_MAX,
              "Labels that a task brings; the last one brings what is left", .unit = "labels"),
    OSAFL_CHOICE(struct settings, order, ORDER_ASCENDING, orders,
                 "Order in which labels come: by number, or at random, the same for all clients"),
    OSAFL_BOOL(struct settings, keep, false,
               "Whether the labels of earlier tasks keep coming beside the new ones"),
};

struct tasks {
    uint32_t *order; /* [n]: labels that have samples */
    uint32_t n;
    uint32_t labels; /* of the data set */
    uint32_t per_task;
    bool keep;
};

/* Fisher-Yates, from the end; step k takes words of index k. */
static void shuffle(const osafl_host *h, osafl_call *c, struct tasks *t)
{
    for (uint32_t left = t->n; left > 1; left--) {
        uint32_t word[2];
        h->random_fill(c, 0, 0, 0, t->n - left, word, 2);
        const uint32_t chosen = osafl_below(word, left);
        const uint32_t last = t->order[left - 1];
        t->order[left - 1] = t->order[chosen];
        t->order[chosen] = last;
    }
}

static void destroy(void *self)
{
    struct tasks *t = self;
    free(t->order);
    free(t);
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const struct settings *settings = config;
    const uint32_t labels = facts->dataset->labels;
    OSAFL_TRY(labels_required(h, c, facts));
    struct tasks *t = calloc(1, sizeof *t);
    if (t == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *t = (struct tasks){
        .order = calloc(labels, sizeof *t->order), .labels = labels, .keep = settings->keep};
    if (t->order == NULL) {
        destroy(t);
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    }
    for (uint32_t l = 0; l < labels; l++) {
        if (facts->label_share[l] > 0.0)
            t->order[t->n++] = l;
    }
    if (settings->labels > t->n) {
        const uint32_t n = t->n;
        destroy(t);
        return h->fail(c, OSAFL_E_CONFIG,
                       "partition.tasks.labels is %lld, but %u label%s training samples; choose "
                       "1 .. %u",
                       (long long)settings->labels, n, n == 1 ? " has" : "s have", n);
    }
    t->per_task = (uint32_t)settings->labels;
    if (settings->order.index == ORDER_SHUFFLED)
        shuffle(h, c, t);
    *self = t;
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
    const struct tasks *t = self;
    const uint32_t tasks = (t->n - 1) / t->per_task + 1;
    const uint32_t task = draw % tasks;
    const uint32_t begin = t->keep ? 0 : task * t->per_task;
    const uint32_t end = task + 1 < tasks ? (task + 1) * t->per_task : t->n;
    for (uint32_t l = 0; l < t->labels; l++)
        mix[l] = 0.0;
    for (uint32_t k = begin; k < end; k++)
        mix[t->order[k]] = 1.0 / (end - begin);
    return OSAFL_OK;
}

static const osafl_partition_vt vtable = {
    .life = {.struct_size = sizeof(osafl_partition_vt), .create = create, .destroy = destroy},
    .describe = describe,
    .mix = mix_of,
};

static const char *const features[] = {"concurrent", NULL};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_PARTITION,
    .name = "tasks",
    .version = "1.0.0",
    .summary = "Brings the labels in groups, one after the other: class-incremental streams, with "
               "a drift that moves on",
    .cite = "Rebuffi et al., iCaRL: Incremental Classifier and Representation Learning, CVPR 2017",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct settings),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
