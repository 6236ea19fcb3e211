/* engine.c - the round loop. */
#include "engine.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/finite.h"
#include "base/memory.h"
#include "base/streams.h"
#include "client_filter.h"
#include "confusion.h"
#include "engine_state.h"
#include "folding.h"
#include "osafl/random.h"
#include "plugin/kinds.h"
#include "plugin/pool.h"
#include "theory.h"

static uint32_t count_clients(const struct engine *e)
{
    return e->session->facts.clients;
}

uint32_t engine_round(const struct engine *e)
{
    return e->round;
}

const float *engine_model(const struct engine *e)
{
    return e->w;
}

/* ---- local training ------------------------------------------------------------------------ */

/* A draw of its own for every client and round, whoever takes part. */
static bool uplink_loses(const struct engine *e, uint32_t client)
{
    const double probability = e->session->experiment->uplink.loss_probability;
    uint32_t word[2];
    if (probability <= 0.0)
        return false;
    streams_fill(e->session->context.seed, 0, STREAM_UPLINK_LOSS, client, e->round, 0, word, 2);
    return osafl_uniform(word) < probability;
}

/* SGD steps of so many local rounds on a store. */
static uint64_t count_steps(const struct session *s, uint64_t local_rounds, uint64_t minibatches,
                            uint64_t stored)
{
    const uint64_t batch = s->facts.batch;
    const uint64_t pass = (stored + batch - 1) / batch;
    return local_rounds * (minibatches > 0 ? minibatches : pass);
}

static uint64_t steps_of(const struct engine *e, const struct train_task *task)
{
    return count_steps(e->session, task->local_rounds, task->minibatches, task->store.n);
}

static void add_task(struct engine *e, uint32_t client, const struct train_task *task)
{
    struct train_task *t = &e->task[e->n_tasks];
    *t = *task;
    t->client = client;
    t->round = e->round;
    t->w = e->w;
    t->broadcast = e->broadcast;
    t->state = &e->state[client];
    e->result[e->n_tasks] = (struct train_result){0};
    e->n_tasks++;
}

static void list_client_tasks(struct engine *e)
{
    const osafl_resource_answer *answer = &e->participation.answer;
    for (uint32_t u = 0; u < count_clients(e); u++) {
        e->reason[u] = e->participation.busy[u] ? (uint32_t)OUT_BUSY : answer->reason[u];
        if (answer->local_rounds[u] == 0)
            continue;
        const struct train_task task = {
            .local_rounds = answer->local_rounds[u],
            .minibatches = (uint64_t)e->session->experiment->training.minibatches,
            .store = world_store(e->world, u),
            .gain = e->participation.known_gain[u],
            .most_bits_per_s = e->participation.most_bits_per_s[u],
            .lost = uplink_loses(e, u) || participation_is_stale(&e->participation, u) ||
                    e->participation.outage[u],
        };
        add_task(e, u, &task);
    }
}

uint64_t engine_client_steps(const struct session *s, uint64_t local_rounds, uint64_t stored)
{
    return count_steps(s, local_rounds, (uint64_t)s->experiment->training.minibatches, stored);
}

uint64_t engine_steps_per_round(const struct session *s, const uint64_t *stored)
{
    if (s->pooled_steps > 0)
        return s->pooled_steps;
    uint64_t steps = 0;
    for (uint32_t u = 0; u < s->facts.clients; u++)
        if (stored[u] > 0)
            steps += engine_client_steps(s, s->facts.max_local_rounds, stored[u]);
    return steps;
}

/* Without a link: one task for all stores. */
static void list_pooled_task(struct engine *e)
{
    const struct train_task task =
        pooled_task(&e->pooled, e->session, e->world,
                    engine_steps_per_round(e->session, world_stored(e->world)));
    memset(e->reason, 0, count_clients(e) * sizeof *e->reason);
    if (task.store.n > 0)
        add_task(e, 0, &task);
}

static osafl_status collect_broadcast(struct engine *e, struct error *error)
{
    const struct instance *aggregator = &e->session->instance[OSAFL_KIND_AGGREGATOR];
    const uint64_t floats = e->session->aggregator.broadcast_floats;
    osafl_call c;
    if (floats == 0)
        return OSAFL_OK;
    call_begin(&c, aggregator, OSAFL_NO_CLIENT, e->round);
    osafl_status status =
        session_aggregator(e->session)->broadcast(aggregator->self, &c, e->broadcast);
    if (status == OSAFL_OK && !all_finite(e->broadcast, floats))
        status =
            core_host.fail(&c, OSAFL_E_NUMERIC, "broadcast() sends a value that is not finite");
    return call_end_named(&c, status, error);
}

static void count_work(struct engine *e, uint64_t steps)
{
    if (e->progress == NULL)
        return;
    pthread_mutex_lock(&e->progress_lock);
    e->work_done += steps;
    e->progress(e->progress_arg, e->round, e->work_done, e->work_all);
    pthread_mutex_unlock(&e->progress_lock);
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Of tasks [first, stop), longest first, equal ones in the order of the clients, so that no thread
 * starts a long one when the others are done. */
static void sort_tasks(struct engine *e, uint32_t first, uint32_t stop)
{
    for (uint32_t k = first; k < stop; k++)
        e->order[k] = (UINT32_MAX - steps_of(e, &e->task[k])) << 32 | k;
    qsort(e->order + first, stop - first, sizeof *e->order, compare_keys);
}

static uint32_t task_at(const struct engine *e, uint64_t position)
{
    return (uint32_t)(e->order[position] & UINT32_MAX);
}

struct task_span {
    struct engine *engine;
    uint32_t first;
};

static osafl_status run_tasks(void *arg, uint64_t begin, uint64_t end, unsigned thread)
{
    const struct task_span *span = arg;
    struct engine *e = span->engine;
    for (uint64_t j = begin; j < end; j++) {
        const uint32_t k = task_at(e, span->first + j);
        OSAFL_TRY(train_client(e->session, &e->task[k], e->workers[thread], &e->result[k]));
        count_work(e, steps_of(e, &e->task[k]));
    }
    return OSAFL_OK;
}

/* The reason that the first of the tasks at these places gives. */
static osafl_status explain_failure(const struct engine *e, uint32_t first, uint32_t stop,
                                    osafl_status status, struct error *error)
{
    for (uint32_t j = first; j < stop; j++) {
        const struct train_result *r = &e->result[task_at(e, j)];
        if (r->why != NULL && r->outcome != TRAIN_DIVERGED)
            return error_set(error, status, "%s", r->why);
    }
    return error_set(error, status, "local training failed in round %u", e->round);
}

osafl_status engine_count_work(struct engine *e, struct error *error)
{
    e->work_done = 0;
    e->work_all = 0;
    for (uint32_t k = 0; k < e->n_tasks; k++) {
        const uint64_t steps = steps_of(e, &e->task[k]);
        e->work_all += steps;
        if (steps > UINT32_MAX || e->task[k].store.n > UINT32_MAX)
            return error_set(error, OSAFL_E_CONFIG,
                             "client %u would take %llu SGD steps in one round; lower "
                             "training.minibatches or training.max_local_rounds",
                             e->task[k].client, (unsigned long long)steps);
    }
    return OSAFL_OK;
}

/* What other ranks have done of these tasks. */
static void count_others(struct engine *e, uint32_t first, uint32_t stop)
{
    for (uint32_t k = first; e->trainer != NULL && k < stop; k++)
        if (e->trainer[k] != ranks_own(e->session->context.ranks))
            count_work(e, steps_of(e, &e->task[k]));
}

static uint64_t task_steps(const struct engine *e, uint32_t k)
{
    return steps_of(e, &e->task[k]);
}

osafl_status engine_train_tasks(struct engine *e, uint32_t first, uint32_t stop,
                                struct error *error)
{
    struct task_span span = {.engine = e, .first = first};
    sort_tasks(e, first, stop);
    const uint32_t own = engine_own_tasks(e, first, stop, task_steps);
    e->is_training = true;
    osafl_status status = pool_run(e->session->context.pool, own, 1, run_tasks, &span);
    e->is_training = false;
    if (status != OSAFL_OK)
        explain_failure(e, first, first + own, status, error);
    OSAFL_TRY(engine_share_results(e, first, own, status, error));
    count_others(e, first, stop);
    return OSAFL_OK;
}

static void warn(const struct engine *e, const char *line)
{
    const struct host_context *context = &e->session->context;
    if (context->log != NULL)
        context->log(context->log_arg, OSAFL_LOG_WARN, line);
    else
        fprintf(stderr, "warning: %s\n", line);
}

/* Divergence stops the run, or drops the client with a reason in its record.  What diverges often
 * does so again, so only the first such round is reported; the end of the run says how many. */
osafl_status engine_handle_divergence(struct engine *e, struct error *error)
{
    const bool stop = e->session->experiment->general.on_divergence.index == 0;
    const struct train_result *first = NULL;
    unsigned others = 0;
    for (uint32_t k = 0; k < e->n_tasks; k++) {
        if (e->result[k].outcome != TRAIN_DIVERGED)
            continue;
        if (first == NULL)
            first = &e->result[k];
        else
            others++;
    }
    if (first == NULL)
        return OSAFL_OK;
    const char *why = first->why != NULL ? first->why : "an update is not finite";
    if (stop)
        return error_set(error, OSAFL_E_NUMERIC,
                         "%s; on_divergence = \"drop\" continues without the client", why);
    char line[ERROR_BYTES + 160];
    char also[64] = "";
    if (others > 0)
        snprintf(also, sizeof also, ", as are %u others of this round", others);
    snprintf(line, sizeof line,
             "%s; its update is dropped%s; further ones are counted at the end, and clients.csv "
             "names each",
             why, also);
    if (!e->warned_of_divergence)
        warn(e, line);
    e->warned_of_divergence = true;
    return OSAFL_OK;
}

/* ---- aggregation --------------------------------------------------------------------------- */

static struct update pooled_update(const struct engine *e)
{
    const struct train_task *task = &e->task[0];
    const struct train_result *r = &e->result[0];
    return (struct update){
        .client = task->client,
        .local_rounds = task->local_rounds,
        .steps = r->steps,
        .rate = r->rate,
        .samples = task->store.n,
        .alpha = 1.0,
        .train_loss = r->train_loss,
        .start_round = e->round,
        .arrived_s = (double)e->round * e->session->facts.deadline_s,
        .norm = r->norm,
        .histogram = e->pooled.histogram,
        .code = r->code,
    };
}

struct update engine_client_update(const struct engine *e, uint32_t k, const struct train_result *r)
{
    const osafl_resource_answer *a = &e->participation.answer;
    const uint32_t u = e->task[k].client;
    const double start_s = (double)e->round * e->session->facts.deadline_s;
    return (struct update){
        .client = u,
        .local_rounds = e->task[k].local_rounds,
        .steps = r->steps,
        .rate = r->rate,
        .samples = e->task[k].store.n,
        .alpha = world_alpha(e->world, u),
        .train_loss = r->train_loss,
        .start_round = e->round,
        .arrived_s = start_s + e->participation.receive_s[u] + a->compute_s[u] + a->upload_s[u],
        .gain = e->participation.known_gain[u],
        .channel_gain = e->participation.gain[u],
        .power_w = a->power_w[u],
        .receive_s = e->participation.receive_s[u],
        .compute_s = a->compute_s[u],
        .upload_s = a->upload_s[u],
        .joules = e->participation.receive_j[u] + a->compute_j[u] + a->upload_j[u],
        .norm = r->norm,
        .histogram = world_histogram(e->world, u),
        .code = r->code,
    };
}

/* The updates that arrive in this round, clients ascending; those that will be late are put
 * aside. */
static osafl_status gather_updates(struct engine *e, struct error *error)
{
    const uint32_t *late = e->participation.late;
    const bool linked = session_has_link(e->session);
    e->n_updates = 0;
    bool enough = late_updates_due(&e->late, e->round, e->update, &e->n_updates);
    for (uint32_t k = 0; enough && k < e->n_tasks; k++) {
        if (e->result[k].outcome != TRAIN_ARRIVED)
            continue;
        const struct update one =
            linked ? engine_client_update(e, k, &e->result[k]) : pooled_update(e);
        if (late[one.client] > 0)
            enough = late_updates_add(&e->late, &one, e->round + late[one.client]);
        else
            e->update[e->n_updates++] = one;
    }
    if (!enough)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for the updates of a round");
    updates_sort(e->update, e->n_updates);
    return OSAFL_OK;
}

osafl_status engine_blame_update(const struct session *s, const struct update *update, uint32_t n,
                                 uint64_t i, double x, osafl_call *c)
{
    for (uint32_t k = 0; k < n; k++) {
        float decoded = 0.0f;
        OSAFL_TRY(codec_decode(&s->codec, c, &update[k].code[0], i, i + 1, &decoded));
        if (!isfinite(decoded))
            return core_host.fail(c, OSAFL_E_NUMERIC,
                                  "parameter %llu became %g because the update of client %u "
                                  "decodes to %g there (quantizer/%s)",
                                  (unsigned long long)i, x, update[k].client, (double)decoded,
                                  codec_name(&s->codec));
    }
    return OSAFL_OK;
}

/* A model that is not finite is attributed to the quantizer where a code decodes to such values,
 * and at the aggregator's otherwise. */
static osafl_status check_model(const struct session *s, const struct update *update, uint32_t n,
                                const float *w, osafl_call *c)
{
    const uint64_t dim = s->codec.dim;
    uint64_t i = 0;
    while (i < dim && isfinite(w[i]))
        i++;
    if (i == dim)
        return OSAFL_OK;
    OSAFL_TRY(engine_blame_update(s, update, n, i, (double)w[i], c));
    return core_host.fail(c, OSAFL_E_NUMERIC,
                          "aggregate() made parameter %llu %g from finite updates; a smaller "
                          "learning rate may help",
                          (unsigned long long)i, (double)w[i]);
}

osafl_status engine_aggregate(const struct engine *e, const struct instance *aggregator,
                              const struct update *update, uint32_t n, struct kept_updates *kept,
                              float *w, struct error *error)
{
    const struct session *s = e->session;
    if (n == 0 && !s->aggregator.wants_empty_rounds)
        return OSAFL_OK; /* nothing arrived: w stays */
    const struct update_round facts = {
        .round = e->round,
        .rounds = s->facts.rounds,
        .clients = session_trainees(s),
        .labels = s->dataset.labels,
        .slots = s->slots,
        .noise_w = s->link.noise_w_per_hz * s->link.bandwidth_hz,
    };
    struct update_set set;
    osafl_call c;
    call_begin(&c, aggregator, OSAFL_NO_CLIENT, e->round);
    osafl_status status = updates_open(&set, &s->codec, &facts, update, n, kept, &c);
    if (status == OSAFL_OK) {
        set.source = e->source;
        status = session_aggregator(s)->aggregate(aggregator->self, &c, &set.view, w);
        updates_close(&set);
    }
    if (status == OSAFL_OK) /* of updates that are gone, folding has looked at each */
        status = check_model(s, update, e->source != NULL ? 0 : n, w, &c);
    return call_end_named(&c, status, error);
}

static osafl_status aggregate(struct engine *e, struct error *error)
{
    const struct session *s = e->session;
    if (!s->experiment->training.enabled)
        return OSAFL_OK;
    return engine_aggregate(e, &s->instance[OSAFL_KIND_AGGREGATOR], e->update, e->n_updates,
                            &e->kept, e->w, error);
}

/* ---- the record of a round ----------------------------------------------------------------- */

/* Of all clients, before any has trained; entropies of those that have a row in clients.csv. */
static void record_stores(struct engine *e)
{
    const int32_t rows = experiment_client_rows(e->session->experiment);
    for (uint32_t u = 0; u < count_clients(e); u++) {
        e->train_loss[u] = (double)NAN;
        e->samples[u] = world_stored(e->world)[u];
        const bool asked = e->reason[u] != OSAFL_OUT_ABSENT;
        if (rows == CLIENT_ROWS_ALL || (rows == CLIENT_ROWS_ASKED && asked))
            e->entropy[u] = world_entropy(e->world, u);
    }
}

/* How it went for each client that trained. */
static void record_clients(struct engine *e)
{
    for (uint32_t k = 0; k < e->n_tasks; k++) {
        const uint32_t client = e->task[k].client;
        e->train_loss[client] = e->result[k].train_loss;
        if (e->result[k].outcome == TRAIN_DIVERGED)
            e->reason[client] = OUT_DIVERGED;
        else if (participation_is_stale(&e->participation, client))
            e->reason[client] = OUT_STALE;
        else if (e->participation.outage[client])
            e->reason[client] = OUT_OUTAGE;
        else if (e->result[k].outcome == TRAIN_LOST)
            e->reason[client] = OUT_LOST;
        else if (e->participation.late[client] > 0)
            e->reason[client] = OUT_LATE;
    }
    for (uint32_t k = 0; k < e->n_updates; k++)
        e->reason[e->update[k].client] = 0; /* late ones that arrived were busy until now */
}

/* Means over the updates that arrived. */
static void record_round(const struct engine *e, struct round_row *row)
{
    uint64_t local_rounds = 0;
    *row = (struct round_row){
        .round = e->round,
        .learning_rate = e->learning_rate,
        .simulated_s = (double)(e->round + 1) * e->session->facts.deadline_s,
        .participants = e->n_updates,
        .mean_local_rounds = (double)NAN,
        .payload_bits = (double)NAN,
        .air_bits = (double)NAN,
        .compute_j = (double)NAN,
        .upload_j = (double)NAN,
        .receive_j = (double)NAN,
    };
    for (uint32_t k = 0; k < e->n_updates; k++) {
        row->ages[AGE_UPDATES] += e->round - e->update[k].start_round;
        row->train_loss += e->update[k].train_loss;
        local_rounds += e->update[k].local_rounds;
    }
    for (uint32_t k = 0; k < e->n_tasks; k++)
        row->diverged += e->result[k].outcome == TRAIN_DIVERGED;
    row->train_loss /= (double)row->participants; /* 0 / 0: not measured */
    row->ages[AGE_UPDATES] /= (double)row->participants;
    if (session_has_link(e->session))
        row->mean_local_rounds = (double)local_rounds / (double)row->participants;
}

/* What the clients spent that began in this round, in vain or not. */
static void record_costs(const struct engine *e, struct round_row *row)
{
    row->payload_bits = row->air_bits = row->compute_j = row->upload_j = row->receive_j = 0.0;
    for (uint32_t k = 0; k < e->n_tasks; k++) {
        const struct train_result *r = &e->result[k];
        const uint32_t client = e->task[k].client;
        row->compute_j += e->participation.answer.compute_j[client];
        row->receive_j += e->participation.receive_j[client];
        if (r->outcome == TRAIN_DIVERGED)
            continue;
        row->upload_j += e->participation.answer.upload_j[client];
        row->payload_bits += e->participation.payload_bits[client];
        row->air_bits += r->air_bits;
    }
}

/* How good the model is for each client: its own, or the global one by the labels that it holds. */
static osafl_status judge_clients(struct engine *e, struct round_report *report,
                                  struct error *error)
{
    const struct session *s = e->session;
    struct personal_evaluation p = {
        .session = s,
        .workers = e->workers,
        .world = e->world,
        .global = &e->evaluation,
        .round = e->round,
        .w = e->w,
        .broadcast = e->broadcast,
        .state = e->state,
        .newcomer = e->newcomer,
        .measure = e->local_measure,
    };
    if (session_optimizer(s)->personal != NULL && session_has_link(s))
        OSAFL_TRY(personal_evaluate(&p, error));
    else
        for (uint32_t u = 0; u < count_clients(e); u++)
            e->local_measure[u] =
                evaluation_for_labels(s, &e->evaluation, 0, world_histogram(e->world, u));
    measure_spread(e->local_measure, count_clients(e), s->model.measures[0].better != OSAFL_LOWER,
                   e->sorted, e->spread);
    report->row.spread = e->spread;
    return OSAFL_OK;
}

static osafl_status evaluate(struct engine *e, struct round_report *report, struct error *error)
{
    const struct session *s = e->session;
    const uint32_t measures = s->model.n_measures;
    const uint64_t done = (uint64_t)e->round + 1;
    if (!s->experiment->training.enabled ||
        (done % (uint64_t)s->experiment->evaluation.every != 0 && done != s->facts.rounds))
        return OSAFL_OK;
    OSAFL_TRY(evaluate_model(s, e->workers, e->round, e->w, &e->evaluation, error));
    for (uint32_t m = 0; m < measures; m++)
        e->columns.value[m] = e->evaluation.mean[m];
    if (isnan(e->columns.value[0])) {
        char line[256];
        snprintf(line, sizeof line, "model/%s, round %u: %s of the global model is not a number",
                 s->instance[OSAFL_KIND_MODEL].plugin->name, e->round, e->columns.name[0]);
        warn(e, line);
    }
    for (uint32_t j = measures; j < e->columns.n; j++)
        e->columns.value[j] = e->evaluation.label_mean[(j - measures) * measures];
    report->row.measure = e->columns.value;
    return e->local_measure != NULL ? judge_clients(e, report, error) : OSAFL_OK;
}

/* Seconds since *mark, which moves on to now. */
static double lap(double *mark)
{
    const double now = now_s();
    const double seconds = now - *mark;
    *mark = now;
    return seconds;
}

/* The round is empty then; only the first such round is reported. */
static void warn_of_nobody(struct engine *e)
{
    const bool all_away = memchr(world_present(e->world), 1, count_clients(e)) == NULL;
    const bool all_busy = !participation_has_candidates(&e->participation);
    const uint32_t kind = all_away ? OSAFL_KIND_ARRIVAL : OSAFL_KIND_SELECTION;
    char line[256];
    if (e->warned_of_nobody)
        return;
    snprintf(line, sizeof line,
             "%s/%s, round %u: %s, so the round is empty; rounds.csv shows further ones",
             kind_name(kind), e->session->instance[kind].plugin->name, e->round,
             all_away   ? "no available client has a sample"
             : all_busy ? "every available client is busy with a late update"
                        : "no client is selected");
    warn(e, line);
    e->warned_of_nobody = true;
}

/* What the server will know of its clients in later rounds. */
static void note_history(struct engine *e)
{
    struct history *h = &e->participation.history;
    const osafl_resource_answer *a = &e->participation.answer;
    for (uint32_t k = 0; k < e->n_tasks; k++) {
        const struct train_result *r = &e->result[k];
        const uint32_t u = e->task[k].client;
        const bool sent = r->outcome != TRAIN_DIVERGED;
        history_note_joules(
            h, u, e->participation.receive_j[u] + a->compute_j[u] + (sent ? a->upload_j[u] : 0.0));
    }
    for (uint32_t k = 0; k < e->n_updates; k++) {
        const struct update *x = &e->update[k];
        const struct history_update update = {
            .client = x->client,
            .start_round = x->start_round,
            .histogram = x->histogram,
            .train_loss = x->train_loss,
            .update_norm = x->norm,
            .seconds = x->receive_s + x->compute_s + x->upload_s,
        };
        history_note_update(h, &update);
    }
}

static void record(struct engine *e, struct round_row *row)
{
    record_stores(e);
    record_round(e, row);
    if (!session_has_link(e->session))
        return;
    record_clients(e);
    record_costs(e, row);
    note_history(e);
}

static osafl_status choose_participants(struct engine *e, struct error *error)
{
    if (!session_has_link(e->session)) {
        list_pooled_task(e);
        return OSAFL_OK;
    }
    OSAFL_TRY(participation_decide(&e->participation, e->round, error));
    if (e->participation.n_asked == 0)
        warn_of_nobody(e);
    list_client_tasks(e);
    return OSAFL_OK;
}

/* ---- the end of a round -------------------------------------------------------------------- */

/* A forward pass takes a third of the cycles of training on a sample: going back takes two. */
#define FORWARD_SHARE (1.0 / 3.0)

/* Joules of a forward pass on n samples, at the clock of the round, or the fastest where the client
 * took no part in it. */
static double forward_joules(const struct engine *e, uint32_t client, uint32_t n)
{
    const struct population *p = world_population(e->world);
    const double round_hz = e->participation.answer.clock_hz[client];
    const double clock_hz = round_hz > 0.0 ? round_hz : p->clock_max_hz[client];
    const double cycles =
        FORWARD_SHARE * n * participation_sample_bits(e->session) * p->cycles_per_bit[client];
    return 0.5 * e->session->experiment->clients.capacitance * cycles * clock_hz * clock_hz;
}

/* world_measure */
static osafl_status measure_for_deletion(void *arg, uint32_t client, uint32_t n,
                                         const uint64_t *sample, double *value, struct error *error)
{
    struct engine *e = arg;
    if (session_has_link(e->session)) {
        const double joules = forward_joules(e, client, n);
        e->measure_j += joules;
        history_note_joules(&e->participation.history, client, joules);
    }
    const struct measuring m = {.session = e->session,
                                .workers = e->workers,
                                .round = e->round,
                                .client = client,
                                .w = e->w_before,
                                .sample = sample,
                                .value = value};
    return measure_samples(&m, n, error);
}

/* world_watch */
static osafl_status judge_arrivals(void *arg, uint32_t client, uint32_t n, const uint64_t *sample,
                                   struct error *error)
{
    struct engine *e = arg;
    const struct arrivals a = {.client = client, .round = e->round, .n = n, .sample = sample};
    return prequential_add(e->session, e->workers, e->w_before, &a, &e->prequential, error);
}

static uint64_t count_arrivals(const struct engine *e)
{
    uint64_t n = 0;
    for (uint32_t u = 0; u < count_clients(e); u++)
        n += world_arrivals(e->world)[u];
    return n;
}

static osafl_status advance_world(struct engine *e, struct round_report *report,
                                  struct error *error)
{
    e->measure_j = 0.0;
    const bool judges = e->prequential.mean != NULL && e->session->experiment->training.enabled;
    if (e->session->deletion.measure != NULL)
        world_measure_with(e->world, measure_for_deletion, e);
    if (judges) {
        prequential_begin(e->session, &e->prequential);
        world_watch_arrivals(e->world, judge_arrivals, e);
    }
    OSAFL_TRY(world_advance(e->world, e->round, error));
    report->row.arrived = count_arrivals(e);
    if (judges) {
        prequential_end(e->session, &e->prequential);
        report->row.prequential = report->row.arrived > 0 ? e->prequential.mean : NULL;
    }
    if (e->session->experiment->results.ages) /* it looks at every stored sample */
        report->row.ages[AGE_STORED] = world_mean_age(e->world);
    if (e->mixes.mix != NULL && report->row.measure != NULL) {
        mix_measures_add(e->session, e->world, &e->evaluation, &e->mixes);
        report->row.mixes = e->mixes.value;
    }
    history_note_arrivals(&e->participation.history, world_arrivals(e->world));
    if (session_has_link(e->session))
        report->row.compute_j += e->measure_j;
    return e->theory != NULL ? theory_end_round(e->theory, e, error) : OSAFL_OK;
}

/* w^t, for those who ask for it after the server's step. */
static osafl_status keep_model(struct engine *e, struct error *error)
{
    if (e->w_before != NULL)
        memcpy(e->w_before, e->w, e->session->codec.dim * sizeof *e->w);
    return e->theory != NULL ? theory_keep(e->theory, e, error) : OSAFL_OK;
}

static osafl_status measure_round(struct engine *e, struct error *error)
{
    return e->theory != NULL ? theory_measure(e->theory, e, error) : OSAFL_OK;
}

static struct client_rows describe_clients(const struct engine *e, bool evaluated)
{
    const bool linked = session_has_link(e->session);
    return (struct client_rows){
        .round = e->round,
        .gain = linked ? e->participation.gain : NULL,
        .receive_s = e->participation.receive_s,
        .receive_j = e->participation.receive_j,
        .known_gain = e->participation.known_gain,
        .place = e->participation.place,
        .answer = linked ? &e->participation.answer : NULL,
        .reason = e->reason,
        .samples = e->samples,
        .train_loss = e->train_loss,
        .entropy = e->entropy,
        .measure = evaluated ? e->local_measure : NULL,
    };
}

osafl_status engine_confusion(struct engine *e, const float *w, struct confusion *out,
                              struct error *error)
{
    return confusion_count(e->session, e->workers, w, &e->evaluation, out, error);
}

static osafl_status train_and_aggregate(struct engine *e, struct timing_row *timing, double *mark,
                                        struct error *error)
{
    if (folding_suits(e)) {
        OSAFL_TRY(keep_model(e, error));
        OSAFL_TRY(folding_round(e, &timing->train_s, error));
        timing->aggregate_s = lap(mark) - timing->train_s;
        return OSAFL_OK;
    }
    OSAFL_TRY(engine_train_tasks(e, 0, e->n_tasks, error));
    OSAFL_TRY(engine_handle_divergence(e, error));
    OSAFL_TRY(gather_updates(e, error));
    timing->train_s = lap(mark);
    OSAFL_TRY(keep_model(e, error));
    OSAFL_TRY(aggregate(e, error));
    timing->aggregate_s = lap(mark);
    return OSAFL_OK;
}

osafl_status engine_run_round(struct engine *e, engine_progress *progress, void *arg,
                              struct round_report *report, struct error *error)
{
    struct timing_row timing = {.round = e->round};
    double mark = now_s();
    const double start = mark;
    assert(e->round < e->session->facts.rounds);
    e->progress = progress;
    e->progress_arg = arg;
    engine_free_results(e);

    OSAFL_TRY(world_begin_round(e->world, e->round,
                                participation_begin(&e->participation, e->round), error));
    OSAFL_TRY(choose_participants(e, error));
    timing.resource_s = lap(&mark);

    OSAFL_TRY(session_rate(e->session, e->round, &e->learning_rate, error));
    OSAFL_TRY(collect_broadcast(e, error));
    OSAFL_TRY(engine_count_work(e, error));
    OSAFL_TRY(train_and_aggregate(e, &timing, &mark, error));
    OSAFL_TRY(measure_round(e, error));

    /* The record is about the stores that were trained on; arrivals come after it. */
    record(e, &report->row);
    OSAFL_TRY(filter_end_round(e->session, e->round, report->row.participants,
                               e->participation.n_asked, error));
    engine_free_results(e);
    late_updates_drop(&e->late, e->round);
    OSAFL_TRY(evaluate(e, report, error));
    timing.evaluate_s = lap(&mark);

    OSAFL_TRY(advance_world(e, report, error));
    timing.world_s = lap(&mark);
    timing.total_s = mark - start;

    report->timing = timing;
    report->clients = describe_clients(e, report->row.measure != NULL);
    e->round++;
    return OSAFL_OK;
}
