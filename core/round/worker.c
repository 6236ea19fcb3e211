/* worker.c - what one thread of the pool needs to train and to evaluate. */
#include "worker.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

static float *new_vector(const struct session *s)
{
    return memory_zeroed(s->model.n_parameters, sizeof(float), VECTOR_ALIGNMENT);
}

/* n vectors; a failure shows as a NULL among them. */
static float **new_vectors(const struct session *s, uint32_t n)
{
    float **v = calloc((size_t)n + 1, sizeof(float *));
    for (uint32_t j = 0; v != NULL && j < n; j++)
        v[j] = new_vector(s);
    return v;
}

static bool have_vectors(float *const *v, uint32_t n)
{
    if (v == NULL)
        return false;
    for (uint32_t j = 0; j < n; j++)
        if (v[j] == NULL)
            return false;
    return true;
}

static void free_vectors(float **v, uint32_t n)
{
    if (v == NULL)
        return;
    for (uint32_t j = 0; j < n; j++)
        memory_free(v[j]);
    free(v);
}

static bool make_batch(struct worker *w, uint64_t samples)
{
    const struct session *s = w->session;
    osafl_batch *b = &w->batch;
    b->struct_size = sizeof *b;
    w->index = calloc((size_t)samples, sizeof *w->index);
    b->label = memory_zeroed(samples, sizeof(int32_t), VECTOR_ALIGNMENT);
    if (s->dataset.x_type == OSAFL_X_INT32)
        b->x_int = memory_zeroed(samples, s->sample_size * sizeof(int32_t), VECTOR_ALIGNMENT);
    else
        b->x = memory_zeroed(samples, s->sample_size * sizeof(float), VECTOR_ALIGNMENT);
    if (s->dataset.target_type == OSAFL_TARGET_REAL) {
        b->target =
            memory_zeroed(samples, s->dataset.target_size * sizeof(float), VECTOR_ALIGNMENT);
        if (b->target == NULL)
            return false;
    }
    return w->index != NULL && b->label != NULL && (b->x != NULL || b->x_int != NULL);
}

struct worker *worker_create(const struct session *s)
{
    struct worker *w = calloc(1, sizeof *w);
    if (w == NULL)
        return NULL;
    w->session = s;
    const uint32_t batch = s->facts.batch;
    w->workspace = memory_zeroed(1, session_workspace_bytes(s, batch), WORKSPACE_ALIGNMENT);
    w->w = new_vector(s);
    w->round_state = memory_zeroed(s->optimizer.round_floats, sizeof(float), VECTOR_ALIGNMENT);
    w->uplink = new_vectors(s, s->optimizer.uplink_vectors);
    w->code = memory_zeroed(1, codec_max_bytes(&s->codec), VECTOR_ALIGNMENT);
    const bool complete = make_batch(w, batch > EVALUATION_BATCH ? batch : EVALUATION_BATCH) &&
                          w->workspace != NULL && w->w != NULL && w->code != NULL &&
                          w->round_state != NULL &&
                          have_vectors(w->uplink, s->optimizer.uplink_vectors);
    if (complete)
        return w;
    worker_destroy(w);
    return NULL;
}

void worker_destroy(struct worker *w)
{
    if (w == NULL)
        return;
    memory_free(w->workspace);
    memory_free(w->batch.x);
    memory_free(w->batch.x_int);
    memory_free(w->batch.label);
    memory_free(w->batch.target);
    free(w->index);
    memory_free(w->w);
    memory_free(w->gradient);
    memory_free(w->round_state);
    free_vectors(w->uplink, w->session->optimizer.uplink_vectors);
    memory_free(w->code);
    memory_free(w->sum);
    free(w->order);
    free(w->word);
    free(w);
}

float *worker_gradient(struct worker *w)
{
    if (w->gradient == NULL)
        w->gradient = new_vector(w->session);
    if (w->gradient == NULL)
        error_set(&w->error, OSAFL_E_NOMEM, "out of memory for a gradient");
    return w->gradient;
}

double *worker_sum(struct worker *w)
{
    if (w->sum == NULL)
        w->sum = memory_zeroed(w->session->model.n_parameters, sizeof(double), VECTOR_ALIGNMENT);
    if (w->sum == NULL)
        error_set(&w->error, OSAFL_E_NOMEM, "out of memory for the gradient of a store");
    return w->sum;
}

osafl_status worker_reserve_order(struct worker *w, uint64_t stored, uint64_t draws)
{
    const uint64_t want = stored > draws ? stored : draws;
    if (want <= w->order_capacity)
        return OSAFL_OK;
    free(w->order);
    free(w->word);
    w->order_capacity = 0;
    w->order = want < SIZE_MAX / 16 ? calloc((size_t)want, sizeof *w->order) : NULL;
    w->word = want < SIZE_MAX / 16 ? calloc((size_t)want, 2 * sizeof *w->word) : NULL;
    if (w->order == NULL || w->word == NULL)
        return error_set(&w->error, OSAFL_E_NOMEM, "out of memory for the order of %llu samples",
                         (unsigned long long)want);
    w->order_capacity = want;
    return OSAFL_OK;
}

osafl_status worker_read(struct worker *w, uint32_t split, uint32_t n, uint32_t client,
                         uint32_t round)
{
    const struct session *s = w->session;
    const struct instance *dataset = &s->instance[OSAFL_KIND_DATASET];
    osafl_call c;
    w->batch.n = n;
    call_begin(&c, dataset, client, round);
    osafl_status status = session_dataset(s)->read(dataset->self, &c, split, w->index, &w->batch);
    for (uint32_t i = 0; status == OSAFL_OK && i < n; i++) {
        const int32_t label = w->batch.label[i];
        if (label < 0 || (uint32_t)label >= s->dataset.labels)
            status =
                core_host.fail(&c, OSAFL_E_DATA, "sample %llu has label %d outside 0..%u",
                               (unsigned long long)w->index[i], (int)label, s->dataset.labels - 1);
    }
    return call_end_named(&c, status, &w->error);
}
