/* client_objective.c - f_u: what a client's store says of given parameters, all of it at once. */
#include "client_objective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { POWER_STEPS = 50 };

static osafl_status read_samples(const struct client_objective *o, uint64_t begin, uint32_t n)
{
    memcpy(o->worker->index, o->store.sample + begin, n * sizeof *o->worker->index);
    return worker_read(o->worker, OSAFL_SPLIT_TRAIN, n, o->client, o->round);
}

/* Mean loss and gradient of the batch that was read. */
static osafl_status batch_gradient(const struct client_objective *o, const float *w,
                                   float *gradient, double *loss)
{
    const struct instance *model = &o->session->instance[OSAFL_KIND_MODEL];
    const osafl_step step = {
        .struct_size = sizeof step, .client = o->client, .round = o->round, .training = 0};
    osafl_call c;
    call_begin(&c, model, o->client, o->round);
    const osafl_status status = session_model(o->session)
                                    ->gradient(model->self, &c, o->worker->workspace, w,
                                               &o->worker->batch, &step, gradient, loss);
    return call_end_named(&c, status, &o->worker->error);
}

static uint32_t batch_at(const struct client_objective *o, uint64_t begin)
{
    const uint64_t left = o->store.n - begin;
    return left < o->session->facts.batch ? (uint32_t)left : o->session->facts.batch;
}

static void add_decay(const struct client_objective *o, const float *w, double *value, double *sum)
{
    double norm2 = 0.0;
    for (uint64_t i = 0; i < o->session->codec.dim; i++) {
        norm2 += (double)w[i] * (double)w[i];
        sum[i] += o->weight_decay * (double)w[i];
    }
    *value += o->weight_decay / 2.0 * norm2;
}

osafl_status objective_value(const struct client_objective *o, const float *w, double *value,
                             float *gradient)
{
    const uint64_t dim = o->session->codec.dim;
    float *g = worker_gradient(o->worker);
    double *sum = worker_sum(o->worker);
    if (g == NULL || sum == NULL)
        return OSAFL_E_NOMEM;
    memset(sum, 0, (size_t)dim * sizeof *sum);
    *value = 0.0;
    for (uint64_t begin = 0, n; begin < o->store.n; begin += n) {
        double loss = 0.0;
        n = batch_at(o, begin);
        OSAFL_TRY(read_samples(o, begin, (uint32_t)n));
        OSAFL_TRY(batch_gradient(o, w, g, &loss));
        const double share = (double)n / (double)o->store.n;
        *value += share * loss;
        for (uint64_t i = 0; i < dim; i++)
            sum[i] += share * (double)g[i];
    }
    add_decay(o, w, value, sum);
    for (uint64_t i = 0; gradient != NULL && i < dim; i++)
        gradient[i] = (float)sum[i];
    return OSAFL_OK;
}

osafl_status objective_variance(const struct client_objective *o, const float *w,
                                const float *gradient, double *variance)
{
    float *g = worker_gradient(o->worker);
    double sum = 0.0;
    if (g == NULL)
        return OSAFL_E_NOMEM;
    for (uint64_t k = 0; k < o->store.n; k++) {
        double loss = 0.0;
        OSAFL_TRY(read_samples(o, k, 1));
        OSAFL_TRY(batch_gradient(o, w, g, &loss));
        for (uint64_t i = 0; i < o->session->codec.dim; i++) {
            const double decay = o->weight_decay * (double)w[i];
            const double d = (double)g[i] + decay - (double)gradient[i];
            sum += d * d;
        }
    }
    *variance = sum / (double)o->store.n;
    return OSAFL_OK;
}

/* ---- smoothness ---------------------------------------------------------------------------- */

/* v becomes the mean of (x' v) x over n samples of `size` values and a 1; returns its norm. */
static double apply_covariance(const float *x, uint64_t n, uint64_t size, double *v, double *next)
{
    double norm2 = 0.0;
    memset(next, 0, (size_t)(size + 1) * sizeof *next);
    for (uint64_t k = 0; k < n; k++) {
        const float *row = x + k * size;
        double product = v[size];
        for (uint64_t i = 0; i < size; i++)
            product += (double)row[i] * v[i];
        for (uint64_t i = 0; i < size; i++)
            next[i] += product * (double)row[i] / (double)n;
        next[size] += product / (double)n;
    }
    for (uint64_t i = 0; i <= size; i++)
        norm2 += next[i] * next[i];
    for (uint64_t i = 0; i <= size; i++)
        v[i] = norm2 > 0.0 ? next[i] / sqrt(norm2) : 0.0;
    return sqrt(norm2);
}

osafl_status objective_linear_smoothness(const struct client_objective *o, double *beta)
{
    const uint64_t size = o->session->sample_size;
    float *x = calloc(o->store.n * size, sizeof *x);
    double *v = calloc(2 * (size + 1), sizeof *v);
    osafl_status status = OSAFL_OK;
    double largest = 0.0;
    if (x == NULL || v == NULL)
        status = error_set(&o->worker->error, OSAFL_E_NOMEM, "out of memory for a smoothness");
    for (uint64_t begin = 0, n; status == OSAFL_OK && begin < o->store.n; begin += n) {
        n = batch_at(o, begin);
        status = read_samples(o, begin, (uint32_t)n);
        if (status == OSAFL_OK)
            memcpy(x + begin * size, o->worker->batch.x, n * size * sizeof *x);
    }
    for (uint64_t i = 0; status == OSAFL_OK && i <= size; i++)
        v[i] = 1.0 / sqrt((double)size + 1.0);
    for (int k = 0; status == OSAFL_OK && k < POWER_STEPS; k++)
        largest = apply_covariance(x, o->store.n, size, v, v + size + 1);
    *beta = largest / 2.0 + o->weight_decay;
    free(x);
    free(v);
    return status;
}
