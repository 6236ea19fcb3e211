/* evaluate.c - how good is a model? */
#include "evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parcel.h"
#include "plugin/pool.h"
#include "plugin/ranks.h"

bool evaluation_create(const struct session *s, struct evaluation *out)
{
    const uint64_t n = s->evaluation_samples;
    const uint32_t measures = s->model.n_measures;
    *out = (struct evaluation){
        .mean = calloc(measures, sizeof(double)),
        .label_mean = calloc((size_t)s->dataset.labels * measures, sizeof(double)),
        .label_samples = calloc(s->dataset.labels, sizeof(uint64_t)),
        .value = memory_zeroed(n, measures * sizeof(double), VECTOR_ALIGNMENT),
        .label = memory_zeroed(n, sizeof(int32_t), VECTOR_ALIGNMENT),
    };
    if (out->mean != NULL && out->label_mean != NULL && out->label_samples != NULL &&
        out->value != NULL && out->label != NULL)
        return true;
    evaluation_destroy(out);
    return false;
}

void evaluation_destroy(struct evaluation *e)
{
    free(e->mean);
    free(e->label_mean);
    free(e->label_samples);
    memory_free(e->value);
    memory_free(e->label);
    *e = (struct evaluation){0};
}

struct evaluating {
    const struct session *session;
    struct worker *const *workers;
    uint32_t round;
    const float *w;
    int32_t as_label; /* that every sample is said to have; -1: its own */
    uint64_t first;   /* chunks begin here */
    struct evaluation *out;
};

osafl_status evaluate_batch(const struct session *s, struct worker *w, uint32_t client,
                            uint32_t round, const float *at, double *value)
{
    const struct instance *model = &s->instance[OSAFL_KIND_MODEL];
    osafl_call c;
    call_begin(&c, model, client, round);
    const osafl_status status =
        session_model(s)->evaluate(model->self, &c, w->workspace, at, &w->batch, value);
    return call_end_named(&c, status, &w->error);
}

/* One chunk of samples [from, to), counted from the first. */
static osafl_status evaluate_chunk(void *arg, uint64_t from, uint64_t to, unsigned thread)
{
    const struct evaluating *v = arg;
    const uint64_t begin = v->first + from;
    const uint64_t end = v->first + to;
    const struct session *s = v->session;
    struct worker *w = v->workers[thread];
    const uint32_t n = (uint32_t)(end - begin);
    w->error.text[0] = '\0';
    if (s->context.cancelled != NULL && *s->context.cancelled != 0)
        return error_set(&w->error, OSAFL_E_CANCELLED, "the run was stopped");
    for (uint32_t i = 0; i < n; i++)
        w->index[i] = begin + i;
    OSAFL_TRY(worker_read(w, session_evaluation_split(s), n, OSAFL_NO_CLIENT, v->round));
    memcpy(v->out->label + begin, w->batch.label, n * sizeof(int32_t));
    for (uint32_t i = 0; v->as_label >= 0 && i < n; i++)
        w->batch.label[i] = v->as_label;
    return evaluate_batch(s, w, OSAFL_NO_CLIENT, v->round, v->w,
                          v->out->value + begin * s->model.n_measures);
}

static void average(const struct session *s, struct evaluation *e)
{
    const uint32_t measures = s->model.n_measures;
    const uint32_t labels = s->dataset.labels;
    memset(e->mean, 0, measures * sizeof(double));
    memset(e->label_mean, 0, (size_t)labels * measures * sizeof(double));
    memset(e->label_samples, 0, labels * sizeof(uint64_t));
    for (uint64_t i = 0; i < s->evaluation_samples; i++) {
        const uint32_t label = (uint32_t)e->label[i];
        e->label_samples[label]++;
        for (uint32_t m = 0; m < measures; m++) {
            e->mean[m] += e->value[i * measures + m];
            e->label_mean[label * measures + m] += e->value[i * measures + m];
        }
    }
    for (uint32_t m = 0; m < measures; m++) {
        e->mean[m] /= (double)s->evaluation_samples;
        for (uint32_t label = 0; label < labels; label++) /* 0 / 0 is the NAN that is promised */
            e->label_mean[label * measures + m] /= (double)e->label_samples[label];
    }
}

osafl_status evaluation_failed(const struct session *s, struct worker *const *workers,
                               osafl_status status, struct error *error)
{
    /* Chunks fail for the same reason, or a cancelled one beside them: any message serves. */
    for (unsigned thread = 0; thread < pool_threads(s->context.pool); thread++)
        if (workers[thread]->error.text[0] != '\0')
            return error_set(error, status, "%s", workers[thread]->error.text);
    return error_set(error, status, "evaluation failed");
}

/* Samples [v->first, end). */
static osafl_status evaluate_until(struct evaluating *v, uint64_t end, struct error *error)
{
    const struct session *s = v->session;
    const unsigned threads = pool_threads(s->context.pool);
    for (unsigned thread = 0; thread < threads; thread++)
        v->workers[thread]->error.text[0] = '\0';
    const osafl_status status =
        pool_run(s->context.pool, end - v->first, EVALUATION_BATCH, evaluate_chunk, v);
    return status == OSAFL_OK ? OSAFL_OK : evaluation_failed(s, v->workers, status, error);
}

/* The first sample of a rank's part, which has whole chunks. */
static uint64_t part_begin(const struct session *s, uint32_t rank)
{
    const uint64_t n = s->evaluation_samples;
    const uint64_t chunks = (n + EVALUATION_BATCH - 1) / EVALUATION_BATCH;
    const uint64_t begin = chunks * rank / ranks_count(s->context.ranks) * EVALUATION_BATCH;
    return begin < n ? begin : n;
}

/* Values, then labels, of a rank's part. */
static bool take_part(const struct session *s, uint32_t rank, const struct rank_piece *piece,
                      struct evaluation *out)
{
    const uint64_t begin = part_begin(s, rank);
    const uint64_t n = part_begin(s, rank + 1) - begin;
    const uint32_t measures = s->model.n_measures;
    struct parcel_reader from = {.at = piece->data, .left = piece->bytes};
    return parcel_take(&from, out->value + begin * measures, n * measures * sizeof(double)) &&
           parcel_take(&from, out->label + begin, n * sizeof(int32_t));
}

/* Each rank evaluates its part of the samples and takes those of the others. */
static osafl_status evaluate_parts(struct evaluating *v, struct error *error)
{
    const struct session *s = v->session;
    struct ranks *ranks = s->context.ranks;
    const struct rank_piece *all = NULL;
    struct parcel own = {0};
    const uint64_t end = part_begin(s, ranks_own(ranks) + 1);
    v->first = part_begin(s, ranks_own(ranks));
    osafl_status status = evaluate_until(v, end, error);
    const uint64_t n = end - v->first;
    const uint32_t measures = s->model.n_measures;
    if (status == OSAFL_OK) {
        parcel_add(&own, v->out->value + v->first * measures, n * measures * sizeof(double));
        parcel_add(&own, v->out->label + v->first, n * sizeof(int32_t));
    }
    if (own.is_incomplete)
        status = error_set(error, OSAFL_E_NOMEM, "out of memory for an evaluation");
    status = ranks_share(ranks, status, own.data, own.bytes, &all, error);
    for (uint32_t rank = 0; status == OSAFL_OK && rank < ranks_count(ranks); rank++)
        if (!take_part(s, rank, &all[rank], v->out))
            status = error_set(error, OSAFL_E_BUG, "rank %u gives no evaluation", rank);
    parcel_free(&own);
    return status;
}

osafl_status evaluate_model(const struct session *s, struct worker *const *workers, uint32_t round,
                            const float *w, struct evaluation *out, struct error *error)
{
    struct evaluating v = {
        .session = s, .workers = workers, .round = round, .w = w, .as_label = -1, .out = out};
    if (s->context.ranks != NULL)
        OSAFL_TRY(evaluate_parts(&v, error));
    else
        OSAFL_TRY(evaluate_until(&v, s->evaluation_samples, error));
    average(s, out);
    return OSAFL_OK;
}

osafl_status evaluate_as_label(const struct session *s, struct worker *const *workers,
                               const float *w, uint32_t as, struct evaluation *out,
                               struct error *error)
{
    struct evaluating v = {
        .session = s, .workers = workers, .w = w, .as_label = (int32_t)as, .out = out};
    return evaluate_until(&v, s->evaluation_samples, error);
}

osafl_status evaluate_first(const struct session *s, struct error *error)
{
    const uint64_t n =
        s->evaluation_samples < EVALUATION_BATCH ? s->evaluation_samples : EVALUATION_BATCH;
    struct evaluation out = {0};
    struct worker *worker = worker_create(s);
    struct worker *const workers[] = {worker};
    osafl_status status = OSAFL_E_NOMEM;
    if (worker == NULL || !evaluation_create(s, &out)) {
        error_set(error, status, "out of memory to try the model on a few samples");
    } else {
        struct evaluating v = {
            .session = s, .workers = workers, .w = worker->w, .as_label = -1, .out = &out};
        status = evaluate_chunk(&v, 0, n, 0);
        if (status != OSAFL_OK)
            *error = worker->error;
    }
    evaluation_destroy(&out);
    worker_destroy(worker);
    return status;
}

double evaluation_for_labels(const struct session *s, const struct evaluation *e, uint32_t measure,
                             const uint32_t *histogram)
{
    double sum = 0.0;
    uint64_t samples = 0;
    for (uint32_t label = 0; label < s->dataset.labels; label++) {
        if (histogram[label] == 0)
            continue; /* its mean may be NAN */
        sum += (double)histogram[label] * e->label_mean[label * s->model.n_measures + measure];
        samples += histogram[label];
    }
    return samples > 0 ? sum / (double)samples : (double)NAN;
}
