/* engine_setup.c - makes and unmakes an engine, and says what one costs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "engine_state.h"
#include "plugin/pool.h"
#include "theory.h"

/* Room for the name of a label's measure. */
#define COLUMN_NAME_BYTES 96

static uint32_t count_clients(const struct engine *e)
{
    return e->session->facts.clients;
}

static float *new_vector(const struct engine *e)
{
    return memory_zeroed(e->session->codec.dim, sizeof(float), VECTOR_ALIGNMENT);
}

static bool make_round_arrays(struct engine *e)
{
    const size_t n = count_clients(e);
    e->reason = calloc(n, sizeof *e->reason);
    e->train_loss = calloc(n, sizeof *e->train_loss);
    e->entropy = calloc(n, sizeof *e->entropy);
    e->samples = calloc(n, sizeof *e->samples);
    e->state = calloc(e->trainees, sizeof *e->state);
    e->task = calloc(e->trainees, sizeof *e->task);
    e->result = calloc(e->trainees, sizeof *e->result);
    e->order = calloc(e->trainees, sizeof *e->order);
    e->update = calloc(e->trainees, sizeof *e->update);
    return participation_create(e->session, e->world, &e->participation) &&
           pooled_create(e->session, e->world, &e->pooled) && e->reason != NULL &&
           e->train_loss != NULL && e->entropy != NULL && e->samples != NULL && e->state != NULL &&
           e->task != NULL && e->result != NULL && e->order != NULL && e->update != NULL;
}

/* Where clients are judged one by one. */
static bool make_client_measures(struct engine *e)
{
    const struct evaluation_settings *evaluation = &e->session->experiment->evaluation;
    if (!evaluation->per_client && !evaluation->client_spread)
        return true;
    e->local_measure = calloc(count_clients(e), sizeof *e->local_measure);
    e->sorted = calloc(count_clients(e), sizeof *e->sorted);
    return e->local_measure != NULL && e->sorted != NULL &&
           (session_optimizer(e->session)->personal == NULL ||
            client_state_create(e->session, &e->newcomer));
}

static bool make_vectors(struct engine *e)
{
    e->w = new_vector(e);
    e->broadcast =
        memory_zeroed(e->session->aggregator.broadcast_floats, sizeof(float), VECTOR_ALIGNMENT);
    if (e->w == NULL || e->broadcast == NULL)
        return false;
    const bool judges = e->session->experiment->evaluation.prequential;
    if (judges && !prequential_create(e->session, &e->prequential))
        return false;
    if (e->session->experiment->evaluation.mixes && !mix_measures_create(e->session, &e->mixes))
        return false;
    if (judges || e->session->deletion.measure != NULL) {
        e->w_before = new_vector(e);
        if (e->w_before == NULL)
            return false;
    }
    return true;
}

static bool make_workers(struct engine *e)
{
    e->threads = pool_threads(e->session->context.pool);
    e->workers = calloc(e->threads, sizeof(struct worker *));
    if (e->workers == NULL)
        return false;
    for (unsigned j = 0; j < e->threads; j++) {
        e->workers[j] = worker_create(e->session);
        if (e->workers[j] == NULL)
            return false;
    }
    return true;
}

static const osafl_metric *measure_of(const struct engine *e, uint32_t m)
{
    return OSAFL_AT(osafl_metric, e->session->model.measures, e->session->model.measure_size, m);
}

/* Columns: the model's measures, then "accuracy_label_0", ... where labels are reported. */
static bool make_columns(struct engine *e)
{
    const uint32_t measures = e->session->model.n_measures;
    const uint32_t labels =
        e->session->experiment->evaluation.per_class ? e->session->dataset.labels : 0;
    struct measure_columns *k = &e->columns;
    k->n = measures + labels;
    k->name = calloc(k->n, sizeof *k->name);
    k->value = calloc(k->n, sizeof *k->value);
    k->text = calloc((size_t)labels + 1, COLUMN_NAME_BYTES);
    if (k->name == NULL || k->value == NULL || k->text == NULL)
        return false;
    for (uint32_t m = 0; m < measures; m++)
        k->name[m] = measure_of(e, m)->name;
    for (uint32_t label = 0; label < labels; label++) {
        char *text = k->text + (size_t)label * COLUMN_NAME_BYTES;
        snprintf(text, COLUMN_NAME_BYTES, "%.48s_label_%u", measure_of(e, 0)->name, label);
        k->name[measures + label] = text;
    }
    return true;
}

static osafl_status initialise_model(struct engine *e, struct error *error)
{
    const struct instance *model = &e->session->instance[OSAFL_KIND_MODEL];
    osafl_call c;
    call_begin(&c, model, OSAFL_NO_CLIENT, 0);
    osafl_status status = session_model(e->session)->init(model->self, &c, e->w);
    for (uint64_t i = 0; status == OSAFL_OK && i < e->session->codec.dim; i++)
        if (!isfinite(e->w[i]))
            status = core_host.fail(&c, OSAFL_E_NUMERIC, "init() makes a parameter %llu of %g",
                                    (unsigned long long)i, (double)e->w[i]);
    OSAFL_TRY(call_end_named(&c, status, error));
    return session_start_weights(e->session, e->w, error);
}

/* What evaluation.mixes keeps of every round. */
static uint64_t mixes_bytes(const struct session *s)
{
    const bool kept = s->experiment->evaluation.mixes;
    return kept ? s->facts.rounds * (s->dataset.labels + UINT64_C(1)) * sizeof(double) : 0;
}

/* Names what takes most of the memory. */
static osafl_status refuse_size(const struct engine *e, struct error *error)
{
    const struct session *s = e->session;
    const unsigned threads = pool_threads(s->context.pool);
    const uint64_t mixes = mixes_bytes(s);
    if (mixes > engine_bytes(s, e->world, threads) / 2)
        return error_set(error, OSAFL_E_NOMEM,
                         "out of memory: evaluation.mixes keeps %.3g GB, the label mix of each of "
                         "%u rounds; lower rounds, or set evaluation.mixes = false",
                         (double)mixes * 1e-9, s->facts.rounds);
    return error_set(error, OSAFL_E_NOMEM,
                     "out of memory for a run of %u clients on %u threads with %llu "
                     "parameters; fewer threads (--threads) take less",
                     count_clients(e), threads, (unsigned long long)s->codec.dim);
}

osafl_status engine_create(struct session *s, struct world *world, struct engine **out,
                           struct error *error)
{
    *out = NULL;
    struct engine *e = calloc(1, sizeof *e);
    if (e == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory");
    e->session = s;
    e->world = world;
    e->trainees = session_trainees(s);
    e->late = (struct late_updates){.labels = s->dataset.labels, .slots = s->slots};
    pthread_mutex_init(&e->progress_lock, NULL);
    osafl_status status = OSAFL_OK;
    if (make_vectors(e) && make_round_arrays(e) && make_client_measures(e) && make_columns(e) &&
        evaluation_create(s, &e->evaluation) && make_workers(e) && engine_ranks_create(e))
        status = initialise_model(e, error);
    else
        status = refuse_size(e, error);
    if (status != OSAFL_OK) {
        engine_destroy(e);
        return status;
    }
    *out = e;
    return OSAFL_OK;
}

void engine_free_results(struct engine *e)
{
    for (uint32_t k = 0; e->result != NULL && k < e->n_tasks; k++)
        train_result_free(e->session, &e->result[k]);
    e->n_tasks = 0;
    e->n_updates = 0;
}

void engine_destroy(struct engine *e)
{
    if (e == NULL)
        return;
    engine_free_results(e);
    for (unsigned j = 0; e->workers != NULL && j < e->threads; j++)
        worker_destroy(e->workers[j]);
    free(e->workers);
    for (uint32_t k = 0; e->state != NULL && k < e->trainees; k++)
        client_state_free(&e->state[k]);
    memory_free(e->broadcast);
    memory_free(e->w);
    memory_free(e->w_before);
    kept_updates_free(&e->kept);
    late_updates_free(&e->late);
    evaluation_destroy(&e->evaluation);
    prequential_destroy(&e->prequential);
    mix_measures_destroy(&e->mixes);
    theory_destroy(e->theory);
    free(e->columns.name);
    free(e->columns.value);
    free(e->columns.text);
    participation_destroy(&e->participation);
    free(e->reason);
    free(e->train_loss);
    free(e->entropy);
    free(e->samples);
    free(e->local_measure);
    free(e->sorted);
    client_state_free(&e->newcomer);
    free(e->state);
    free(e->task);
    free(e->result);
    free(e->order);
    free(e->update);
    engine_ranks_destroy(e);
    pooled_destroy(&e->pooled);
    pthread_mutex_destroy(&e->progress_lock);
    free(e);
}

const char *const *engine_measures(const struct engine *e, uint32_t *n)
{
    *n = e->columns.n;
    return e->columns.name;
}

/* The arrays of a round, which have a place for every client. */
static uint64_t round_bytes(const struct session *s)
{
    const size_t client = 2 * sizeof(double) + sizeof(uint64_t) + sizeof(uint32_t);
    return s->facts.clients * (uint64_t)client +
           participation_bytes(s->facts.clients, s->dataset.labels);
}

uint64_t engine_bytes(const struct session *s, const struct world *world, unsigned threads)
{
    const uint64_t vector = s->codec.dim * sizeof(float);
    const uint64_t batch =
        s->facts.batch > EVALUATION_BATCH ? s->facts.batch : (uint64_t)EVALUATION_BATCH;
    const uint64_t workspace = session_workspace_bytes(s, s->facts.batch);
    const bool fused = s->optimizer.is_plain && session_model(s)->sgd_step != NULL;
    const uint64_t per_thread = workspace + batch * s->sample_size * sizeof(float) +
                                ((fused ? 2u : 3u) + s->optimizer.uplink_vectors) * vector +
                                s->optimizer.round_floats * sizeof(float);
    const uint64_t models = s->deletion.measure != NULL ? 3 : 2;
    const uint64_t shared = models * vector + s->aggregator.broadcast_floats * sizeof(float) +
                            s->evaluation_samples * s->model.n_measures * sizeof(double);
    return world_bytes(world) + round_bytes(s) + mixes_bytes(s) + shared + threads * per_thread +
           session_trainees(s) * client_state_floats(s) * sizeof(float);
}

uint64_t engine_trainee_bytes(const struct session *s, bool kept)
{
    const uint64_t tables = sizeof(struct train_task) + sizeof(struct train_result) +
                            sizeof(uint64_t) + sizeof(struct update) + updates_view_bytes();
    const uint64_t code = (uint64_t)ceil(codec_payload_bits(&s->codec) / 8.0);
    const uint64_t blocks = memory_block_bytes(s->slots * sizeof(struct code)) +
                            s->slots * (memory_block_bytes(code) - code);
    return tables + (kept ? blocks : 0);
}

/* Where updates can be late, one of every client may be under way. */
static uint64_t late_bytes(const struct session *s)
{
    const uint32_t codes = s->experiment->training.enabled ? s->slots : 0;
    uint64_t client = sizeof(uint64_t); /* the round in which it is free again */
    if (s->experiment->uplink.late.index != LATE_CARRY)
        return 0;
    if (s->aggregator.max_staleness > 0)
        client += late_updates_saved_bytes(&s->codec, codes, s->dataset.labels);
    return s->facts.clients * client;
}

uint64_t engine_checkpoint_bytes(const struct session *s, const struct world *world)
{
    const uint64_t clients = s->facts.clients;
    const uint64_t samples = world_population(world)->total_capacity * sizeof(uint64_t);
    const uint64_t words = clients * (4 + (uint64_t)s->dataset.labels) * sizeof(uint64_t);
    const uint64_t late = late_bytes(s);
    uint64_t copy = words > samples ? words : samples; /* of the largest table */
    copy = late > copy ? late : copy;
    return s->codec.dim * sizeof(float) + words + clients * 5 * sizeof(double) + 2 * samples +
           mixes_bytes(s) + session_trainees(s) * client_state_floats(s) * sizeof(float) + late +
           copy;
}
