/* scaffold.c - stochastic controlled averaging, the server's side (Karimireddy et al. 2020;
 * ALGORITHMS.md 6).
 *
 * The server's variate c goes down beside w; clients send y_u - w and, in slot 1, the change
 * c_u+ - c_u of their own variate (optimizer "scaffold").
 *   w <- w + (eta_g / |S|) sum_S (y_u - w)
 *   c <- c + (1 / U) sum_S (c_u+ - c_u)
 * Both sides use the change as it was received, so c stays the mean of all c_u. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "osafl/aggregator.h"

enum { SLOT_MODEL, SLOT_VARIATE };

struct config {
    double server_learning_rate;
};

struct scaffold {
    const osafl_host *host;
    const struct config *config;
    uint64_t dim;
    float *variate; /* [dim]: c */
};

static osafl_status describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    (void)c;
    const struct scaffold *s = self;
    out->sends = OSAFL_SENDS_DELTA;
    out->broadcast_floats = s->dim;
    out->uplink_vectors = 1;
    out->optimizer = "scaffold";
    return OSAFL_OK;
}

static osafl_status broadcast(void *self, osafl_call *c, float *out)
{
    (void)c;
    const struct scaffold *s = self;
    memcpy(out, s->variate, s->dim * sizeof *out);
    return OSAFL_OK;
}

static osafl_status aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    const struct scaffold *s = self;
    double *weight = s->host->scratch(c, (uint64_t)u->n * sizeof *weight);
    if (weight == NULL)
        return OSAFL_E_NOMEM;
    for (uint32_t k = 0; k < u->n; k++)
        weight[k] = s->config->server_learning_rate / (double)u->n;
    OSAFL_TRY(u->ops->add(u, SLOT_MODEL, weight, w));
    for (uint32_t k = 0; k < u->n; k++)
        weight[k] = 1.0 / (double)u->clients;
    return u->ops->add(u, SLOT_VARIATE, weight, s->variate);
}

static void destroy(void *self)
{
    struct scaffold *s = self;
    free(s->variate);
    free(s);
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const uint64_t dim = facts->dim;
    struct scaffold *s = calloc(1, sizeof *s);
    float *variate = calloc(dim, sizeof *variate);
    if (s == NULL || variate == NULL) {
        free(s);
        free(variate);
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    }
    *s = (struct scaffold){.host = h, .config = config, .dim = dim, .variate = variate};
    *self = s;
    return OSAFL_OK;
}

static osafl_status save(void *self, osafl_call *c, osafl_writer *writer)
{
    (void)c;
    const struct scaffold *s = self;
    return writer->f32(writer, "variate", s->variate, s->dim);
}

static osafl_status load(void *self, osafl_call *c, osafl_reader *reader)
{
    const struct scaffold *s = self;
    OSAFL_TRY(reader->f32(reader, "variate", s->variate, s->dim));
    for (uint64_t i = 0; i < s->dim; i++) {
        if (!isfinite(s->variate[i]))
            return s->host->fail(c, OSAFL_E_STATE, "the server's variate is not finite");
    }
    return OSAFL_OK;
}

static const osafl_param params[] = {
    OSAFL_REAL(struct config, server_learning_rate, 1, 0, 1e6, "eta_g, factor of the mean update",
               .flags = OSAFL_P_LO_OPEN),
};

static const char *const features[] = {"sole_update", "mean", "permutation_invariant", "scale_free",
                                       NULL};

static const osafl_aggregator_vt vtable = {
    .life = {.struct_size = sizeof(osafl_aggregator_vt),
             .state_version = 1,
             .create = create,
             .destroy = destroy,
             .save = save,
             .load = load},
    .describe = describe,
    .aggregate = aggregate,
    .broadcast = broadcast,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_AGGREGATOR,
    .name = "scaffold",
    .version = "1.0.0",
    .summary = "Corrects client drift with control variates",
    .cite = "Karimireddy, Kale, Mohri, Reddi, Stich, Suresh: SCAFFOLD: Stochastic Controlled "
            "Averaging for Federated Learning, ICML 2020",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
