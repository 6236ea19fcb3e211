/* afa_cs.c - anarchic federated averaging, cross-silo: the mean over every client ever heard of, by
 * the latest update of each (Yang et al. 2022; ALGORITHMS.md 6).
 *
 * w <- w - eta_gl (1 / seen) sum over seen clients of their latest Q_u.  Updates of earlier rounds
 * stay with the host in the code in which they arrived. */
#include <stdlib.h>

#include "osafl/aggregator.h"

struct config {
    double global_learning_rate;
};

struct afa {
    const osafl_host *host;
    const struct config *config;
    uint32_t clients;
    uint64_t *kept; /* [clients]: id of the latest update; 0: none yet */
};

static osafl_status describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    (void)self;
    (void)c;
    out->sends = OSAFL_SENDS_PER_ROUND;
    out->optimizer = "sgd";
    return OSAFL_OK;
}

/* Puts the round's updates in the place of older ones of the same clients. */
static osafl_status keep_latest(struct afa *a, const osafl_updates *u)
{
    for (uint32_t k = 0; k < u->n; k++) {
        uint64_t *kept = &a->kept[u->client[k]];
        if (*kept != 0)
            OSAFL_TRY(u->ops->release(u, *kept));
        *kept = 0;
        OSAFL_TRY(u->ops->retain(u, 0, k, kept));
    }
    return OSAFL_OK;
}

static osafl_status aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    struct afa *a = self;
    uint64_t *id = a->host->scratch(c, (uint64_t)a->clients * sizeof *id);
    double *weight = a->host->scratch(c, (uint64_t)a->clients * sizeof *weight);
    float *step = a->host->scratch(c, u->dim * sizeof *step);
    if (id == NULL || weight == NULL || step == NULL)
        return OSAFL_E_NOMEM;

    OSAFL_TRY(keep_latest(a, u));
    uint32_t seen = 0;
    for (uint32_t i = 0; i < a->clients; i++) {
        if (a->kept[i] != 0)
            id[seen++] = a->kept[i];
    }
    for (uint32_t j = 0; j < seen; j++)
        weight[j] = a->config->global_learning_rate / (double)seen;
    OSAFL_TRY(u->ops->combine_kept(u, seen, id, weight, step));
    for (uint64_t i = 0; i < u->dim; i++)
        w[i] -= step[i];
    return OSAFL_OK;
}

static void destroy(void *self)
{
    struct afa *a = self;
    free(a->kept);
    free(a);
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    struct afa *a = calloc(1, sizeof *a);
    uint64_t *kept = calloc(facts->clients, sizeof *kept);
    if (a == NULL || kept == NULL) {
        free(a);
        free(kept);
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    }
    *a = (struct afa){.host = h, .config = config, .clients = facts->clients, .kept = kept};
    *self = a;
    return OSAFL_OK;
}

static osafl_status save(void *self, osafl_call *c, osafl_writer *writer)
{
    (void)c;
    const struct afa *a = self;
    return writer->u64(writer, "kept", a->kept, a->clients);
}

/* Ids of updates that the host does not keep are refused by it when they are used. */
static osafl_status load(void *self, osafl_call *c, osafl_reader *reader)
{
    (void)c;
    const struct afa *a = self;
    return reader->u64(reader, "kept", a->kept, a->clients);
}

static const osafl_param params[] = {
    OSAFL_REAL(struct config, global_learning_rate, 5, 0, 1e6,
               "eta_gl, the server's step; max_local_rounds makes it a FedAvg step",
               .flags = OSAFL_P_LO_OPEN),
};

static const char *const features[] = {"permutation_invariant", "scale_free", NULL};

static const osafl_aggregator_vt vtable = {
    .life = {.struct_size = sizeof(osafl_aggregator_vt),
             .state_version = 1,
             .create = create,
             .destroy = destroy,
             .save = save,
             .load = load},
    .describe = describe,
    .aggregate = aggregate,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_AGGREGATOR,
    .name = "afa_cs",
    .version = "1.0.0",
    .summary = "Anarchic federated averaging, cross-silo: the mean of every client's latest update",
    .cite = "Yang, Zhang, Khanduri, Liu: Anarchic Federated Learning, ICML 2022",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
