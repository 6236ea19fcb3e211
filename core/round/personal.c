/* personal.c - how good is each client's own model? */
#include "personal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine_ranks.h"
#include "plugin/pool.h"
#include "plugin/ranks.h"

/* Sums over the samples of each label. */
struct label_sums {
    double *sum;     /* [labels] */
    uint64_t *count; /* [labels] */
};

/* The next samples whose labels the client holds: fills w->index, and returns how many. */
static uint32_t next_samples(const struct personal_evaluation *p, const uint32_t *histogram,
                             struct worker *w, uint64_t *at)
{
    uint32_t n = 0;
    for (; *at < p->session->evaluation_samples && n < EVALUATION_BATCH; (*at)++)
        if (histogram[p->global->label[*at]] > 0)
            w->index[n++] = *at;
    return n;
}

static osafl_status add_samples(const struct personal_evaluation *p, uint32_t client,
                                const uint32_t *histogram, struct worker *w,
                                const struct label_sums *sums)
{
    const struct session *s = p->session;
    const uint32_t measures = s->model.n_measures;
    uint64_t at = 0;
    uint32_t n;
    double value[EVALUATION_BATCH * SESSION_MAX_MEASURES];
    while ((n = next_samples(p, histogram, w, &at)) > 0) {
        if (s->context.cancelled != NULL && *s->context.cancelled != 0)
            return error_set(&w->error, OSAFL_E_CANCELLED, "the run was stopped");
        OSAFL_TRY(worker_read(w, session_evaluation_split(s), n, client, p->round));
        OSAFL_TRY(evaluate_batch(s, w, client, p->round, w->w, value));
        for (uint32_t i = 0; i < n; i++) {
            sums->sum[w->batch.label[i]] += value[i * measures];
            sums->count[w->batch.label[i]]++;
        }
    }
    return OSAFL_OK;
}

/* The means of the labels, weighted by the histogram. */
static double weigh(const struct session *s, const struct label_sums *sums,
                    const uint32_t *histogram)
{
    double sum = 0.0;
    uint64_t samples = 0;
    for (uint32_t label = 0; label < s->dataset.labels; label++) {
        if (histogram[label] == 0)
            continue;
        sum += (double)histogram[label] * sums->sum[label] / (double)sums->count[label];
        samples += histogram[label];
    }
    return samples > 0 ? sum / (double)samples : (double)NAN;
}

static osafl_status evaluate_client(struct personal_evaluation *p, uint32_t client,
                                    struct worker *w)
{
    const struct session *s = p->session;
    const uint32_t *histogram = world_histogram(p->world, client);
    const struct train_task task = {
        .client = client,
        .round = p->round,
        .store = world_store(p->world, client),
        .w = p->w,
        .broadcast = p->broadcast,
        .state = p->state[client].floats != NULL ? &p->state[client] : &p->newcomer,
    };
    const struct label_sums sums = {.sum = calloc(s->dataset.labels, sizeof *sums.sum),
                                    .count = calloc(s->dataset.labels, sizeof *sums.count)};
    osafl_status status = OSAFL_OK;
    if (sums.sum == NULL || sums.count == NULL)
        status = error_set(&w->error, OSAFL_E_NOMEM, "out of memory for an evaluation");
    if (status == OSAFL_OK)
        status = train_personal_model(s, &task, w);
    if (status == OSAFL_OK)
        status = add_samples(p, client, histogram, w, &sums);
    if (status == OSAFL_OK)
        p->measure[client] = weigh(s, &sums, histogram);
    free(sums.sum);
    free(sums.count);
    return status;
}

static osafl_status evaluate_clients(void *arg, uint64_t begin, uint64_t end, unsigned thread)
{
    struct personal_evaluation *p = arg;
    struct worker *w = p->workers[thread];
    const uint32_t own = ranks_own(p->session->context.ranks);
    for (uint64_t u = begin; u < end; u++)
        if (engine_home(p->session, (uint32_t)u) == own)
            OSAFL_TRY(evaluate_client(p, (uint32_t)u, w));
    return OSAFL_OK;
}

/* What the ranks have found of the clients that train there. */
static osafl_status share_measures(const struct personal_evaluation *p, osafl_status status,
                                   struct error *error)
{
    const struct session *s = p->session;
    const struct rank_piece *all = NULL;
    const size_t bytes = s->facts.clients * sizeof(double);
    if (s->context.ranks == NULL)
        return status;
    OSAFL_TRY(ranks_share(s->context.ranks, status, p->measure, bytes, &all, error));
    for (uint32_t u = 0; u < s->facts.clients; u++) {
        const struct rank_piece *piece = &all[engine_home(s, u)];
        if (piece->bytes != bytes)
            return error_set(error, OSAFL_E_BUG, "a rank gives no evaluation");
        memcpy(&p->measure[u], piece->data + u * sizeof(double), sizeof(double));
    }
    return OSAFL_OK;
}

osafl_status personal_evaluate(struct personal_evaluation *p, struct error *error)
{
    const struct session *s = p->session;
    for (unsigned thread = 0; thread < pool_threads(s->context.pool); thread++)
        p->workers[thread]->error.text[0] = '\0';
    const osafl_status status = pool_run(s->context.pool, s->facts.clients, 1, evaluate_clients, p);
    if (status != OSAFL_OK)
        evaluation_failed(s, p->workers, status, error);
    return share_measures(p, status, error);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

void measure_spread(const double *measure, uint32_t n, bool higher_is_better, double *sorted,
                    double out[SPREADS])
{
    uint32_t have = 0;
    double sum = 0.0;
    double squares = 0.0;
    double worst = 0.0;
    double deviations = 0.0;
    for (uint32_t u = 0; u < n; u++)
        if (isfinite(measure[u]))
            sorted[have++] = measure[u];
    qsort(sorted, have, sizeof *sorted, compare);
    for (uint32_t k = 0; k < have; k++) {
        sum += sorted[k];
        squares += sorted[k] * sorted[k];
    }
    const double mean = sum / have; /* 0 / 0: NAN */
    const uint32_t tenth = (have + 9) / 10;
    for (uint32_t k = 0; k < have; k++)
        deviations += (sorted[k] - mean) * (sorted[k] - mean);
    for (uint32_t k = 0; k < tenth; k++)
        worst += sorted[higher_is_better ? k : have - 1 - k];
    out[SPREAD_MEAN] = mean;
    out[SPREAD_DEVIATION] = sqrt(deviations / have);
    out[SPREAD_WORST_TENTH] = worst / tenth;
    out[SPREAD_JAIN] = squares > 0.0 ? sum * sum / (have * squares) : (double)NAN;
}
