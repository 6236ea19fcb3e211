/* server_moments.h - server optimizers that keep moments of the mean update over rounds (Reddi et
 * al. 2021; ALGORITHMS.md 6).
 *
 * With g = sum_S a_u Q(Delta_u):
 *   first moment   m <- decay m + gain g
 *   second moment  v <- rule(v, g^2), starting at tau^2; no bias correction
 *   model          w <- w + rate m, or w <- w + rate m / (sqrt(v) + tau) */
#ifndef OSAFL_AGGREGATOR_SERVER_MOMENTS_H
#define OSAFL_AGGREGATOR_SERVER_MOMENTS_H

#include <math.h>
#include <stdlib.h>

#include "participants.h"

/* The new second moment, >= 0, from the old one and the squared mean update. */
typedef double second_moment_rule(double v, double square, double decay);

struct server_moments_config {
    double server_learning_rate;
    double first_decay;
    double first_gain;
    double second_decay;
    double tau;
};

struct server_moments {
    const osafl_host *host;
    struct server_moments_config config;
    second_moment_rule *rule; /* NULL: first moment only */
    uint64_t dim;
    float *first;  /* [dim] */
    float *second; /* [dim]; NULL without a rule */
};

static inline void server_moments_destroy(void *self)
{
    struct server_moments *s = self;
    free(s->first);
    free(s->second);
    free(s);
}

static inline osafl_status server_moments_create(const osafl_host *h, osafl_call *c,
                                                 const osafl_facts *facts,
                                                 const struct server_moments_config *config,
                                                 second_moment_rule *rule, void **self)
{
    struct server_moments *s = calloc(1, sizeof *s);
    if (s == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    s->host = h;
    s->config = *config;
    s->rule = rule;
    s->dim = facts->model->n_parameters;
    s->first = calloc(s->dim, sizeof *s->first);
    s->second = rule != NULL ? calloc(s->dim, sizeof *s->second) : NULL;
    if (s->first == NULL || (rule != NULL && s->second == NULL)) {
        server_moments_destroy(s);
        return h->fail(c, OSAFL_E_NOMEM, "out of memory for moments of %llu parameters",
                       (unsigned long long)facts->model->n_parameters);
    }
    for (uint64_t i = 0; rule != NULL && i < s->dim; i++)
        s->second[i] = (float)(config->tau * config->tau);
    *self = s;
    return OSAFL_OK;
}

static inline osafl_status server_moments_describe(void *self, osafl_call *c,
                                                   osafl_aggregator_info *out)
{
    (void)self;
    (void)c;
    out->sends = OSAFL_SENDS_DELTA;
    out->optimizer = "sgd";
    out->one_sum = 1;
    return OSAFL_OK;
}

static inline osafl_status server_moments_aggregate(void *self, osafl_call *c,
                                                    const osafl_updates *u, float *w)
{
    struct server_moments *s = self;
    const struct server_moments_config *config = &s->config;
    double *share = s->host->scratch(c, (uint64_t)u->n * sizeof *share);
    float *mean = s->host->scratch(c, u->dim * sizeof *mean);
    if (share == NULL || mean == NULL)
        return OSAFL_E_NOMEM;
    participants_shares(u, share);
    OSAFL_TRY(u->ops->combine(u, 0, share, mean));

    for (uint64_t i = 0; i < u->dim; i++) {
        const double g = (double)mean[i];
        s->first[i] = (float)(config->first_decay * (double)s->first[i] + config->first_gain * g);
        double step = config->server_learning_rate * (double)s->first[i];
        if (s->rule != NULL) {
            s->second[i] = (float)s->rule((double)s->second[i], g * g, config->second_decay);
            step /= sqrt((double)s->second[i]) + config->tau;
        }
        w[i] = (float)((double)w[i] + step);
    }
    return OSAFL_OK;
}

static inline osafl_status server_moments_save(void *self, osafl_call *c, osafl_writer *writer)
{
    (void)c;
    const struct server_moments *s = self;
    OSAFL_TRY(writer->f32(writer, "first_moment", s->first, s->dim));
    return s->rule != NULL ? writer->f32(writer, "second_moment", s->second, s->dim) : OSAFL_OK;
}

static inline osafl_status server_moments_load(void *self, osafl_call *c, osafl_reader *reader)
{
    struct server_moments *s = self;
    OSAFL_TRY(reader->f32(reader, "first_moment", s->first, s->dim));
    if (s->rule != NULL)
        OSAFL_TRY(reader->f32(reader, "second_moment", s->second, s->dim));
    for (uint64_t i = 0; i < s->dim; i++) {
        const bool second_ok = s->rule == NULL || (isfinite(s->second[i]) && s->second[i] >= 0.0f);
        if (!isfinite(s->first[i]) || !second_ok)
            return s->host->fail(c, OSAFL_E_STATE, "moment %llu of the server is out of range",
                                 (unsigned long long)i);
    }
    return OSAFL_OK;
}

/* The vtable of a plugin whose create() ends in server_moments_create(). */
#define SERVER_MOMENTS_VTABLE(create_function)                                                     \
    {                                                                                              \
        .life = {.struct_size = sizeof(osafl_aggregator_vt),                                       \
                 .state_version = 1,                                                               \
                 .create = (create_function),                                                      \
                 .destroy = server_moments_destroy,                                                \
                 .save = server_moments_save,                                                      \
                 .load = server_moments_load},                                                     \
        .describe = server_moments_describe, .aggregate = server_moments_aggregate,                \
    }

#endif
