/* topk.c - deletes from the K labels of which a client stores most (ALGORITHMS.md 7).
 *
 * The paper's clients hold far more of a few labels than of others; taking what leaves from those
 * labels flattens the store while new samples come in. */
#include "osafl/deletion.h"
#include "selection/leaving.h"

struct config {
    int64_t classes;
    osafl_choice which;
};

enum { STREAM_CHOICE = 1 };

struct ranked {
    uint32_t label;
    uint32_t count;
    uint64_t remainder; /* of the proportional share, over the sum of the K counts */
};

static int larger_count_first(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->label < y->label ? -1 : x->label > y->label;
}

/* Gives each of the first k ranked labels its share of n, in proportion to its count, by largest
 * remainder; ties go to the label that ranks first.  All in integers.  n < the sum of the counts,
 * so no share exceeds its count. */
static void share_by_largest_remainder(struct ranked *rank, uint32_t k, uint64_t total, uint32_t n,
                                       uint32_t *take)
{
    uint32_t given = 0;
    for (uint32_t i = 0; i < k; i++) {
        const uint64_t product = (uint64_t)n * rank[i].count;
        take[rank[i].label] = (uint32_t)(product / total);
        rank[i].remainder = product % total;
        given += take[rank[i].label];
    }
    for (; given < n; given++) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < k; i++) {
            if (rank[i].remainder > rank[best].remainder)
                best = i;
        }
        take[rank[best].label]++;
        rank[best].remainder = 0;
    }
}

/* take[l]: how many of the n samples that leave have label l.  n <= stored. */
static void plan(struct ranked *rank, uint32_t labels, uint32_t k, uint32_t n, uint32_t *take)
{
    qsort(rank, labels, sizeof rank[0], larger_count_first);
    uint64_t total = 0;
    for (uint32_t i = 0; i < k; i++)
        total += rank[i].count;
    if (n < total) {
        share_by_largest_remainder(rank, k, total, n, take);
        return;
    }
    /* The K labels give all they have, the following ones the rest, in rank order. */
    uint32_t left = n;
    for (uint32_t i = 0; i < labels && left > 0; i++) {
        const uint32_t part = rank[i].count < left ? rank[i].count : left;
        take[rank[i].label] = part;
        left -= part;
    }
}

static osafl_status select_samples(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                                   uint32_t *position)
{
    const struct selection_policy *p = self;
    const struct config *config = p->config;
    OSAFL_TRY(selection_check(p->host, c, v, n));

    uint32_t *count = p->host->scratch(c, (uint64_t)v->labels * sizeof *count);
    uint32_t *take = p->host->scratch(c, (uint64_t)v->labels * sizeof *take);
    struct ranked *rank = p->host->scratch(c, (uint64_t)v->labels * sizeof *rank);
    if (count == NULL || take == NULL || rank == NULL)
        return OSAFL_E_NOMEM;
    selection_count(v, count);
    for (uint32_t l = 0; l < v->labels; l++)
        rank[l] = (struct ranked){.label = l, .count = count[l]};

    const uint32_t k = config->classes < v->labels ? (uint32_t)config->classes : v->labels;
    plan(rank, v->labels, k, n, take);
    return selection_by_label(p->host, c, v, take, config->which.index, STREAM_CHOICE, position);
}

static const osafl_param params[] = {
    OSAFL_INT(struct config, classes, 3, 1, INT32_MAX,
              "K, the number of most frequent labels that samples leave from; more than there are "
              "labels means all",
              .unit = "labels"),
    OSAFL_CHOICE(struct config, which, WHICH_RANDOM, selection_which,
                 "Which samples of a label leave"),
};

static const osafl_deletion_vt vtable = {
    .life = {.struct_size = sizeof(osafl_deletion_vt),
             .create = selection_create_by_label,
             .destroy = free},
    .select = select_samples,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_DELETION,
    .name = "topk",
    .version = "1.0.0",
    .summary = "Deletes from the K most frequent labels of a store, in proportion to their counts",
    .cite = "Pervej, Choi, Molisch: Online-Score-Aided Federated Learning for "
            "Resource-Constrained Wireless Clients with Continual Data Arrival",
    .license = "MIT",
    .features = selection_features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
