/* prequential.c - how well the model of a round does on the samples that arrive in it. */
#include "prequential.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/pool.h"

bool prequential_create(const struct session *s, struct prequential *p)
{
    p->mean = calloc(s->model.n_measures, sizeof *p->mean);
    return p->mean != NULL;
}

void prequential_destroy(struct prequential *p)
{
    free(p->mean);
    free(p->value);
    *p = (struct prequential){0};
}

void prequential_begin(const struct session *s, struct prequential *p)
{
    memset(p->mean, 0, s->model.n_measures * sizeof *p->mean);
    p->samples = 0;
}

struct judging {
    const struct session *session;
    struct worker *const *workers;
    const float *w;
    const struct arrivals *arrivals;
    double *value;
};

/* Samples [begin, end). */
static osafl_status judge_chunk(void *arg, uint64_t begin, uint64_t end, unsigned thread)
{
    const struct judging *j = arg;
    const struct session *s = j->session;
    const struct arrivals *a = j->arrivals;
    struct worker *w = j->workers[thread];
    const struct instance *model = &s->instance[OSAFL_KIND_MODEL];
    const uint32_t n = (uint32_t)(end - begin);
    if (s->context.cancelled != NULL && *s->context.cancelled != 0)
        return error_set(&w->error, OSAFL_E_CANCELLED, "the run was stopped");
    memcpy(w->index, a->sample + begin, n * sizeof *w->index);
    OSAFL_TRY(worker_read(w, OSAFL_SPLIT_TRAIN, n, a->client, a->round));
    osafl_call c;
    call_begin(&c, model, a->client, a->round);
    const osafl_status status = session_model(s)->evaluate(
        model->self, &c, w->workspace, j->w, &w->batch, j->value + begin * s->model.n_measures);
    return call_end_named(&c, status, &w->error);
}

static osafl_status judge_all(const struct judging *j, struct error *error)
{
    struct judging copy = *j;
    const unsigned threads = pool_threads(j->session->context.pool);
    for (unsigned thread = 0; thread < threads; thread++)
        j->workers[thread]->error.text[0] = '\0';
    const osafl_status status =
        pool_run(j->session->context.pool, j->arrivals->n, EVALUATION_BATCH, judge_chunk, &copy);
    if (status == OSAFL_OK)
        return OSAFL_OK;
    for (unsigned thread = 0; thread < threads; thread++) {
        if (j->workers[thread]->error.text[0] != '\0')
            return error_set(error, status, "%s", j->workers[thread]->error.text);
    }
    return error_set(error, status, "judging arrivals failed");
}

osafl_status prequential_add(const struct session *s, struct worker *const *workers, const float *w,
                             const struct arrivals *a, struct prequential *p, struct error *error)
{
    const uint32_t measures = s->model.n_measures;
    if (a->n > p->room) {
        free(p->value);
        p->value = calloc((size_t)a->n * measures, sizeof *p->value);
        p->room = p->value != NULL ? a->n : 0;
    }
    if (p->room == 0)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for the measures of %u arrivals",
                         a->n);
    const struct judging j = {
        .session = s, .workers = workers, .w = w, .arrivals = a, .value = p->value};
    OSAFL_TRY(judge_all(&j, error));
    for (uint32_t i = 0; i < a->n; i++) {
        for (uint32_t m = 0; m < measures; m++)
            p->mean[m] += p->value[(size_t)i * measures + m];
    }
    p->samples += a->n;
    return OSAFL_OK;
}

void prequential_end(const struct session *s, struct prequential *p)
{
    for (uint32_t m = 0; m < s->model.n_measures; m++)
        p->mean[m] /= (double)p->samples; /* 0 / 0 is the NAN that is promised */
}
