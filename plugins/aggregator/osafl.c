/* osafl.c - online-score-aided federated learning, the paper's aggregation rule (ALGORITHMS.md 6).
 *
 * S holds the clients whose update Q_u of the normalized gradient d_u = (w_0 - w_k) / kappa_u has
 * arrived.  All sums run over S, and clients outside S have score 0.
 *
 *   direction      d^t       = sum alpha_u kappa_u Q_u / sum alpha_u kappa_u
 *   similarity     lambda_u  = (chi + cos(Q_u, d^t)) / (chi + 1)
 *   participation  P_u       = exp(1 - v * share of u in all participations before t)
 *   score          delta_u   = lambda_u / sum lambda                              at t = 0
 *                            = (varsigma P_u + (1 - varsigma) lambda_u) kappa_u   after
 *   step control   eta_ef    = 1 / sum alpha_u delta_u                            at t = 0
 *                            = eta_sch exp(cos(d^{t-1}, d^t) - a) / sum alpha_u delta_u   after
 *   model          w^{t+1}   = w^t - eta_gl eta_ef sum alpha_u delta_u Q_u
 *
 * eta_sch falls linearly from 1 to final_step.  A round without updates changes nothing. */
#include <math.h>
#include <stdlib.h>

#include "osafl/aggregator.h"

struct config {
    double global_learning_rate; /* eta_gl */
    double participation_mix;    /* varsigma */
    double participation_decay;  /* v (fraktur) */
    double similarity_offset;    /* chi */
    double step_offset;          /* a */
    double final_step;           /* eta_sch of the last round */
};

enum metric_number {
    METRIC_STEP_CONTROL,
    METRIC_DIRECTION_COSINE,
    METRIC_MEAN_SIMILARITY,
    METRIC_SCORE,
    METRIC_SIMILARITY,
    METRIC_PARTICIPATION_SCORE,
};

struct osafl {
    const osafl_host *host;
    const struct config *config;
    uint32_t clients;
    uint32_t rounds;
    uint64_t dim;
    uint64_t *participations; /* [clients]: rounds in which the client took part */
    float *direction;         /* [dim]: d^t of the round in hand */
    float *last_direction;    /* [dim]: d^{t-1}, the last one that existed */
    bool has_last_direction;
};

/* What aggregate() works out for each update, in arrays of u->n. */
struct round_values {
    double *similarity;    /* lambda_u */
    double *participation; /* P_u */
    double *score;         /* delta_u */
    double *weight;        /* of Q_u in a sum */
    double *work;          /* squared norms */
};

/* --- the rule ------------------------------------------------------------------------------- */

/* Cosine from an inner product and two squared norms; 0 when one of the vectors is 0. */
static double cosine(double product, double norm2_a, double norm2_b)
{
    if (norm2_a <= 0.0 || norm2_b <= 0.0)
        return 0.0;
    return product / (sqrt(norm2_a) * sqrt(norm2_b));
}

/* d^t, the mean of the updates weighted by data and local rounds. */
static osafl_status find_direction(struct osafl *o, const osafl_updates *u, double *weight)
{
    double total = 0.0;
    for (uint32_t k = 0; k < u->n; k++) {
        weight[k] = u->alpha[k] * (double)u->local_rounds[k];
        total += weight[k];
    }
    for (uint32_t k = 0; k < u->n; k++)
        weight[k] /= total;
    return u->ops->combine(u, 0, weight, o->direction);
}

/* lambda_u, how far each update points along d^t. */
static osafl_status find_similarities(const struct osafl *o, const osafl_updates *u,
                                      double direction_norm2, const struct round_values *v)
{
    const double chi = o->config->similarity_offset;
    double *product = v->similarity;
    OSAFL_TRY(u->ops->dot(u, 0, o->direction, product));
    OSAFL_TRY(u->ops->squared_norms(u, 0, v->work));
    for (uint32_t k = 0; k < u->n; k++)
        v->similarity[k] = (chi + cosine(product[k], v->work[k], direction_norm2)) / (chi + 1.0);
    return OSAFL_OK;
}

/* P_u, which favours clients that have seldom taken part. */
static void find_participation_scores(const struct osafl *o, const osafl_updates *u,
                                      double *participation)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < o->clients; i++)
        all += o->participations[i];
    for (uint32_t k = 0; k < u->n; k++) {
        const double mine = (double)o->participations[u->client[k]];
        const double share = all > 0 ? mine / (double)all : 0.0;
        participation[k] = exp(1.0 - o->config->participation_decay * share);
    }
}

/* delta_u.  In round 0 nobody has a past, so similarity alone counts. */
static void find_scores(const struct osafl *o, const osafl_updates *u, const struct round_values *v)
{
    const double mix = o->config->participation_mix;
    double total = 0.0;
    for (uint32_t k = 0; k < u->n; k++)
        total += v->similarity[k];
    for (uint32_t k = 0; k < u->n; k++) {
        if (u->round == 0)
            v->score[k] = v->similarity[k] / total;
        else
            v->score[k] = (mix * v->participation[k] + (1.0 - mix) * v->similarity[k]) *
                          (double)u->local_rounds[k];
    }
}

/* eta_sch, the part of the step control that every round knows beforehand. */
static double scheduled_step(const struct osafl *o, uint32_t round)
{
    if (o->rounds <= 1)
        return 1.0;
    return 1.0 - (1.0 - o->config->final_step) * (double)round / (double)(o->rounds - 1);
}

/* eta_ef: larger steps while successive directions agree. */
static double find_step_control(const struct osafl *o, const osafl_updates *u, const double *score,
                                double direction_cosine)
{
    double total = 0.0;
    for (uint32_t k = 0; k < u->n; k++)
        total += u->alpha[k] * score[k];
    if (u->round == 0)
        return 1.0 / total;
    return scheduled_step(o, u->round) * exp(direction_cosine - o->config->step_offset) / total;
}

/* cos(d^{t-1}, d^t); 0 when there was no direction before. */
static osafl_status find_direction_cosine(const struct osafl *o, const osafl_updates *u,
                                          double direction_norm2, double *out)
{
    double product = 0.0;
    double last_norm2 = 0.0;
    if (o->has_last_direction) {
        OSAFL_TRY(u->ops->inner_product(u, o->last_direction, o->direction, &product));
        OSAFL_TRY(u->ops->inner_product(u, o->last_direction, o->last_direction, &last_norm2));
    }
    *out = cosine(product, last_norm2, direction_norm2);
    return OSAFL_OK;
}

/* Makes this round the past of the next one. */
static void remember_round(struct osafl *o, const osafl_updates *u)
{
    for (uint32_t k = 0; k < u->n; k++)
        o->participations[u->client[k]]++;
    float *oldest = o->last_direction;
    o->last_direction = o->direction;
    o->direction = oldest;
    o->has_last_direction = true;
}

static void report(const struct osafl *o, osafl_call *c, const osafl_updates *u,
                   const struct round_values *v, double step_control, double direction_cosine)
{
    const osafl_host *h = o->host;
    double mean_similarity = 0.0;
    for (uint32_t k = 0; k < u->n; k++) {
        mean_similarity += v->similarity[k] / (double)u->n;
        h->metric(c, METRIC_SCORE, u->client[k], v->score[k]);
        h->metric(c, METRIC_SIMILARITY, u->client[k], v->similarity[k]);
        h->metric(c, METRIC_PARTICIPATION_SCORE, u->client[k], v->participation[k]);
    }
    h->metric(c, METRIC_STEP_CONTROL, OSAFL_NO_CLIENT, step_control);
    h->metric(c, METRIC_DIRECTION_COSINE, OSAFL_NO_CLIENT, direction_cosine);
    h->metric(c, METRIC_MEAN_SIMILARITY, OSAFL_NO_CLIENT, mean_similarity);
}

static osafl_status aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    struct osafl *o = self;
    double *array = o->host->scratch(c, (uint64_t)u->n * 5 * sizeof *array);
    if (array == NULL)
        return OSAFL_E_NOMEM;
    const size_t n = u->n;
    const struct round_values v = {array, array + n, array + 2 * n, array + 3 * n, array + 4 * n};

    double direction_norm2 = 0.0;
    double direction_cosine = 0.0;
    OSAFL_TRY(find_direction(o, u, v.weight));
    OSAFL_TRY(u->ops->inner_product(u, o->direction, o->direction, &direction_norm2));
    OSAFL_TRY(find_direction_cosine(o, u, direction_norm2, &direction_cosine));
    OSAFL_TRY(find_similarities(o, u, direction_norm2, &v));
    find_participation_scores(o, u, v.participation);
    find_scores(o, u, &v);

    const double step_control = find_step_control(o, u, v.score, direction_cosine);
    const double step = o->config->global_learning_rate * step_control;
    for (uint32_t k = 0; k < u->n; k++)
        v.weight[k] = -step * u->alpha[k] * v.score[k];
    OSAFL_TRY(u->ops->add(u, 0, v.weight, w));

    report(o, c, u, &v, step_control, direction_cosine);
    remember_round(o, u);
    return OSAFL_OK;
}

static osafl_status describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    (void)self;
    (void)c;
    out->sends = OSAFL_SENDS_PER_ROUND;
    out->optimizer = "sgd";
    return OSAFL_OK;
}

/* --- life ----------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    struct osafl *o = self;
    free(o->participations);
    free(o->direction);
    free(o->last_direction);
    free(o);
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    struct osafl *o = calloc(1, sizeof *o);
    if (o == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    o->host = h;
    o->config = config;
    o->clients = facts->clients;
    o->rounds = facts->rounds;
    o->dim = facts->model->n_parameters;
    o->participations = calloc(o->clients, sizeof *o->participations);
    o->direction = calloc(o->dim, sizeof *o->direction);
    o->last_direction = calloc(o->dim, sizeof *o->last_direction);
    if (o->participations == NULL || o->direction == NULL || o->last_direction == NULL) {
        destroy(o);
        return h->fail(c, OSAFL_E_NOMEM, "out of memory for two vectors of %llu parameters",
                       (unsigned long long)facts->model->n_parameters);
    }
    *self = o;
    return OSAFL_OK;
}

static osafl_status save(void *self, osafl_call *c, osafl_writer *writer)
{
    (void)c;
    const struct osafl *o = self;
    OSAFL_TRY(writer->u64(writer, "participations", o->participations, o->clients));
    return writer->f32(writer, "direction", o->last_direction, o->has_last_direction ? o->dim : 0);
}

static osafl_status load(void *self, osafl_call *c, osafl_reader *reader)
{
    struct osafl *o = self;
    uint64_t length = 0;
    OSAFL_TRY(reader->u64(reader, "participations", o->participations, o->clients));
    OSAFL_TRY(reader->count(reader, "direction", &length));
    o->has_last_direction = length > 0;
    if (length > 0)
        OSAFL_TRY(reader->f32(reader, "direction", o->last_direction, o->dim));

    for (uint32_t i = 0; i < o->clients; i++) {
        if (o->participations[i] > o->rounds)
            return o->host->fail(c, OSAFL_E_STATE, "client %u took part in %llu of %u rounds", i,
                                 (unsigned long long)o->participations[i], o->rounds);
    }
    for (uint64_t i = 0; i < length; i++) {
        if (!isfinite(o->last_direction[i]))
            return o->host->fail(c, OSAFL_E_STATE, "the last direction is not finite");
    }
    return OSAFL_OK;
}

/* --- plugin --------------------------------------------------------------------------------- */

static const osafl_param params[] = {
    OSAFL_REAL(struct config, global_learning_rate, 15, 0, 1e6,
               "eta_gl, the server's step; search it between max_local_rounds, where it is a "
               "FedAvg step, and the number of clients",
               .flags = OSAFL_P_LO_OPEN),
    OSAFL_REAL(struct config, participation_mix, 0.75, 0, 1,
               "varsigma, the weight of the participation score; the similarity has the rest"),
    OSAFL_REAL(struct config, participation_decay, 10, 0, 100,
               "How fast the participation score falls with a client's share of all "
               "participations"),
    OSAFL_REAL(struct config, similarity_offset, 1, 1, 1e6,
               "chi, added to the cosine of update and direction; from 1 on no score is negative"),
    OSAFL_REAL(struct config, step_offset, 0.3, -10, 10,
               "a, subtracted from the cosine of successive directions in the step control; the "
               "paper has 0.5 for ResNet-18"),
    OSAFL_REAL(struct config, final_step, 0.65, 0, 1,
               "eta_sch of the last round, to which it falls linearly from 1"),
};

static const osafl_metric metrics[] = {
    [METRIC_STEP_CONTROL] = {.name = "step_control",
                             .doc = "eta_ef, the factor of the server's step",
                             .scope = OSAFL_PER_ROUND},
    [METRIC_DIRECTION_COSINE] = {.name = "direction_cosine",
                                 .doc = "Cosine of the mean direction and the one before it",
                                 .scope = OSAFL_PER_ROUND},
    [METRIC_MEAN_SIMILARITY] = {.name = "mean_similarity",
                                .doc = "Mean of lambda_u over the participants",
                                .scope = OSAFL_PER_ROUND},
    [METRIC_SCORE] = {.name = "score",
                      .doc = "delta_u, the client's weight in addition to its share of the data",
                      .scope = OSAFL_PER_CLIENT},
    [METRIC_SIMILARITY] = {.name = "similarity",
                           .doc = "lambda_u, how far the client's update points along the mean",
                           .scope = OSAFL_PER_CLIENT},
    [METRIC_PARTICIPATION_SCORE] = {.name = "participation_score",
                                    .doc = "P_u, high for a client that has seldom taken part",
                                    .scope = OSAFL_PER_CLIENT},
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
    .name = "osafl",
    .version = "1.0.0",
    .summary = "Weighs updates by online scores of similarity and participation",
    .cite = "Pervej, Choi, Molisch: Online-Score-Aided Federated Learning for "
            "Resource-Constrained Wireless Clients with Continual Data Arrival",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    OSAFL_PLUGIN_METRICS(metrics),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
