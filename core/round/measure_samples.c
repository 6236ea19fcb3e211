/* measure_samples.c - what the model makes of single samples of a client. */
#include "measure_samples.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "client_filter.h"
#include "plugin/pool.h"

/* One forward pass on the worker's batch; out: [samples][measure_stride]. */
static osafl_status ask_model(const struct measuring *m, struct worker *w, double *out)
{
    const struct session *s = m->session;
    const struct instance *model = &s->instance[OSAFL_KIND_MODEL];
    const osafl_model_vt *vt = session_model(s);
    osafl_call c;
    call_begin(&c, model, m->client, m->round);
    const osafl_status status =
        s->measure_is_score ? vt->score(model->self, &c, w->workspace, m->w, &w->batch, out)
                            : vt->evaluate(model->self, &c, w->workspace, m->w, &w->batch, out);
    return call_end_named(&c, status, &w->error);
}

/* Samples [begin, end). */
static osafl_status measure_chunk(void *arg, uint64_t begin, uint64_t end, unsigned thread)
{
    const struct measuring *m = arg;
    const struct session *s = m->session;
    struct worker *w = m->workers[thread];
    const uint32_t n = (uint32_t)(end - begin);
    double out[EVALUATION_BATCH * SESSION_MAX_MEASURES];
    w->error.text[0] = '\0';
    if (s->context.cancelled != NULL && *s->context.cancelled != 0)
        return error_set(&w->error, OSAFL_E_CANCELLED, "the run was stopped");
    memcpy(w->index, m->sample + begin, n * sizeof *w->index);
    OSAFL_TRY(worker_read(w, OSAFL_SPLIT_TRAIN, n, m->client, m->round));
    OSAFL_TRY(filter_labels(s, m->client, m->round, n, w->index, w->batch.label, &w->error));
    OSAFL_TRY(ask_model(m, w, out));
    for (uint32_t i = 0; i < n; i++) {
        const double value = out[i * s->measure_stride + s->measure_index];
        m->value[begin + i] = isfinite(value) ? value : DBL_MAX;
    }
    return OSAFL_OK;
}

osafl_status measure_samples(const struct measuring *m, uint32_t n, struct error *error)
{
    struct measuring copy = *m;
    const unsigned threads = pool_threads(m->session->context.pool);
    for (unsigned thread = 0; thread < threads; thread++)
        m->workers[thread]->error.text[0] = '\0';
    const osafl_status status =
        pool_run(m->session->context.pool, n, EVALUATION_BATCH, measure_chunk, &copy);
    if (status == OSAFL_OK)
        return OSAFL_OK;
    for (unsigned thread = 0; thread < threads; thread++)
        if (m->workers[thread]->error.text[0] != '\0')
            return error_set(error, status, "%s", m->workers[thread]->error.text);
    return error_set(error, status, "measuring samples failed");
}
