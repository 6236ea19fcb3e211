/* toy_plugins.c - one tiny plugin of each kind. */
#include "toy_plugins.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

float toy_value(uint64_t sample)
{
    return (float)(sample * 37 % 101) / 101.0f;
}

/* Over what was seen: workers report at the same time. */
static pthread_mutex_t seen = PTHREAD_MUTEX_INITIALIZER;

static void count(uint32_t *counter)
{
    pthread_mutex_lock(&seen);
    (*counter)++;
    pthread_mutex_unlock(&seen);
}

static bool faulty(const struct toy *t, enum toy_fault fault, uint32_t round)
{
    return t->fault == fault && t->fault_round == round;
}

/* All plugins are one and the same object: the toy itself, handed over as their config. */
static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)h, (void)c, (void)facts;
    memcpy(self, &config, sizeof config);
    return OSAFL_OK;
}

static void destroy(void *self)
{
    (void)self;
}

#define LIFE(vt)                                                                                   \
    {                                                                                              \
        .struct_size = sizeof(vt), .create = create, .destroy = destroy                            \
    }

/* ---- dataset ---- */

static osafl_status dataset_describe(void *self, osafl_call *c, osafl_dataset_info *out)
{
    (void)self, (void)c;
    out->rank = out->shape[0] = 1;
    out->x_type = OSAFL_X_FLOAT;
    out->target_type = OSAFL_TARGET_CLASS;
    out->target_size = out->labels = TOY_LABELS;
    out->n_train = TOY_SAMPLES;
    out->n_test = TOY_TEST;
    return OSAFL_OK;
}

static osafl_status dataset_label(void *self, osafl_call *c, uint64_t i, int32_t *label)
{
    (void)self, (void)c;
    *label = (int32_t)(i % TOY_LABELS);
    return OSAFL_OK;
}

static osafl_status dataset_read(void *self, osafl_call *c, uint32_t split, const uint64_t *index,
                                 const osafl_batch *b)
{
    struct toy *t = self;
    for (uint32_t i = 0; i < b->n; i++) {
        b->x[i] = toy_value(index[i]);
        OSAFL_TRY(dataset_label(self, c, index[i], &b->label[i]));
    }
    if (split != OSAFL_SPLIT_TRAIN)
        return OSAFL_OK;
    if (faulty(t, TOY_NAN_SAMPLE, c->round) && c->client == t->fault_client)
        b->x[0] = NAN;
    if (faulty(t, TOY_BAD_LABEL, c->round) && c->client == t->fault_client)
        b->label[0] = TOY_LABELS;
    pthread_mutex_lock(&seen);
    if (t->n_batches < TOY_LOG && t->n_samples + b->n <= TOY_LOG) {
        memcpy(t->sample + t->n_samples, index, b->n * sizeof *index);
        t->n_samples += b->n;
        t->batch_size[t->n_batches++] = b->n;
    }
    pthread_mutex_unlock(&seen);
    return OSAFL_OK;
}

static const osafl_dataset_vt dataset_vt = {.life = LIFE(osafl_dataset_vt),
                                            .describe = dataset_describe,
                                            .label = dataset_label,
                                            .read = dataset_read};

/* ---- model ---- */

static osafl_status model_describe(void *self, osafl_call *c, osafl_model_info *out)
{
    static const osafl_tensor tensor = {
        .name = "w", .size = TOY_DIM, .shape = {TOY_DIM}, .rank = 1};
    static const osafl_metric measures[] = {
        {.name = "loss", .scope = OSAFL_PER_ROUND, .better = OSAFL_LOWER}};
    (void)self, (void)c;
    out->n_tensors = 1;
    out->tensors = &tensor;
    out->tensor_size = sizeof tensor;
    out->n_parameters = TOY_DIM;
    out->n_measures = 1;
    out->measures = measures;
    out->measure_size = sizeof measures[0];
    return OSAFL_OK;
}

static uint64_t model_workspace(void *self, uint32_t batch, uint32_t evaluation_batch)
{
    (void)self, (void)batch, (void)evaluation_batch;
    return 64;
}

static osafl_status model_init(void *self, osafl_call *c, float *w)
{
    (void)self, (void)c;
    for (uint32_t j = 0; j < TOY_DIM; j++)
        w[j] = 0.5f * (float)j;
    return OSAFL_OK;
}

static double batch_gradient(const float *w, const osafl_batch *b, float *grad)
{
    double mean = 0.0;
    double loss = 0.0;
    for (uint32_t i = 0; i < b->n; i++)
        mean += (double)b->x[i] / b->n;
    for (uint32_t j = 0; j < TOY_DIM; j++) {
        grad[j] = (float)((double)w[j] - mean);
        for (uint32_t i = 0; i < b->n; i++)
            loss += 0.5 * pow((double)w[j] - (double)b->x[i], 2.0) / b->n;
    }
    return loss;
}

static osafl_status model_gradient(void *self, osafl_call *c, void *workspace, const float *w,
                                   const osafl_batch *b, const osafl_step *step, float *grad,
                                   double *loss)
{
    struct toy *t = self;
    (void)workspace;
    if (faulty(t, TOY_FAILING_MODEL, step->round) && step->client == t->fault_client)
        return (c->instance->host->fail)(c, OSAFL_E_BUG, "the toy breaks");
    pthread_mutex_lock(&seen);
    for (uint32_t i = 0; i < b->n && t->n_samples >= b->n; i++)
        t->label[t->n_samples - b->n + i] = b->label[i];
    pthread_mutex_unlock(&seen);
    *loss = batch_gradient(w, b, grad);
    if (faulty(t, TOY_NAN_LOSS, step->round) && step->client == t->fault_client && step->step == 2)
        *loss = (double)NAN;
    if (t->fused != TOY_FUSED)
        count(&t->unfused_calls);
    if (!step->training)
        count(&t->judging_calls);
    return OSAFL_OK;
}

static osafl_status model_sgd_step(void *self, osafl_call *c, void *workspace, float *w,
                                   const osafl_batch *b, const osafl_step *step, double rate,
                                   double *loss)
{
    struct toy *t = self;
    float grad[TOY_DIM];
    count(&t->fused_calls);
    if (t->fused != TOY_FUSED)
        return (c->instance->host->fail)(c, OSAFL_E_UNSUPPORTED, "not fused");
    OSAFL_TRY(model_gradient(self, c, workspace, w, b, step, grad, loss));
    for (uint32_t j = 0; j < TOY_DIM; j++)
        w[j] -= (float)rate * grad[j];
    return OSAFL_OK;
}

static osafl_status model_evaluate(void *self, osafl_call *c, void *workspace, const float *w,
                                   const osafl_batch *b, double *value)
{
    (void)self, (void)c, (void)workspace;
    for (uint32_t i = 0; i < b->n; i++)
        value[i] = 0.5 * pow((double)w[0] - (double)b->x[i], 2.0);
    return OSAFL_OK;
}

static const osafl_model_vt model_vt = {.life = LIFE(osafl_model_vt),
                                        .describe = model_describe,
                                        .workspace_bytes = model_workspace,
                                        .init = model_init,
                                        .gradient = model_gradient,
                                        .evaluate = model_evaluate,
                                        .sgd_step = model_sgd_step};
static const osafl_model_vt plain_model_vt = {.life = LIFE(osafl_model_vt),
                                              .describe = model_describe,
                                              .workspace_bytes = model_workspace,
                                              .init = model_init,
                                              .gradient = model_gradient,
                                              .evaluate = model_evaluate};

/* ---- channel, resource ---- */

static osafl_status channel_link(void *self, osafl_call *c, osafl_link *out)
{
    (void)self, (void)c;
    out->bandwidth_hz = 1e6;
    out->noise_w_per_hz = 1e-20;
    return OSAFL_OK;
}

static osafl_status channel_gains(void *self, osafl_call *c, uint32_t round, double *gain)
{
    const struct toy *t = self;
    (void)c;
    for (int64_t u = 0; u < t->e.clients.count; u++)
        gain[u] = 1e-10;
    if (faulty(t, TOY_NAN_GAIN, round))
        gain[t->fault_client] = (double)NAN;
    return OSAFL_OK;
}

static const osafl_channel_vt channel_vt = {
    .life = LIFE(osafl_channel_vt), .describe = channel_link, .gains = channel_gains};

static osafl_status resource_solve(void *self, osafl_call *c, const osafl_resource_problem *p,
                                   const osafl_resource_answer *out)
{
    const struct toy *t = self;
    (void)c;
    for (uint32_t u = 0; u < p->clients; u++) {
        out->local_rounds[u] = p->present[u] ? t->local_rounds[u] : 0;
        out->compute_j[u] = 1.0;
        out->upload_j[u] = 0.25;
        if (out->local_rounds[u] == 0)
            out->reason[u] = p->present[u] ? OSAFL_OUT_DEADLINE : OSAFL_OUT_ABSENT;
    }
    if (faulty(t, TOY_NO_REASON, p->round)) {
        out->local_rounds[t->fault_client] = 0;
        out->reason[t->fault_client] = 0;
    }
    if (faulty(t, TOY_TOO_MANY_ROUNDS, p->round))
        out->local_rounds[t->fault_client] = p->max_local_rounds + 1;
    return OSAFL_OK;
}

static const osafl_resource_vt resource_vt = {.life = LIFE(osafl_resource_vt),
                                              .solve = resource_solve};

/* ---- optimizer: c_u counts the updates that arrived; the uplink carries w or the gradient ---- */

static osafl_status optimizer_describe(void *self, osafl_call *c, osafl_optimizer_info *out)
{
    const struct toy *t = self;
    (void)c;
    out->is_plain = t->vectors == 0;
    out->client_floats = out->round_floats = t->vectors * TOY_DIM;
    out->uplink_vectors = t->vectors;
    out->broadcast_floats = t->misfit ? 0 : t->vectors * TOY_DIM;
    return OSAFL_OK;
}

static osafl_status optimizer_rate(void *self, osafl_call *c, uint32_t round, double *rate)
{
    (void)self, (void)c, (void)round;
    *rate = TOY_RATE;
    return OSAFL_OK;
}

static osafl_status optimizer_step(void *self, osafl_call *c, const osafl_local *l, float *w,
                                   float *grad)
{
    (void)self, (void)c;
    for (uint64_t j = 0; j < l->dim; j++)
        w[j] -= (float)l->rate * grad[j];
    return OSAFL_OK;
}

static osafl_status optimizer_finish(void *self, osafl_call *c, const osafl_local *l,
                                     const float *w)
{
    const struct toy *t = self;
    if (t->vectors == 0)
        return OSAFL_OK;
    if (t->ask_store_gradient)
        return l->store_gradient(l, c, l->w_start, l->uplink[0]);
    memcpy(l->uplink[0], w, l->dim * sizeof *w);
    return OSAFL_OK;
}

static osafl_status optimizer_received(void *self, osafl_call *c, const osafl_local *l,
                                       const float *update, const float *const *uplink)
{
    struct toy *t = self;
    (void)c;
    pthread_mutex_lock(&seen);
    memcpy(t->update, update, sizeof t->update);
    pthread_mutex_unlock(&seen);
    count(&t->received_calls);
    if (t->vectors > 0) {
        l->client_state[0] += 1.0f;
        l->client_state[1] = uplink[0][1];
    }
    return OSAFL_OK;
}

static const osafl_optimizer_vt optimizer_vt = {.life = LIFE(osafl_optimizer_vt),
                                                .describe = optimizer_describe,
                                                .rate = optimizer_rate,
                                                .step = optimizer_step,
                                                .finish = optimizer_finish,
                                                .received = optimizer_received};

/* ---- quantizer: floats as they are; what it keeps counts the codes ---- */

#define CODE_BYTES (sizeof(float) * TOY_DIM)

static osafl_status quantizer_describe(void *self, osafl_call *c, osafl_quantizer_info *out)
{
    const struct toy *t = self;
    (void)c;
    out->payload_bits = 32.0 * TOY_DIM;
    out->max_bytes = CODE_BYTES;
    out->client_floats = t->quantizer_floats;
    return OSAFL_OK;
}

static osafl_status quantizer_encode(void *self, osafl_call *c, const osafl_packet *p,
                                     const float *x, float *state, uint8_t *code, uint64_t *bytes,
                                     double *air_bits)
{
    const struct toy *t = self;
    if (faulty(t, TOY_FAILING_ENCODE, p->round) && p->client == t->fault_client)
        return (c->instance->host->fail)(c, OSAFL_E_NOMEM, "the toy has no memory");
    if (t->quantizer_floats > 0)
        state[0] += t->fault == TOY_NAN_KEPT ? NAN : 1.0f;
    *bytes = CODE_BYTES;
    memcpy(code, x, *bytes);
    *air_bits = 100.0;
    return OSAFL_OK;
}

static osafl_status quantizer_verify(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes)
{
    (void)self;
    (void)code;
    if (bytes == CODE_BYTES)
        return OSAFL_OK;
    return (c->instance->host->fail)(c, OSAFL_E_STATE, "a code of %llu bytes",
                                     (unsigned long long)bytes);
}

static osafl_status quantizer_decode(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes,
                                     uint64_t begin, uint64_t end, float *out)
{
    const struct toy *t = self;
    (void)bytes;
    memcpy(out, code + begin * sizeof(float), (end - begin) * sizeof(float));
    if (t->fault == TOY_NAN_DECODE)
        out[0] = NAN;
    if (t->fault == TOY_FAILING_DECODE)
        return (c->instance->host->fail)(c, OSAFL_E_NOMEM, "the toy cannot read it");
    return OSAFL_OK;
}

static const osafl_quantizer_vt quantizer_vt = {.life = LIFE(osafl_quantizer_vt),
                                                .describe = quantizer_describe,
                                                .encode = quantizer_encode,
                                                .verify = quantizer_verify,
                                                .decode = quantizer_decode};

/* ---- deletion: the oldest ---- */

static osafl_status deletion_select(void *self, osafl_call *c, const osafl_store_view *v,
                                    uint32_t n, uint32_t *position)
{
    (void)self, (void)c, (void)v;
    for (uint32_t k = 0; k < n; k++)
        position[k] = k;
    return OSAFL_OK;
}

static const osafl_deletion_vt deletion_vt = {.life = LIFE(osafl_deletion_vt),
                                              .select = deletion_select};

/* ---- partition: some labels more than others; drift, arrival, selection, filter: the usual ----
 */

static osafl_status partition_describe(void *self, osafl_call *c, osafl_partition_info *out)
{
    (void)self, (void)c;
    out->gives = OSAFL_PARTITION_MIX;
    return OSAFL_OK;
}

static osafl_status partition_mix(void *self, osafl_call *c, uint32_t client, uint32_t draw,
                                  double *mix)
{
    (void)self, (void)c;
    for (uint32_t l = 0; l < TOY_LABELS; l++)
        mix[l] = (1.0 + (client + draw + l) % TOY_LABELS) / (TOY_LABELS * (TOY_LABELS + 1) / 2.0);
    return OSAFL_OK;
}

static const osafl_partition_vt partition_vt = {
    .life = LIFE(osafl_partition_vt), .describe = partition_describe, .mix = partition_mix};

static osafl_status drift_at(void *self, osafl_call *c, uint32_t client, uint32_t round,
                             osafl_drift_mix *out)
{
    (void)self, (void)c, (void)client, (void)round;
    out->draw_a = 0;
    return OSAFL_OK;
}

static const osafl_drift_vt drift_vt = {.life = LIFE(osafl_drift_vt), .at = drift_at};

static osafl_status arrival_arrive(void *self, osafl_call *c, const osafl_arrival_problem *p,
                                   uint32_t *n, uint8_t *present)
{
    const struct toy *t = self;
    (void)c;
    if (faulty(t, TOY_ASKS_ABSENT, p->round))
        present[t->fault_client] = 0;
    memcpy(n, p->arrivals, p->clients * sizeof *n);
    return OSAFL_OK;
}

static osafl_status arrival_fill(void *self, osafl_call *c, const osafl_arrival_problem *p,
                                 uint64_t *n)
{
    const struct toy *t = self;
    (void)c;
    for (uint32_t u = 0; u < p->clients; u++)
        n[u] = t->uneven_stores ? p->capacity[u] * u / p->clients : p->capacity[u];
    return OSAFL_OK;
}

static const osafl_arrival_vt arrival_vt = {
    .life = LIFE(osafl_arrival_vt), .arrive = arrival_arrive, .fill = arrival_fill};

static osafl_status selection_choose(void *self, osafl_call *c, const osafl_selection_problem *p,
                                     uint8_t *asked)
{
    struct toy *t = self;
    (void)c;
    for (uint32_t u = 0; u < p->clients; u++) {
        t->history_age[u] = p->history->age[u];
        t->history_loss[u] = p->history->train_loss[u];
        t->history_norm[u] = p->history->update_norm[u];
    }
    if (!faulty(t, TOY_NOBODY, p->round))
        memcpy(asked, p->present, p->clients);
    if (faulty(t, TOY_ASKS_ABSENT, p->round))
        asked[t->fault_client] = 1;
    if (faulty(t, TOY_ASKS_TWICE, p->round))
        asked[t->fault_client] = 2;
    return OSAFL_OK;
}

static osafl_status selection_describe(void *self, osafl_call *c, osafl_selection_info *out)
{
    (void)self, (void)c;
    out->uses = OSAFL_USES_UPDATE_NORM;
    return OSAFL_OK;
}

static const osafl_selection_vt selection_vt = {
    .life = LIFE(osafl_selection_vt), .choose = selection_choose, .describe = selection_describe};

static uint32_t filter_touches(void *self, uint32_t client)
{
    const struct toy *t = self;
    return client == t->fault_client;
}

static osafl_status filter_labels(void *self, osafl_call *c, uint32_t client, uint32_t n,
                                  const uint64_t *sample, int32_t *label)
{
    const struct toy *t = self;
    (void)client, (void)n, (void)sample;
    if (faulty(t, TOY_FALSE_FILTER, c->round))
        label[0] = -1;
    return OSAFL_OK;
}

static osafl_status filter_update(void *self, osafl_call *c, uint32_t client, uint32_t round,
                                  const float *w, float *update)
{
    const struct toy *t = self;
    (void)c, (void)client, (void)w;
    if (faulty(t, TOY_HUGE_FILTER, round))
        update[2] = INFINITY;
    return OSAFL_OK;
}

static const osafl_filter_vt filter_vt = {.life = LIFE(osafl_filter_vt),
                                          .touches = filter_touches,
                                          .labels = filter_labels,
                                          .update = filter_update};

/* ---- aggregator: the mean ---- */

static osafl_status aggregator_describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    const struct toy *t = self;
    (void)c;
    out->sends = t->sends;
    out->broadcast_floats = t->vectors * TOY_DIM;
    out->uplink_vectors = t->vectors;
    out->wants_empty_rounds = t->wants_empty_rounds;
    out->optimizer = "toy";
    return OSAFL_OK;
}

static osafl_status aggregator_aggregate(void *self, osafl_call *c, const osafl_updates *u,
                                         float *w)
{
    struct toy *t = self;
    double weight[TOY_MAX_CLIENTS];
    (void)c;
    t->aggregate_calls++;
    t->aggregated_samples = 0;
    memset(t->alpha, 0, sizeof t->alpha);
    for (uint32_t k = 0; k < u->n; k++)
        t->alpha[u->client[k]] = u->alpha[k];
    for (uint32_t k = 0; k < u->n; k++)
        for (uint32_t label = 0; label < u->labels; label++)
            t->aggregated_samples += u->histogram[k][label];
    for (uint32_t k = 0; k < u->n; k++)
        weight[k] = (t->sends == OSAFL_SENDS_DELTA ? 1.0 : -1.0) / u->n;
    if (faulty(t, TOY_NAN_MODEL, u->round))
        w[3] = NAN;
    return u->n > 0 ? u->ops->add(u, 0, weight, w) : OSAFL_OK;
}

static osafl_status aggregator_broadcast(void *self, osafl_call *c, float *out)
{
    const struct toy *t = self;
    for (uint32_t j = 0; j < TOY_DIM; j++)
        out[j] = 1.0f;
    if (faulty(t, TOY_NAN_BROADCAST, c->round))
        out[1] = NAN;
    return OSAFL_OK;
}

static osafl_status aggregator_steps(void *self, osafl_call *c, uint64_t *steps)
{
    const struct toy *t = self;
    (void)c;
    *steps = t->pooled_steps;
    return OSAFL_OK;
}

static const void *aggregator_extension(void *self, const char *id)
{
    static const osafl_pooled pooled = {.struct_size = sizeof pooled, .steps = aggregator_steps};
    const struct toy *t = self;
    return t->pooled && strcmp(id, OSAFL_POOLED_ID) == 0 ? &pooled : NULL;
}

static const osafl_aggregator_vt aggregator_vt = {
    .life = {.struct_size = sizeof(osafl_aggregator_vt),
             .create = create,
             .destroy = destroy,
             .extension = aggregator_extension},
    .describe = aggregator_describe,
    .aggregate = aggregator_aggregate,
    .broadcast = aggregator_broadcast};

/* ---- the experiment ---- */

/* Table of the plugins; the model stands there twice, without and with a fused step. */
static struct loaded_plugin loaded[LOADER_KINDS + 2];
static osafl_plugin plugin[LOADER_KINDS + 2];

static void choose(struct toy *t, uint32_t kind, uint32_t place, const osafl_lifecycle *life)
{
    plugin[place] = (osafl_plugin){OSAFL_PLUGIN_HEAD, .kind = kind, .name = "toy",
                                   .version = "1.0.0", .vtable = life};
    loaded[place].plugin = &plugin[place];
    t->e.chosen[kind] = (struct chosen_plugin){.loaded = &loaded[place], .config = t};
}

struct toy *toy_open(uint32_t clients, uint32_t rounds)
{
    struct toy *t = calloc(1, sizeof *t);
    assert_non_null(t);
    assert_true(clients <= TOY_MAX_CLIENTS);
    t->sends = OSAFL_SENDS_DELTA;
    for (uint32_t u = 0; u < clients; u++)
        t->local_rounds[u] = 1 + u % 3;
    t->e = (struct experiment){
        .general = {.name = "toy", .seed = 3, .rounds = rounds, .deadline_s = 10.0},
        .clients = {.count = clients,
                    .storage = 40,
                    .arrivals = 4,
                    .activity = {0.3, 0.8},
                    .cycles_per_bit = {25.0, 40.0},
                    .energy_budget_j = {1.2, 2.5},
                    .clock_max_hz = {1e9, 1.8e9},
                    .power_max_dbm = {20.0, 30.0},
                    .capacitance = 2e-28},
        .training = {.enabled = true,
                     .batch = 4,
                     .minibatches = 3,
                     .cost_minibatches = 3,
                     .max_local_rounds = 5},
        .evaluation = {.every = 1},
        .case_name = "main",
        .identity = "0123456789abcdef0123456789abcdef",
    };
    choose(t, OSAFL_KIND_DATASET, OSAFL_KIND_DATASET, &dataset_vt.life);
    choose(t, OSAFL_KIND_MODEL, OSAFL_KIND_MODEL, &plain_model_vt.life);
    choose(t, OSAFL_KIND_CHANNEL, OSAFL_KIND_CHANNEL, &channel_vt.life);
    choose(t, OSAFL_KIND_RESOURCE, OSAFL_KIND_RESOURCE, &resource_vt.life);
    choose(t, OSAFL_KIND_OPTIMIZER, OSAFL_KIND_OPTIMIZER, &optimizer_vt.life);
    choose(t, OSAFL_KIND_QUANTIZER, OSAFL_KIND_QUANTIZER, &quantizer_vt.life);
    choose(t, OSAFL_KIND_DELETION, OSAFL_KIND_DELETION, &deletion_vt.life);
    choose(t, OSAFL_KIND_AGGREGATOR, OSAFL_KIND_AGGREGATOR, &aggregator_vt.life);
    choose(t, OSAFL_KIND_PARTITION, OSAFL_KIND_PARTITION, &partition_vt.life);
    choose(t, OSAFL_KIND_DRIFT, OSAFL_KIND_DRIFT, &drift_vt.life);
    choose(t, OSAFL_KIND_ARRIVAL, OSAFL_KIND_ARRIVAL, &arrival_vt.life);
    choose(t, OSAFL_KIND_SELECTION, OSAFL_KIND_SELECTION, &selection_vt.life);
    choose(t, OSAFL_KIND_FILTER, OSAFL_KIND_FILTER, &filter_vt.life);
    return t;
}

void toy_close(struct toy *t)
{
    free(t);
}

void toy_forget(struct toy *t)
{
    t->n_samples = t->n_batches = 0;
    t->fused_calls = t->unfused_calls = t->received_calls = t->aggregate_calls = 0;
}

void toy_session(struct toy *t, struct session *s)
{
    const struct host_context context = {.seed = (uint64_t)t->e.general.seed,
                                         .log_level = OSAFL_LOG_ERROR};
    struct diagnostics *d = diagnostics_create();
    if (t->fused != TOY_NOT_FUSED)
        choose(t, OSAFL_KIND_MODEL, LOADER_KINDS + 1, &model_vt.life);
    if (session_create(s, &t->e, NULL, &context, d) != OSAFL_OK) {
        diagnostics_print(d, stderr);
        fail_msg("the toys do not make a session");
    }
    diagnostics_destroy(d);
}
