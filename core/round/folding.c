/* folding.c - updates that are added up as they are made. */
#include "folding.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "engine_state.h"
#include "plugin/pool.h"
#include "plugin/ranks.h"

struct folding {
    struct engine *engine;
    uint32_t window;          /* tasks at a time */
    double *sum;              /* [dim] */
    const struct code **code; /* [window] */
    uint32_t folded;          /* updates so far */
    bool asked;
    double train_s;
    osafl_status status; /* of training */
    struct error error;
};

static uint32_t window_of(const struct session *s)
{
    const struct ranks *ranks = s->context.ranks;
    return FOLDING_PER_THREAD *
           (ranks != NULL ? ranks_threads(ranks) : pool_threads(s->context.pool));
}

bool folding_is_possible(const struct session *s)
{
    const struct experiment *x = s->experiment;
    return s->aggregator.one_sum != 0 && s->slots == 1 && session_has_link(s) &&
           x->training.enabled && x->uplink.late.index != LATE_CARRY &&
           x->general.on_divergence.index == 0;
}

bool folding_suits(const struct engine *e)
{
    return folding_is_possible(e->session) && e->theory == NULL &&
           e->n_tasks > window_of(e->session);
}

/* What is known of the updates beforehand: all but the loss and the norm. */
static void announce_updates(struct engine *e)
{
    e->n_updates = 0;
    for (uint32_t k = 0; k < e->n_tasks; k++) {
        const struct train_task *task = &e->task[k];
        const struct train_result known = {
            .steps = (uint32_t)engine_client_steps(e->session, task->local_rounds, task->store.n),
            .rate = e->learning_rate,
            .train_loss = (double)NAN,
            .norm = (double)NAN,
        };
        if (!task->lost)
            e->update[e->n_updates++] = engine_client_update(e, k, &known);
    }
}

static osafl_status train_window(struct folding *f, uint32_t first, uint32_t stop)
{
    struct engine *e = f->engine;
    const double begun = now_s();
    f->status = engine_train_tasks(e, first, stop, &f->error);
    for (uint32_t k = first; f->status == OSAFL_OK && k < stop; k++)
        if (e->result[k].outcome == TRAIN_DIVERGED)
            f->status = engine_handle_divergence(e, &f->error);
    f->train_s += now_s() - begun;
    return f->status;
}

/* The updates of tasks [first, stop) into those that were announced; returns how many. */
static uint32_t complete_updates(struct folding *f, uint32_t first, uint32_t stop)
{
    struct engine *e = f->engine;
    uint32_t n = 0;
    for (uint32_t k = first; k < stop; k++) {
        const struct train_result *r = &e->result[k];
        if (r->outcome != TRAIN_ARRIVED)
            continue;
        struct update *update = &e->update[f->folded + n];
        assert(update->client == e->task[k].client && update->steps == r->steps);
        update->train_loss = r->train_loss;
        update->norm = r->norm;
        update->code = r->code;
        f->code[n++] = &r->code[0];
    }
    return n;
}

static osafl_status fold_window(struct folding *f, osafl_call *c, uint32_t n, const double *weight)
{
    const struct session *s = f->engine->session;
    uint64_t bad = 0;
    OSAFL_TRY(updates_fold(&s->codec, c, f->code, n, weight + f->folded, f->sum, &bad));
    if (bad == s->codec.dim)
        return OSAFL_OK;
    return engine_blame_update(s, &f->engine->update[f->folded], n, bad, f->sum[bad], c);
}

static void drop_window(struct folding *f, uint32_t first, uint32_t stop, uint32_t n)
{
    struct engine *e = f->engine;
    for (uint32_t k = first; k < stop; k++)
        train_result_drop_codes(e->session, &e->result[k]);
    for (uint32_t j = 0; j < n; j++)
        e->update[f->folded + j].code = NULL;
    f->folded += n;
}

/* Trains for all, window by window.  c, weight: of the sum; NULL: nobody wants it. */
static osafl_status train_all(struct folding *f, osafl_call *c, const double *weight)
{
    const uint32_t tasks = f->engine->n_tasks;
    osafl_status status = OSAFL_OK;
    for (uint32_t first = 0; status == OSAFL_OK && first < tasks; first += f->window) {
        const uint32_t stop = tasks - first < f->window ? tasks : first + f->window;
        if (c != NULL)
            call_pause(c);
        status = train_window(f, first, stop);
        if (c != NULL)
            call_resume(c);
        if (status != OSAFL_OK)
            break;
        const uint32_t n = complete_updates(f, first, stop);
        if (c != NULL)
            status = fold_window(f, c, n, weight);
        drop_window(f, first, stop, n);
    }
    return status;
}

/* update_source.sum */
static osafl_status sum_updates(void *arg, osafl_call *c, const double *weight, const float *base,
                                float *out)
{
    struct folding *f = arg;
    const uint64_t dim = f->engine->session->codec.dim;
    if (f->asked)
        return core_host.fail(c, OSAFL_E_BUG,
                              "asked for a second sum of the updates, and describes one (one_sum)");
    f->asked = true;
    for (uint64_t i = 0; i < dim; i++)
        f->sum[i] = base != NULL ? (double)base[i] : 0.0;
    const osafl_status status = train_all(f, c, weight);
    if (f->status != OSAFL_OK)
        return core_host.fail(c, f->status, "%s", f->error.text);
    OSAFL_TRY(status);
    for (uint64_t i = 0; i < dim; i++)
        out[i] = (float)f->sum[i];
    return OSAFL_OK;
}

static osafl_status aggregate(struct folding *f, struct error *error)
{
    struct engine *e = f->engine;
    const struct update_source source = {.sum = sum_updates, .arg = f};
    e->source = &source;
    osafl_status status = engine_aggregate(e, &e->session->instance[OSAFL_KIND_AGGREGATOR],
                                           e->update, e->n_updates, &e->kept, e->w, error);
    e->source = NULL;
    if (status == OSAFL_OK && !f->asked) /* a rule that leaves w as it is */
        status = train_all(f, NULL, NULL);
    if (f->status == OSAFL_OK)
        return status;
    *error = f->error; /* not the aggregator's */
    return f->status;
}

osafl_status folding_round(struct engine *e, double *train_s, struct error *error)
{
    struct folding f = {.engine = e, .window = window_of(e->session)};
    f.sum = memory_zeroed(e->session->codec.dim, sizeof *f.sum, VECTOR_ALIGNMENT);
    f.code = calloc(f.window, sizeof(struct code *));
    osafl_status status = OSAFL_OK;
    announce_updates(e);
    if (f.sum == NULL || f.code == NULL)
        status = error_set(error, OSAFL_E_NOMEM, "out of memory for the sum of the updates");
    else
        status = aggregate(&f, error);
    *train_s = f.train_s;
    memory_free(f.sum);
    free(f.code);
    return status;
}
