/* test_engine.c - whole rounds on the toy plugins: who takes part, what is recorded, what a
 * checkpoint keeps, what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/records.h"
#include "plugin/pool.h"
#include "round/engine.h"
#include "toy_plugins.h"
#include "world/world.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define CLIENTS 6
#define ROUNDS 5

struct bench {
    struct toy *toy;
    struct session session;
    struct pool *pool;
    struct world *world;
    struct engine *engine;
    struct round_report report;
    struct error error;
};

static void count_warning(void *arg, int32_t level, const char *line)
{
    int *n = arg;
    assert_int_equal(level, OSAFL_LOG_WARN);
    assert_non_null(strstr(line, "client 3: "));
    assert_non_null(strstr(line, "its update is dropped; "));
    (*n)++;
}

static struct bench *bench_open(struct toy *t, unsigned threads)
{
    struct bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->toy = t;
    toy_session(t, &b->session);
    b->pool = pool_create(threads, NULL);
    b->session.context.pool = b->pool;
    const struct world_plugins plugins = session_world_plugins(&b->session);
    osafl_status status = world_create(&t->e, &plugins, &b->world, &b->error);
    if (status == OSAFL_OK)
        status = engine_create(&b->session, b->world, &b->engine, &b->error);
    if (status != OSAFL_OK)
        fail_msg("%s", b->error.text);
    return b;
}

static void bench_close(struct bench *b)
{
    engine_destroy(b->engine);
    world_destroy(b->world);
    pool_destroy(b->pool);
    session_destroy(&b->session);
    toy_close(b->toy);
    free(b);
}

static osafl_status run_round(struct bench *b)
{
    return engine_run_round(b->engine, NULL, NULL, &b->report, &b->error);
}

static void run_rounds(struct bench *b, uint32_t n)
{
    for (uint32_t t = 0; t < n; t++)
        if (run_round(b) != OSAFL_OK)
            fail_msg("%s", b->error.text);
}

/* ---- rounds ---- */

static void test_round_is_recorded(void **state)
{
    (void)state;
    struct toy *t = toy_open(CLIENTS, ROUNDS);
    t->local_rounds[2] = 0;
    struct bench *b = bench_open(t, 1);
    run_rounds(b, 1);
    const struct round_row *row = &b->report.row;
    assert_int_equal(engine_round(b->engine), 1);
    assert_int_equal(row->round, 0);
    assert_true(row->simulated_s == 10.0);
    assert_int_equal(row->participants, 5);
    assert_true(row->mean_local_rounds == (1 + 2 + 1 + 2 + 3) / 5.0);
    assert_true(row->payload_bits == 5 * 32.0 * TOY_DIM);
    assert_true(row->air_bits == 500.0);
    assert_true(row->compute_j == 5.0 && row->upload_j == 1.25);
    assert_non_null(row->measure);
    assert_int_equal(b->report.clients.reason[2], OSAFL_OUT_DEADLINE);
    assert_int_equal(b->report.clients.reason[1], 0);
    assert_true(isnan(b->report.clients.train_loss[2]));
    assert_true(b->report.clients.train_loss[1] > 0.0);
    assert_int_equal(t->received_calls, 5);
    bench_close(b);
}

static void test_round_without_participants(void **state)
{
    (void)state;
    for (int wants = 0; wants < 2; wants++) {
        struct toy *t = toy_open(CLIENTS, ROUNDS);
        memset(t->local_rounds, 0, sizeof t->local_rounds);
        t->wants_empty_rounds = wants;
        struct bench *b = bench_open(t, 2);
        float before[TOY_DIM];
        memcpy(before, engine_model(b->engine), sizeof before);
        run_rounds(b, 2);
        assert_memory_equal(before, engine_model(b->engine), sizeof before);
        assert_int_equal(b->report.row.participants, 0);
        assert_true(isnan(b->report.row.train_loss) && isnan(b->report.row.mean_local_rounds));
        assert_true(b->report.row.payload_bits == 0.0);
        assert_int_equal(t->aggregate_calls, wants ? 2 : 0);
        bench_close(b);
    }
}

static void test_evaluation_interval(void **state)
{
    (void)state;
    struct toy *t = toy_open(CLIENTS, ROUNDS);
    t->e.evaluation.every = 2;
    struct bench *b = bench_open(t, 1);
    const bool expected[ROUNDS] = {false, true, false, true, true}; /* the last one always */
    for (uint32_t r = 0; r < ROUNDS; r++) {
        run_rounds(b, 1);
        assert_true((b->report.row.measure != NULL) == expected[r]);
    }
    bench_close(b);
}

static void test_evaluation_changes_nothing(void **state)
{
    (void)state;
    float w[2][TOY_DIM];
    for (int rare = 0; rare < 2; rare++) {
        struct toy *t = toy_open(CLIENTS, ROUNDS);
        t->e.evaluation.every = rare ? 100 : 1;
        struct bench *b = bench_open(t, 1);
        run_rounds(b, ROUNDS);
        memcpy(w[rare], engine_model(b->engine), sizeof w[rare]);
        bench_close(b);
    }
    assert_memory_equal(w[0], w[1], sizeof w[0]);
}

static void test_measures_per_class_and_client(void **state)
{
    (void)state;
    struct toy *t = toy_open(CLIENTS, ROUNDS);
    t->e.evaluation.per_class = t->e.evaluation.per_client = true;
    struct bench *b = bench_open(t, 3);
    uint32_t n = 0;
    const char *const *names = engine_measures(b->engine, &n);
    assert_int_equal(n, 1 + TOY_LABELS);
    assert_string_equal(names[0], "loss");
    assert_string_equal(names[1 + 3], "loss_label_3");
    uint32_t histogram[TOY_LABELS];
    memcpy(histogram, world_histogram(b->world, 4), sizeof histogram);
    run_rounds(b, 1);
    /* Test samples are spread evenly over the labels. */
    const double *m = b->report.row.measure;
    assert_true(fabs(m[0] - (m[1] + m[2] + m[3] + m[4]) / 4.0) < 1e-12);
    double mean = 0.0;
    double samples = 0.0;
    for (uint32_t label = 0; label < TOY_LABELS; label++) {
        mean += histogram[label] * m[1 + label];
        samples += histogram[label];
    }
    assert_true(fabs(b->report.clients.measure[4] - mean / samples) < 1e-12);
    bench_close(b);
}

static void test_threads_change_nothing(void **state)
{
    (void)state;
    float w[TOY_DIM];
    double loss = 0.0;
    for (unsigned threads = 1; threads <= 7; threads++) {
        struct toy *t = toy_open(CLIENTS, ROUNDS);
        t->vectors = 1;
        struct bench *b = bench_open(t, threads);
        run_rounds(b, ROUNDS);
        if (threads == 1) {
            memcpy(w, engine_model(b->engine), sizeof w);
            loss = b->report.row.train_loss;
        }
        assert_memory_equal(w, engine_model(b->engine), sizeof w);
        assert_true(loss == b->report.row.train_loss);
        bench_close(b);
    }
}

static void test_uplink_loss(void **state)
{
    (void)state;
    struct toy *t = toy_open(CLIENTS, 200);
    t->e.uplink.loss_probability = 0.25;
    struct bench *b = bench_open(t, 1);
    uint32_t lost = 0;
    uint32_t pairs = 0; /* rounds in which clients 0 and 1 both lose theirs */
    for (uint32_t r = 0; r < 200; r++) {
        run_rounds(b, 1);
        for (uint32_t u = 0; u < CLIENTS; u++)
            lost += b->report.clients.reason[u] == OUT_LOST;
        pairs += b->report.clients.reason[0] == OUT_LOST && b->report.clients.reason[1] == OUT_LOST;
        assert_true(b->report.row.upload_j == CLIENTS * 0.25); /* spent in vain too */
    }
    /* 1200 draws of 1/4: five standard deviations are 75. */
    assert_in_range(lost, 225, 375);
    /* Clients lose theirs independently: 200 draws of 1/16, where one draw for all had 1/4. */
    assert_in_range(pairs, 1, 30);
    bench_close(b);
}

/* What is stored counts, round after round; an empty store stays out. */
static void test_uneven_stores(void **state)
{
    (void)state;
    struct toy *t = toy_open(CLIENTS, ROUNDS);
    t->uneven_stores = true;
    struct bench *b = bench_open(t, 1);
    for (uint32_t r = 0; r < ROUNDS; r++) {
        uint64_t stored[CLIENTS];
        uint64_t total = 0;
        memcpy(stored, world_stored(b->world), sizeof stored);
        for (uint32_t u = 0; u < CLIENTS; u++)
            total += stored[u];
        run_rounds(b, 1);
        assert_int_equal(t->aggregated_samples, total);
        assert_int_equal(b->report.row.participants, CLIENTS - (r == 0));
        for (uint32_t u = 0; u < CLIENTS; u++) {
            assert_true(t->alpha[u] == (double)stored[u] / (double)total);
            assert_int_equal(b->report.clients.samples[u], stored[u]);
            assert_int_equal(b->report.clients.reason[u], stored[u] > 0 ? 0 : OSAFL_OUT_ABSENT);
        }
    }
    bench_close(b);

    t = toy_open(CLIENTS, ROUNDS);
    t->uneven_stores = true;
    t->pooled = true;
    b = bench_open(t, 1);
    run_rounds(b, 1);
    assert_int_equal(t->n_batches, (CLIENTS - 1) * 5 * 3); /* none for the empty store */
    bench_close(b);
}

static void test_pooled(void **state)
{
    (void)state;
    struct toy *t = toy_open(CLIENTS, ROUNDS);
    t->pooled = true;
    struct bench *b = bench_open(t, 2);
    run_rounds(b, 1);
    /* As many steps as 6 clients with 5 local rounds of 3 mini-batches, over all stores. */
    assert_int_equal(t->n_batches, CLIENTS * 5 * 3);
    assert_true(t->aggregated_samples == world_population(b->world)->total_capacity);
    assert_null(b->report.clients.gain);
    assert_null(b->report.clients.answer);
    assert_true(isnan(b->report.row.payload_bits));
    assert_true(b->report.row.train_loss > 0.0);
    bench_close(b);

    t = toy_open(CLIENTS, ROUNDS);
    t->pooled = true;
    t->pooled_steps = 7;
    b = bench_open(t, 1);
    run_rounds(b, 1);
    assert_int_equal(t->n_batches, 7);
    bench_close(b);
}

/* ---- what goes wrong ---- */

static struct bench *faulty(enum toy_fault fault)
{
    struct toy *t = toy_open(CLIENTS, ROUNDS);
    t->fault = fault;
    t->fault_round = 1;
    t->fault_client = 3;
    t->vectors = fault == TOY_NAN_BROADCAST;
    struct bench *b = bench_open(t, 2);
    run_rounds(b, 1);
    return b;
}

static void test_faults_are_named(void **state)
{
    (void)state;
    const struct {
        enum toy_fault fault;
        osafl_status status;
        const char *words;
    } cases[] = {
        {TOY_NAN_LOSS, OSAFL_E_NUMERIC, "round 1, client 3: the training loss is not finite"},
        {TOY_NAN_GAIN, OSAFL_E_NUMERIC, "channel/toy, round 1: gains() gives client 3 a gain of"},
        {TOY_NAN_MODEL, OSAFL_E_NUMERIC, "aggregator/toy, round 1: aggregate() made parameter 3"},
        {TOY_NAN_BROADCAST, OSAFL_E_NUMERIC, "aggregator/toy, round 1: broadcast() sends"},
        {TOY_ASKS_ABSENT, OSAFL_E_BUG, "selection/toy, round 1: choose() asks client 3, which is"},
        {TOY_ASKS_TWICE, OSAFL_E_BUG, "selection/toy, round 1: choose() gives client 3 a 2, where"},
        {TOY_HUGE_FILTER, OSAFL_E_NUMERIC, "filter/toy, round 1, client 3: the filter makes an"},
        {TOY_FALSE_FILTER, OSAFL_E_BUG, "filter/toy, round 1, client 3: labels() gives a sample"},
        {TOY_NO_REASON, OSAFL_E_BUG, "resource/toy, round 1: solve() gives client 3 0 local"},
        {TOY_TOO_MANY_ROUNDS, OSAFL_E_BUG, "resource/toy, round 1: solve() gives client 3 6 local"},
        {TOY_FAILING_MODEL, OSAFL_E_BUG, "model/toy, round 1, client 3: the toy breaks"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench *b = faulty(cases[i].fault);
        assert_int_equal(run_round(b), cases[i].status);
        if (strstr(b->error.text, cases[i].words) == NULL)
            fail_msg("\"%s\" is not in: %s", cases[i].words, b->error.text);
        bench_close(b);
    }
}

static void count_empty(void *arg, int32_t level, const char *line)
{
    int *n = arg;
    assert_int_equal(level, OSAFL_LOG_WARN);
    assert_non_null(strstr(line, "selection/toy, round 1: no client is selected"));
    (*n)++;
}

/* The model stays as it was, and the next round goes on. */
static void test_round_in_which_nobody_is_asked(void **state)
{
    (void)state;
    int warnings = 0;
    float before[TOY_DIM];
    struct bench *b = faulty(TOY_NOBODY);
    b->session.context.log = count_empty;
    b->session.context.log_arg = &warnings;
    memcpy(before, engine_model(b->engine), sizeof before);
    run_rounds(b, 1);
    assert_int_equal(warnings, 1);
    assert_int_equal(b->report.row.participants, 0);
    assert_memory_equal(engine_model(b->engine), before, sizeof before);
    run_rounds(b, 1);
    assert_true(b->report.row.participants > 0);
    bench_close(b);
}

/* What a selection sees after a round. */
static void test_history_reaches_the_selection(void **state)
{
    (void)state;
    struct toy *t = toy_open(CLIENTS, ROUNDS);
    struct bench *b = bench_open(t, 1);
    run_rounds(b, 1);
    for (uint32_t u = 0; u < CLIENTS; u++) {
        assert_int_equal(t->history_age[u], 1); /* round + 1: never */
        assert_true(isnan(t->history_loss[u]) && isnan(t->history_norm[u]));
    }
    double loss[CLIENTS];
    memcpy(loss, b->report.clients.train_loss, sizeof loss);
    run_rounds(b, 1);
    for (uint32_t u = 0; u < CLIENTS; u++) {
        if (isnan(loss[u])) {
            assert_int_equal(t->history_age[u], 2);
            continue;
        }
        assert_int_equal(t->history_age[u], 1);
        assert_true(t->history_loss[u] == loss[u]);
        assert_true(t->history_norm[u] > 0.0 && isfinite(t->history_norm[u]));
    }
    bench_close(b);
}

static void test_divergence_can_be_dropped(void **state)
{
    (void)state;
    int warnings = 0;
    struct bench *b = faulty(TOY_NAN_LOSS);
    b->toy->e.general.on_divergence.index = 1;
    b->session.context.log = count_warning;
    b->session.context.log_arg = &warnings;
    run_rounds(b, 1);
    assert_int_equal(warnings, 1);
    assert_int_equal(b->report.row.diverged, 1);
    b->toy->fault_round = 2;
    run_rounds(b, 1);
    assert_int_equal(warnings, 1); /* it is told once */
    assert_int_equal(b->report.row.diverged, 1);
    assert_int_equal(b->report.clients.reason[3], OUT_DIVERGED);
    assert_int_equal(b->report.row.participants, CLIENTS - 1);
    /* It has computed, and sent nothing. */
    assert_true(b->report.row.compute_j == CLIENTS && b->report.row.upload_j == 1.25);
    assert_true(b->report.row.payload_bits == (CLIENTS - 1) * 32.0 * TOY_DIM);
    for (uint32_t j = 0; j < TOY_DIM; j++)
        assert_true(isfinite(engine_model(b->engine)[j]));
    bench_close(b);
}

static void test_misfits_are_refused(void **state)
{
    (void)state;
    struct toy *t = toy_open(CLIENTS, ROUNDS);
    struct session s;
    const struct host_context context = {.log_level = OSAFL_LOG_ERROR};
    struct diagnostics *d = diagnostics_create();
    t->vectors = 1;
    t->misfit = true;
    assert_int_equal(session_create(&s, &t->e, NULL, &context, d), OSAFL_E_CONFIG);
    assert_int_equal(diagnostics_errors(d), 1);
    t->vectors = 0;
    t->e.evaluation.split.index = 1; /* the toy has no validation samples */
    assert_int_equal(session_create(&s, &t->e, NULL, &context, d), OSAFL_E_CONFIG);
    t->e.evaluation.split.index = 0;
    t->sends = 9;
    assert_int_equal(session_create(&s, &t->e, NULL, &context, d), OSAFL_E_UNSUPPORTED);
    assert_int_equal(diagnostics_errors(d), 3);
    diagnostics_destroy(d);
    toy_close(t);
}

/* ---- checkpoints ---- */

static struct toy *stateful_toy(void)
{
    struct toy *t = toy_open(CLIENTS, ROUNDS);
    t->vectors = 1;
    t->quantizer_floats = 1;
    t->local_rounds[5] = 0; /* never trains, and has no vectors to keep */
    return t;
}

/* The engine's records as a block, freed by the caller. */
static void *save(struct bench *b, size_t *size)
{
    const void *data = NULL;
    struct record_writer *w = record_writer_create();
    if (engine_save(b->engine, w, &b->error) != OSAFL_OK ||
        record_writer_finish(w, &data, size, &b->error) != OSAFL_OK)
        fail_msg("%s", b->error.text);
    void *copy = malloc(*size);
    memcpy(copy, data, *size);
    record_writer_destroy(w);
    return copy;
}

static osafl_status load(struct bench *b, const void *data, size_t size)
{
    struct record_set *set = NULL;
    OSAFL_TRY(record_set_open(data, size, &set, &b->error));
    const osafl_status status = engine_load(b->engine, set, &b->error);
    record_set_destroy(set);
    return status;
}

static void test_checkpoint_goes_on_where_it_stood(void **state)
{
    (void)state;
    struct bench *whole = bench_open(stateful_toy(), 1);
    run_rounds(whole, 2);
    size_t size = 0;
    size_t again_size = 0;
    size_t end_size = 0;
    size_t resumed_size = 0;
    void *data = save(whole, &size);
    run_rounds(whole, ROUNDS - 2);
    void *end = save(whole, &end_size);

    struct bench *resumed = bench_open(stateful_toy(), 3);
    if (load(resumed, data, size) != OSAFL_OK)
        fail_msg("%s", resumed->error.text);
    assert_int_equal(engine_round(resumed->engine), 2);
    void *again = save(resumed, &again_size);
    assert_int_equal(size, again_size);
    assert_memory_equal(data, again, size);
    run_rounds(resumed, ROUNDS - 2);
    void *resumed_end = save(resumed, &resumed_size);
    assert_int_equal(end_size, resumed_size);
    assert_memory_equal(end, resumed_end, end_size);
    free(resumed_end);
    free(again);
    free(end);
    free(data);
    bench_close(whole);
    bench_close(resumed);
}

/* Records of a run with other clients or rounds must not fit, whatever their checksums say. */
static void test_foreign_checkpoint_is_refused(void **state)
{
    (void)state;
    struct bench *b = bench_open(stateful_toy(), 1);
    run_rounds(b, 3);
    size_t size = 0;
    void *data = save(b, &size);
    bench_close(b);

    b = bench_open(toy_open(CLIENTS, ROUNDS), 1); /* without vectors */
    assert_int_equal(load(b, data, size), OSAFL_E_STATE);
    assert_true(b->error.text[0] != '\0');
    bench_close(b);
    struct toy *t = stateful_toy();
    t->e.general.rounds = 2; /* the checkpoint stands after the last round */
    b = bench_open(t, 1);
    assert_int_equal(load(b, data, size), OSAFL_E_STATE);
    bench_close(b);
    t = stateful_toy();
    t->e.clients.count = 4; /* fewer clients than have trained */
    b = bench_open(t, 1);
    assert_int_equal(load(b, data, size), OSAFL_E_STATE);
    bench_close(b);
    free(data);
}

/* Changes the first record "round", the engine's own, and puts the checksum right. */
static void set_engine_round(uint8_t *block, size_t size, uint64_t round)
{
    static const uint8_t head[] = {5, 0, 0, 0, 1,   0,   0,   0,   1,   0, 0, 0,
                                   0, 0, 0, 0, 'r', 'o', 'u', 'n', 'd', 0, 0, 0};
    uint8_t *at = memmem(block, size, head, sizeof head);
    assert_non_null(at);
    memcpy(at + sizeof head, &round, sizeof round);
    const uint64_t sum = XXH3_64bits(block, size - sizeof sum);
    memcpy(block + size - sizeof sum, &sum, sizeof sum);
}

static void test_rounds_of_model_and_stores_must_agree(void **state)
{
    (void)state;
    struct bench *b = bench_open(stateful_toy(), 1);
    run_rounds(b, 3);
    size_t size = 0;
    void *data = save(b, &size);
    bench_close(b);
    b = bench_open(stateful_toy(), 1);
    set_engine_round(data, size, 2);
    assert_int_equal(load(b, data, size), OSAFL_E_STATE);
    assert_non_null(strstr(b->error.text, "model and stores are of different rounds"));
    bench_close(b);
    b = bench_open(stateful_toy(), 1);
    set_engine_round(data, size, 3);
    assert_int_equal(load(b, data, size), OSAFL_OK);
    bench_close(b);
    free(data);
}

/* What the mixes of all rounds take is known before the run; fewer threads would not help. */
static void test_too_many_mixes_are_named(void **state)
{
    (void)state;
    struct toy *t = toy_open(CLIENTS, ROUNDS);
    struct bench *b = bench_open(t, 1);
    const uint32_t labels = b->session.dataset.labels;
    struct engine *none = NULL;
    struct error error;
    t->e.evaluation.mixes = true;
    b->session.facts.rounds = 1u << 22;
    b->session.dataset.labels = 1u << 24; /* 2^22 (2^24 + 1) 8 bytes: no machine can address them */
    assert_int_equal(engine_create(&b->session, b->world, &none, &error), OSAFL_E_NOMEM);
    assert_null(none);
    assert_string_equal(error.text,
                        "out of memory: evaluation.mixes keeps 5.63e+05 GB, the label mix of each "
                        "of 4194304 rounds; lower rounds, or set evaluation.mixes = false");
    b->session.dataset.labels = labels;
    bench_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_is_recorded),
        cmocka_unit_test(test_round_without_participants),
        cmocka_unit_test(test_evaluation_interval),
        cmocka_unit_test(test_evaluation_changes_nothing),
        cmocka_unit_test(test_measures_per_class_and_client),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_uplink_loss),
        cmocka_unit_test(test_pooled),
        cmocka_unit_test(test_uneven_stores),
        cmocka_unit_test(test_faults_are_named),
        cmocka_unit_test(test_round_in_which_nobody_is_asked),
        cmocka_unit_test(test_history_reaches_the_selection),
        cmocka_unit_test(test_divergence_can_be_dropped),
        cmocka_unit_test(test_misfits_are_refused),
        cmocka_unit_test(test_checkpoint_goes_on_where_it_stood),
        cmocka_unit_test(test_foreign_checkpoint_is_refused),
        cmocka_unit_test(test_rounds_of_model_and_stores_must_agree),
        cmocka_unit_test(test_too_many_mixes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
