/* train.c - local training of one client. */
#include "train.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/finite.h"
#include "base/memory.h"
#include "base/streams.h"
#include "client_filter.h"
#include "osafl/random.h"

/* Coordinates that are decoded at a time where a norm is wanted; part of its bytes. */
#define NORM_TILE 4096

/* One task in progress. */
struct training {
    const struct session *session;
    const struct train_task *task;
    struct worker *worker;
    osafl_local local;
    double loss_sum;
};

/* ---- client state -------------------------------------------------------------------------- */

/* Pieces of the state begin at multiples of VECTOR_ALIGNMENT. */
static uint64_t padded(uint64_t floats)
{
    const uint64_t unit = VECTOR_ALIGNMENT / sizeof(float);
    return (floats + unit - 1) / unit * unit;
}

uint64_t client_state_floats(const struct session *s)
{
    return padded(s->optimizer.client_floats) + s->slots * padded(s->codec.info.client_floats);
}

bool client_state_create(const struct session *s, struct client_state *state)
{
    state->floats = memory_zeroed(client_state_floats(s), sizeof(float), VECTOR_ALIGNMENT);
    return state->floats != NULL;
}

void client_state_free(struct client_state *state)
{
    memory_free(state->floats);
    state->floats = NULL;
}

void train_result_drop_codes(const struct session *s, struct train_result *result)
{
    for (uint32_t slot = 0; result->code != NULL && slot < s->slots; slot++)
        code_free(&result->code[slot]);
    free(result->code);
    result->code = NULL;
}

void train_result_free(const struct session *s, struct train_result *result)
{
    train_result_drop_codes(s, result);
    free(result->why);
    *result = (struct train_result){0};
}

/* ---- order of the samples ------------------------------------------------------------------ */

/* Positions of a store in a fresh random order, which starts over, shuffled anew, when all have
 * been given: a Fisher-Yates shuffle that goes only as far as positions are asked for. */
struct sample_order {
    uint32_t *position; /* [stored]; [0, given) are final */
    const uint32_t *word;
    uint32_t stored;
    uint32_t given;
};

static osafl_status order_begin(struct sample_order *o, const struct training *g,
                                uint32_t local_round, uint64_t draws)
{
    struct worker *w = g->worker;
    const struct train_task *task = g->task;
    OSAFL_TRY(worker_reserve_order(w, task->store.n, draws));
    streams_fill(g->session->context.seed, 0, STREAM_BATCHES, task->client, task->round,
                 local_round, w->word, 2 * draws);
    *o = (struct sample_order){.position = w->order,
                               .word = w->word,
                               .stored = (uint32_t)task->store.n,
                               .given = (uint32_t)task->store.n};
    return OSAFL_OK;
}

static uint32_t order_next(struct sample_order *o)
{
    if (o->given == o->stored) {
        for (uint32_t i = 0; i < o->stored; i++)
            o->position[i] = i;
        o->given = 0;
    }
    const uint32_t pick = o->given + osafl_below(o->word, o->stored - o->given);
    const uint32_t chosen = o->position[pick];
    o->position[pick] = o->position[o->given];
    o->position[o->given++] = chosen;
    o->word += 2;
    return chosen;
}

/* ---- SGD steps ----------------------------------------------------------------------------- */

static osafl_status read_training_batch(const struct training *g, uint32_t n)
{
    struct worker *w = g->worker;
    const uint32_t client = g->task->client;
    OSAFL_TRY(worker_read(w, OSAFL_SPLIT_TRAIN, n, client, g->task->round));
    return filter_labels(g->session, client, g->task->round, n, w->index, w->batch.label,
                         &w->error);
}

static osafl_step step_of(const struct training *g, uint32_t training)
{
    return (osafl_step){.struct_size = sizeof(osafl_step),
                        .client = g->task->client,
                        .round = g->task->round,
                        .step = g->local.step,
                        .training = training};
}

/* The model's own step.  OSAFL_E_UNSUPPORTED, which it answers before it has touched anything,
 * means that its settings rule that out: it is not asked again. */
static osafl_status fused_step(const struct training *g, double *loss)
{
    struct worker *w = g->worker;
    const struct instance *model = &g->session->instance[OSAFL_KIND_MODEL];
    const osafl_step step = step_of(g, 1);
    osafl_call c;
    call_begin(&c, model, step.client, step.round);
    const osafl_status status =
        session_model(g->session)
            ->sgd_step(model->self, &c, w->workspace, w->w, &w->batch, &step, g->local.rate, loss);
    return call_end_named(&c, status, &w->error);
}

static osafl_status model_gradient(const struct training *g, const float *at, uint32_t training,
                                   float *gradient, double *loss)
{
    struct worker *w = g->worker;
    const struct instance *model = &g->session->instance[OSAFL_KIND_MODEL];
    const osafl_step step = step_of(g, training);
    osafl_call c;
    call_begin(&c, model, step.client, step.round);
    const osafl_status status =
        session_model(g->session)
            ->gradient(model->self, &c, w->workspace, at, &w->batch, &step, gradient, loss);
    return call_end_named(&c, status, &w->error);
}

static osafl_status optimizer_step(const struct training *g, float *gradient)
{
    const struct instance *optimizer = &g->session->instance[OSAFL_KIND_OPTIMIZER];
    osafl_call c;
    call_begin(&c, optimizer, g->task->client, g->task->round);
    const osafl_status status =
        session_optimizer(g->session)->step(optimizer->self, &c, &g->local, g->worker->w, gradient);
    return call_end_named(&c, status, &g->worker->error);
}

static osafl_status step_on_batch(const struct training *g, double *loss)
{
    struct worker *w = g->worker;
    if (g->session->optimizer.is_plain && session_model(g->session)->sgd_step != NULL &&
        !w->unfused) {
        const osafl_status status = fused_step(g, loss);
        if (status != OSAFL_E_UNSUPPORTED)
            return status;
        w->unfused = true;
    }
    float *gradient = worker_gradient(w);
    if (gradient == NULL)
        return OSAFL_E_NOMEM;
    OSAFL_TRY(model_gradient(g, w->w, 1, gradient, loss));
    return optimizer_step(g, gradient);
}

/* Says whose value was not finite.  OSAFL_E_NUMERIC, or OSAFL_E_DATA when the samples are bad. */
static osafl_status diverged(const struct training *g, const char *what)
{
    const struct session *s = g->session;
    const struct worker *w = g->worker;
    const uint64_t values = w->batch.n * s->sample_size;
    if (w->batch.x != NULL && !all_finite(w->batch.x, values))
        return error_set(&g->worker->error, OSAFL_E_DATA,
                         "dataset/%s, round %u, client %u: a sample holds a value that is not "
                         "finite",
                         s->instance[OSAFL_KIND_DATASET].plugin->name, g->task->round,
                         g->task->client);
    return error_set(&g->worker->error, OSAFL_E_NUMERIC,
                     "round %u, client %u: %s is not finite after %u steps of model/%s with "
                     "optimizer/%s at learning rate %g; a smaller rate may help",
                     g->task->round, g->task->client, what, g->local.step,
                     s->instance[OSAFL_KIND_MODEL].plugin->name,
                     s->instance[OSAFL_KIND_OPTIMIZER].plugin->name, g->local.rate);
}

static bool is_cancelled(const struct session *s)
{
    return s->context.cancelled != NULL && *s->context.cancelled != 0;
}

static osafl_status train_local_round(struct training *g, uint32_t local_round)
{
    const struct train_task *task = g->task;
    const uint32_t batch = g->session->facts.batch;
    uint64_t left = task->minibatches > 0 ? task->minibatches * batch : task->store.n;
    struct sample_order order;
    OSAFL_TRY(order_begin(&order, g, local_round, left));
    while (left > 0) {
        if (is_cancelled(g->session))
            return error_set(&g->worker->error, OSAFL_E_CANCELLED, "the run was stopped");
        const uint32_t n = left < batch ? (uint32_t)left : batch;
        for (uint32_t i = 0; i < n; i++)
            g->worker->index[i] = task->store.sample[order_next(&order)];
        OSAFL_TRY(read_training_batch(g, n));
        double loss = 0.0;
        OSAFL_TRY(step_on_batch(g, &loss));
        g->local.step++;
        if (!isfinite(loss))
            return diverged(g, "the training loss");
        g->loss_sum += loss;
        left -= n;
    }
    return OSAFL_OK;
}

/* ---- what an optimizer may ask ------------------------------------------------------------- */

/* osafl_local.store_gradient: the mean over the store from the means of its batches, added up in
 * double in the order of the store. */
static osafl_status store_gradient(const struct osafl_local *l, osafl_call *c, const float *at,
                                   float *gradient)
{
    const struct training *g = l->priv;
    struct worker *w = g->worker;
    const struct store_samples *store = &g->task->store;
    double *sum = worker_sum(w);
    osafl_status status = sum != NULL ? OSAFL_OK : OSAFL_E_NOMEM;
    if (sum != NULL)
        memset(sum, 0, (size_t)l->dim * sizeof *sum);
    for (uint64_t begin = 0; status == OSAFL_OK && begin < store->n;) {
        const uint64_t left = store->n - begin;
        const uint32_t n =
            left < g->session->facts.batch ? (uint32_t)left : g->session->facts.batch;
        double loss = 0.0;
        memcpy(w->index, store->sample + begin, n * sizeof *w->index);
        status = read_training_batch(g, n);
        if (status == OSAFL_OK)
            status = model_gradient(g, at, 0, gradient, &loss);
        const double share = (double)n / (double)store->n;
        for (uint64_t i = 0; status == OSAFL_OK && i < l->dim; i++)
            sum[i] += share * (double)gradient[i];
        begin += n;
    }
    if (status != OSAFL_OK)
        return core_host.fail(c, status, "%s", w->error.text);
    for (uint64_t i = 0; i < l->dim; i++)
        gradient[i] = (float)sum[i];
    return OSAFL_OK;
}

/* ---- before and after the steps ------------------------------------------------------------ */

/* What the optimizer sees of the task. */
static osafl_status fill_local(struct training *g)
{
    const struct session *s = g->session;
    struct worker *w = g->worker;
    const struct train_task *task = g->task;
    memset(w->round_state, 0, (size_t)s->optimizer.round_floats * sizeof(float));
    g->local = (osafl_local){
        .struct_size = sizeof(osafl_local),
        .client = task->client,
        .round = task->round,
        .dim = s->codec.dim,
        .w_start = task->w,
        .broadcast = task->broadcast,
        .client_state = task->state->floats,
        .round_state = w->round_state,
        .uplink = w->uplink,
        .priv = g,
        .store_gradient = store_gradient,
    };
    return session_rate(s, task->round, &g->local.rate, &w->error);
}

/* start() or leave(), if the optimizer has it. */
static osafl_status change_model(const struct training *g,
                                 osafl_status (*change)(void *, osafl_call *, const osafl_local *,
                                                        float *))
{
    const struct instance *optimizer = &g->session->instance[OSAFL_KIND_OPTIMIZER];
    if (change == NULL)
        return OSAFL_OK;
    osafl_call c;
    call_begin(&c, optimizer, g->task->client, g->task->round);
    const osafl_status status = change(optimizer->self, &c, &g->local, g->worker->w);
    return call_end_named(&c, status, &g->worker->error);
}

static osafl_status begin_training(struct training *g)
{
    const struct session *s = g->session;
    struct worker *w = g->worker;
    const struct train_task *task = g->task;
    const struct instance *optimizer = &s->instance[OSAFL_KIND_OPTIMIZER];
    if (task->state->floats == NULL && !client_state_create(s, task->state))
        return error_set(&w->error, OSAFL_E_NOMEM, "out of memory for the state of client %u",
                         task->client);
    memcpy(w->w, task->w, (size_t)s->codec.dim * sizeof(float));
    OSAFL_TRY(fill_local(g));
    if (session_optimizer(s)->begin != NULL) {
        osafl_call c;
        call_begin(&c, optimizer, task->client, task->round);
        const osafl_status status = session_optimizer(s)->begin(optimizer->self, &c, &g->local);
        OSAFL_TRY(call_end_named(&c, status, &w->error));
    }
    return change_model(g, session_optimizer(s)->start);
}

/* Of a model of which a part may stay: what is not finite in it would not be seen in the update. */
static osafl_status leave_training(const struct training *g)
{
    const osafl_optimizer_vt *vt = session_optimizer(g->session);
    if (vt->leave != NULL && !all_finite(g->worker->w, g->session->codec.dim))
        return diverged(g, "the model");
    return change_model(g, vt->leave);
}

static osafl_status finish_optimizer(const struct training *g)
{
    const struct session *s = g->session;
    const struct instance *optimizer = &s->instance[OSAFL_KIND_OPTIMIZER];
    if (session_optimizer(s)->finish == NULL)
        return OSAFL_OK;
    osafl_call c;
    call_begin(&c, optimizer, g->task->client, g->task->round);
    const osafl_status status =
        session_optimizer(s)->finish(optimizer->self, &c, &g->local, g->worker->w);
    return call_end_named(&c, status, &g->worker->error);
}

/* Turns the trained model in w->w into what the aggregator asked for.  Differences are taken in
 * float, as a client would, and divided in double. */
static void make_update(const struct training *g)
{
    const uint64_t dim = g->session->codec.dim;
    const float *start = g->task->w;
    float *w = g->worker->w;
    if (g->session->aggregator.sends == OSAFL_SENDS_DELTA) {
        for (uint64_t i = 0; i < dim; i++)
            w[i] -= start[i];
        return;
    }
    double divisor = (double)g->task->local_rounds;
    if (g->session->aggregator.sends == OSAFL_SENDS_PER_RATE)
        divisor *= g->local.rate;
    for (uint64_t i = 0; i < dim; i++)
        w[i] = (float)((double)(start[i] - w[i]) / divisor);
}

/* What a plugin keeps of a client goes into checkpoints, and nothing in them may be damaged. */
static osafl_status check_kept(osafl_call *c, const float *state, uint64_t n)
{
    if (all_finite(state, n))
        return OSAFL_OK;
    return core_host.fail(c, OSAFL_E_BUG, "what is kept of the client is not finite");
}

static osafl_status check_vectors(const struct training *g)
{
    const struct session *s = g->session;
    if (!all_finite(g->worker->w, s->codec.dim))
        return diverged(g, "the update");
    for (uint32_t j = 0; j < s->optimizer.uplink_vectors; j++)
        if (!all_finite(g->worker->uplink[j], s->codec.dim))
            return diverged(g, "a further vector of the update");
    return OSAFL_OK;
}

/* ---- uplink -------------------------------------------------------------------------------- */

static float *quantizer_state(const struct training *g, uint32_t slot)
{
    const struct session *s = g->session;
    return g->task->state->floats + padded(s->optimizer.client_floats) +
           slot * padded(s->codec.info.client_floats);
}

static osafl_status encode_slot(const struct training *g, uint32_t slot, float *state,
                                struct code *code)
{
    const struct session *s = g->session;
    struct worker *w = g->worker;
    const osafl_packet packet = {.struct_size = sizeof packet,
                                 .client = g->task->client,
                                 .round = g->task->round,
                                 .slot = slot,
                                 .gain = g->task->gain,
                                 .most_bits_per_s = g->task->most_bits_per_s};
    const float *x = slot == 0 ? w->w : w->uplink[slot - 1];
    osafl_call c;
    call_begin(&c, session_uplink(s), packet.client, packet.round);
    osafl_status status = codec_encode(&s->codec, &c, &packet, x, state, w->code, code);
    if (status == OSAFL_OK)
        status = check_kept(&c, state, s->codec.info.client_floats);
    return call_end_named(&c, status, &w->error);
}

/* Encodes on a copy of the quantizer's state: what it remembers of a lost update must not stay. */
static osafl_status encode_in_vain(const struct training *g, uint32_t slot, struct code *code)
{
    const uint64_t n = g->session->codec.info.client_floats;
    float *copy = memory_zeroed(n, sizeof *copy, VECTOR_ALIGNMENT);
    if (copy == NULL)
        return error_set(&g->worker->error, OSAFL_E_NOMEM,
                         "out of memory for what the quantizer keeps of client %u",
                         g->task->client);
    memcpy(copy, quantizer_state(g, slot), (size_t)n * sizeof *copy);
    const osafl_status status = encode_slot(g, slot, copy, code);
    memory_free(copy);
    return status;
}

/* |Q(d) - d|^2 / |d|^2 of the update that is coded. */
static osafl_status find_code_error(const struct training *g, struct train_result *result)
{
    const struct codec *k = &g->session->codec;
    const float *x = g->worker->w;
    float tile[NORM_TILE];
    double error2 = 0.0;
    double norm2 = 0.0;
    osafl_status status = OSAFL_OK;
    osafl_call c;
    call_begin(&c, session_uplink(g->session), g->task->client, g->task->round);
    for (uint64_t begin = 0; status == OSAFL_OK && begin < k->dim; begin += NORM_TILE) {
        const uint64_t end = k->dim - begin < NORM_TILE ? k->dim : begin + NORM_TILE;
        status = codec_decode(k, &c, &result->code[0], begin, end, tile);
        for (uint64_t i = begin; status == OSAFL_OK && i < end; i++) {
            const double difference = (double)tile[i - begin] - (double)x[i];
            error2 += difference * difference;
            norm2 += (double)x[i] * (double)x[i];
        }
    }
    result->code_error = norm2 > 0.0 ? error2 / norm2 : (double)NAN;
    return call_end_named(&c, status, &g->worker->error);
}

static osafl_status encode_update(const struct training *g, struct train_result *result)
{
    const struct session *s = g->session;
    result->code = calloc(s->slots, sizeof *result->code);
    if (result->code == NULL)
        return error_set(&g->worker->error, OSAFL_E_NOMEM, "out of memory for an update");
    for (uint32_t slot = 0; slot < s->slots; slot++) {
        struct code *code = &result->code[slot];
        if (g->task->lost)
            OSAFL_TRY(encode_in_vain(g, slot, code));
        else
            OSAFL_TRY(encode_slot(g, slot, quantizer_state(g, slot), code));
        result->air_bits += code->air_bits;
    }
    return g->task->measure_error ? find_code_error(g, result) : OSAFL_OK;
}

/* Norm of the update as the server has it. */
static osafl_status find_norm(const struct training *g, struct train_result *result)
{
    const struct codec *k = &g->session->codec;
    float tile[NORM_TILE];
    double sum = 0.0;
    osafl_status status = OSAFL_OK;
    osafl_call c;
    call_begin(&c, session_uplink(g->session), g->task->client, g->task->round);
    for (uint64_t begin = 0; status == OSAFL_OK && begin < k->dim; begin += NORM_TILE) {
        const uint64_t end = k->dim - begin < NORM_TILE ? k->dim : begin + NORM_TILE;
        status = codec_decode(k, &c, &result->code[0], begin, end, tile);
        if (status == OSAFL_OK)
            sum += codec_dense_dot(tile, tile, end - begin);
    }
    result->norm = sqrt(sum);
    return call_end_named(&c, status, &g->worker->error);
}

/* Decodes what the server has received, into update and w->uplink. */
static osafl_status decode_update(const struct training *g, const struct train_result *result,
                                  float *update)
{
    const struct session *s = g->session;
    struct worker *w = g->worker;
    osafl_status status = OSAFL_OK;
    osafl_call c;
    call_begin(&c, session_uplink(s), g->task->client, g->task->round);
    for (uint32_t slot = 0; status == OSAFL_OK && slot < s->slots; slot++) {
        float *received = slot == 0 ? update : w->uplink[slot - 1];
        status = codec_decode(&s->codec, &c, &result->code[slot], 0, s->codec.dim, received);
        if (status == OSAFL_OK && !all_finite(received, s->codec.dim))
            status = core_host.fail(&c, OSAFL_E_BUG,
                                    "vector %u decodes to a value that is not finite", slot);
    }
    return call_end_named(&c, status, &w->error);
}

/* Gives the optimizer what the server has received: client and server go on from the same decoded
 * vectors. */
static osafl_status acknowledge(const struct training *g, const struct train_result *result)
{
    const struct session *s = g->session;
    struct worker *w = g->worker;
    const struct instance *optimizer = &s->instance[OSAFL_KIND_OPTIMIZER];
    if (session_optimizer(s)->received == NULL)
        return OSAFL_OK;
    float *update = worker_gradient(w);
    if (update == NULL)
        return OSAFL_E_NOMEM;
    OSAFL_TRY(decode_update(g, result, update));
    osafl_call c;
    call_begin(&c, optimizer, g->task->client, g->task->round);
    osafl_status status = session_optimizer(s)->received(optimizer->self, &c, &g->local, update,
                                                         (const float *const *)w->uplink);
    if (status == OSAFL_OK)
        status = check_kept(&c, g->local.client_state, s->optimizer.client_floats);
    return call_end_named(&c, status, &w->error);
}

/* ---- the task ------------------------------------------------------------------------------ */

static osafl_status train_and_encode(struct training *g, struct train_result *result)
{
    const struct train_task *task = g->task;
    OSAFL_TRY(begin_training(g));
    result->rate = g->local.rate;
    for (uint32_t r = 0; r < task->local_rounds; r++)
        OSAFL_TRY(train_local_round(g, r));
    result->train_loss = g->loss_sum / (double)g->local.step;
    OSAFL_TRY(finish_optimizer(g));
    OSAFL_TRY(leave_training(g));
    make_update(g);
    OSAFL_TRY(check_vectors(g));
    OSAFL_TRY(filter_update(g->session, task->client, task->round, task->w, g->worker->w,
                            &g->worker->error));
    OSAFL_TRY(encode_update(g, result));
    if (task->lost) {
        result->outcome = TRAIN_LOST;
        return OSAFL_OK;
    }
    result->outcome = TRAIN_ARRIVED;
    if (g->session->selection.uses & OSAFL_USES_UPDATE_NORM)
        OSAFL_TRY(find_norm(g, result));
    return acknowledge(g, result);
}

osafl_status train_client(const struct session *s, const struct train_task *task, struct worker *w,
                          struct train_result *result)
{
    struct training g = {.session = s, .task = task, .worker = w};
    assert(task->local_rounds >= 1 && task->store.n >= 1 && task->store.n <= UINT32_MAX);
    *result = (struct train_result){.train_loss = (double)NAN, .norm = (double)NAN};
    if (!s->experiment->training.enabled) {
        result->outcome = task->lost ? TRAIN_LOST : TRAIN_ARRIVED;
        result->air_bits = (double)NAN;
        return OSAFL_OK;
    }
    osafl_status status = train_and_encode(&g, result);
    result->steps = g.local.step;
    if (status != OSAFL_OK || result->outcome != TRAIN_ARRIVED)
        train_result_drop_codes(s, result);
    if (status != OSAFL_OK)
        result->why = strdup(w->error.text);
    if (status == OSAFL_E_NUMERIC) {
        result->outcome = TRAIN_DIVERGED;
        result->train_loss = (double)NAN;
        status = OSAFL_OK;
    }
    return status;
}

osafl_status train_personal_model(const struct session *s, const struct train_task *task,
                                  struct worker *w)
{
    struct training g = {.session = s, .task = task, .worker = w};
    const struct instance *optimizer = &s->instance[OSAFL_KIND_OPTIMIZER];
    OSAFL_TRY(fill_local(&g));
    osafl_call c;
    call_begin(&c, optimizer, task->client, task->round);
    const osafl_status status =
        session_optimizer(s)->personal(optimizer->self, &c, &g.local, task->w, w->w);
    return call_end_named(&c, status, &w->error);
}
