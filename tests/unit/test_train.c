/* test_train.c - local training of one client: the order of its samples, the steps, what it sends,
 * and what becomes of an update that diverges or is lost. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "round/train.h"
#include "toy_plugins.h"

#define STORED 40

/* A trainer with one worker on the toys, and a client with a store of its own. */
struct bench {
    struct toy *toy;
    struct session session;
    struct worker *worker;
    struct client_state state;
    uint64_t sample[STORED];
    float w[TOY_DIM];
    float one[TOY_DIM];
    struct train_task task;
    struct train_result result;
};

/* Opens what the toy's settings say. */
static struct bench *bench_open(struct toy *t)
{
    struct bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->toy = t;
    toy_session(t, &b->session);
    b->worker = worker_create(&b->session);
    assert_non_null(b->worker);
    for (uint32_t i = 0; i < STORED; i++)
        b->sample[i] = 7 * i + 3;
    for (uint32_t j = 0; j < TOY_DIM; j++)
        b->w[j] = 0.5f * (float)j;
    b->task = (struct train_task){.client = 1,
                                  .round = 2,
                                  .local_rounds = 2,
                                  .minibatches = 3,
                                  .store = {.n = STORED, .sample = b->sample},
                                  .w = b->w,
                                  .broadcast = b->one,
                                  .state = &b->state};
    return b;
}

static void bench_close(struct bench *b)
{
    train_result_free(&b->session, &b->result);
    client_state_free(&b->state);
    worker_destroy(b->worker);
    session_destroy(&b->session);
    toy_close(b->toy);
    free(b);
}

static void decode(struct bench *b, uint32_t slot, float *out)
{
    osafl_call c;
    call_begin(&c, session_uplink(&b->session), OSAFL_NO_CLIENT, 0);
    assert_int_equal(
        call_end(&c, codec_decode(&b->session.codec, &c, &b->result.code[slot], 0, TOY_DIM, out)),
        OSAFL_OK);
}

static osafl_status train(struct bench *b)
{
    train_result_free(&b->session, &b->result);
    return train_client(&b->session, &b->task, b->worker, &b->result);
}

static bool is_permutation(const uint64_t *sample, uint32_t n, const uint64_t *of)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t found = 0;
        for (uint32_t j = 0; j < n; j++)
            found += sample[j] == of[i];
        if (found != 1)
            return false;
    }
    return true;
}

/* ---- order of the samples ---- */

static void test_local_round_draws_without_replacement(void **state)
{
    (void)state;
    struct bench *b = bench_open(toy_open(3, 5));
    assert_int_equal(train(b), OSAFL_OK);
    assert_int_equal(b->result.steps, 6);
    assert_int_equal(b->toy->n_samples, 24);
    for (uint32_t r = 0; r < 2; r++) {
        const uint64_t *drawn = b->toy->sample + 12 * r;
        for (uint32_t i = 0; i < 12; i++) {
            assert_true(drawn[i] % 7 == 3 && drawn[i] < 7 * STORED);
            for (uint32_t j = 0; j < i; j++)
                assert_true(drawn[i] != drawn[j]);
        }
    }
    /* Each local round shuffles anew. */
    assert_memory_not_equal(b->toy->sample, b->toy->sample + 12, 12 * sizeof(uint64_t));
    bench_close(b);
}

static void test_order_is_named_by_client_and_round_alone(void **state)
{
    (void)state;
    uint64_t first[24];
    struct bench *b = bench_open(toy_open(3, 5));
    assert_int_equal(train(b), OSAFL_OK);
    memcpy(first, b->toy->sample, sizeof first);
    for (int change = 0; change < 4; change++) {
        toy_forget(b->toy);
        b->task.client = change == 1 ? 2 : 1;
        b->task.round = change == 2 ? 3 : 2;
        b->w[0] = change == 3 ? 9.0f : 0.0f; /* the model has no say */
        assert_int_equal(train(b), OSAFL_OK);
        if (change == 1 || change == 2)
            assert_memory_not_equal(first, b->toy->sample, sizeof first);
        else
            assert_memory_equal(first, b->toy->sample, sizeof first);
    }
    bench_close(b);
}

static void test_small_store_wraps(void **state)
{
    (void)state;
    struct bench *b = bench_open(toy_open(3, 5));
    b->task.local_rounds = 1;
    b->task.store.n = 5; /* 12 draws: two whole permutations and two of a third */
    assert_int_equal(train(b), OSAFL_OK);
    assert_int_equal(b->toy->n_samples, 12);
    assert_true(is_permutation(b->toy->sample, 5, b->sample));
    assert_true(is_permutation(b->toy->sample + 5, 5, b->sample));
    assert_memory_not_equal(b->toy->sample, b->toy->sample + 5, 5 * sizeof(uint64_t));
    toy_forget(b->toy);
    b->task.store.n = 1;
    assert_int_equal(train(b), OSAFL_OK);
    assert_int_equal(b->toy->n_samples, 12);
    bench_close(b);
}

static void test_no_minibatches_means_one_pass(void **state)
{
    (void)state;
    struct bench *b = bench_open(toy_open(3, 5));
    b->task.minibatches = 0;
    b->task.store.n = 10;
    assert_int_equal(train(b), OSAFL_OK);
    assert_int_equal(b->result.steps, 6);
    assert_int_equal(b->toy->n_samples, 20);
    assert_true(is_permutation(b->toy->sample, 10, b->sample));
    assert_true(is_permutation(b->toy->sample + 10, 10, b->sample));
    assert_int_equal(b->toy->batch_size[0], 4);
    assert_int_equal(b->toy->batch_size[2], 2);
    bench_close(b);
}

/* ---- steps and updates ---- */

/* The same training from the recorded batches. */
static void replay(const struct bench *b, float *w, double *mean_loss)
{
    double loss_sum = 0.0;
    memcpy(w, b->w, TOY_DIM * sizeof *w);
    const uint64_t *at = b->toy->sample;
    for (uint32_t step = 0; step < b->toy->n_batches; step++) {
        double mean = 0.0;
        const uint32_t n = b->toy->batch_size[step];
        for (uint32_t i = 0; i < n; i++)
            mean += (double)toy_value(at[i]) / n;
        for (uint32_t j = 0; j < TOY_DIM; j++) {
            for (uint32_t i = 0; i < n; i++)
                loss_sum += 0.5 * pow((double)w[j] - (double)toy_value(at[i]), 2.0) / n;
            w[j] -= (float)TOY_RATE * (float)((double)w[j] - mean);
        }
        at += n;
    }
    *mean_loss = loss_sum / b->toy->n_batches;
}

static void test_updates_are_what_was_asked_for(void **state)
{
    (void)state;
    for (uint32_t sends = OSAFL_SENDS_DELTA; sends <= OSAFL_SENDS_PER_RATE; sends++) {
        struct toy *t = toy_open(3, 5);
        t->sends = sends;
        struct bench *b = bench_open(t);
        assert_int_equal(train(b), OSAFL_OK);
        assert_int_equal(b->result.outcome, TRAIN_ARRIVED);
        assert_true(b->result.rate == TOY_RATE && b->result.air_bits == 100.0);
        float w[TOY_DIM];
        float update[TOY_DIM];
        double loss = 0.0;
        replay(b, w, &loss);
        assert_true(fabs(b->result.train_loss - loss) <= 1e-12 * loss);
        decode(b, 0, update);
        for (uint32_t j = 0; j < TOY_DIM; j++) {
            const float delta = w[j] - b->w[j];
            const float per_round = (float)((double)(b->w[j] - w[j]) / 2.0);
            const float per_rate = (float)((double)(b->w[j] - w[j]) / (2.0 * TOY_RATE));
            assert_true(update[j] == (sends == OSAFL_SENDS_DELTA       ? delta
                                      : sends == OSAFL_SENDS_PER_ROUND ? per_round
                                                                       : per_rate));
        }
        bench_close(b);
    }
}

static void test_fused_step_is_used_where_it_can(void **state)
{
    (void)state;
    float update[3][TOY_DIM];
    for (int fused = TOY_NOT_FUSED; fused <= TOY_FUSED_REFUSED; fused++) {
        struct toy *t = toy_open(3, 5);
        t->fused = fused;
        struct bench *b = bench_open(t);
        assert_int_equal(train(b), OSAFL_OK);
        decode(b, 0, update[fused]);
        assert_int_equal(t->unfused_calls, fused == TOY_FUSED ? 0 : 6);
        /* A model that refuses is asked once. */
        assert_int_equal(t->fused_calls, fused == TOY_FUSED ? 6 : fused == TOY_NOT_FUSED ? 0 : 1);
        bench_close(b);
    }
    assert_memory_equal(update[TOY_NOT_FUSED], update[TOY_FUSED], sizeof update[0]);
    assert_memory_equal(update[TOY_NOT_FUSED], update[TOY_FUSED_REFUSED], sizeof update[0]);

    struct toy *t = toy_open(3, 5);
    t->fused = TOY_FUSED;
    t->vectors = 1; /* an optimizer that is not plain needs the gradient */
    struct bench *b = bench_open(t);
    assert_int_equal(train(b), OSAFL_OK);
    assert_int_equal(t->fused_calls, 0);
    bench_close(b);
}

static void test_optimizer_vectors(void **state)
{
    (void)state;
    struct toy *t = toy_open(3, 5);
    t->vectors = 1;
    struct bench *b = bench_open(t);
    float w[TOY_DIM];
    float sent[TOY_DIM];
    float update[TOY_DIM];
    double loss = 0.0;
    assert_int_equal(train(b), OSAFL_OK);
    replay(b, w, &loss);
    decode(b, 0, update);
    decode(b, 1, sent);
    assert_memory_equal(sent, w, sizeof w); /* finish() saw the trained model */
    assert_memory_equal(t->update, update, sizeof update);
    assert_true(b->result.air_bits == 200.0);
    assert_true(b->state.floats[0] == 1.0f && b->state.floats[1] == w[1]);
    assert_int_equal(train(b), OSAFL_OK); /* kept over rounds */
    assert_true(b->state.floats[0] == 2.0f);
    bench_close(b);
}

static void test_store_gradient(void **state)
{
    (void)state;
    struct toy *t = toy_open(3, 5);
    t->vectors = 1;
    t->ask_store_gradient = true;
    struct bench *b = bench_open(t);
    b->task.store.n = 10; /* not a multiple of the batch */
    assert_int_equal(train(b), OSAFL_OK);
    float gradient[TOY_DIM];
    double mean = 0.0;
    for (uint32_t i = 0; i < 10; i++)
        mean += (double)toy_value(b->sample[i]) / 10.0;
    decode(b, 1, gradient);
    for (uint32_t j = 0; j < TOY_DIM; j++)
        assert_true(fabs((double)gradient[j] - ((double)b->w[j] - mean)) < 1e-6);
    assert_int_equal(t->judging_calls, 3); /* batches of 4, 4 and 2; the steps themselves train */
    bench_close(b);
}

/* ---- what goes wrong ---- */

static void test_divergence_is_named_and_changes_nothing(void **state)
{
    (void)state;
    struct toy *t = toy_open(3, 5);
    t->vectors = 1;
    t->quantizer_floats = 1;
    t->fault = TOY_NAN_LOSS;
    t->fault_round = 2;
    t->fault_client = 1;
    struct bench *b = bench_open(t);
    assert_int_equal(train(b), OSAFL_OK);
    assert_int_equal(b->result.outcome, TRAIN_DIVERGED);
    assert_null(b->result.code);
    assert_true(isnan(b->result.train_loss));
    assert_string_equal(b->result.why,
                        "round 2, client 1: the training loss is not finite after 3 steps of "
                        "model/toy with optimizer/toy at learning rate 0.125; a smaller rate may "
                        "help");
    assert_int_equal(t->received_calls, 0);
    for (uint64_t i = 0; i < client_state_floats(&b->session); i++)
        assert_true(b->state.floats[i] == 0.0f);
    bench_close(b);
}

static void test_overflowing_update_is_a_divergence(void **state)
{
    (void)state;
    struct bench *b = bench_open(toy_open(3, 5));
    b->toy->fault = TOY_HUGE_FILTER;
    b->toy->fault_round = 2;
    b->toy->fault_client = 1;
    assert_int_equal(train(b), OSAFL_OK);
    assert_int_equal(b->result.outcome, TRAIN_DIVERGED);
    assert_string_equal(b->result.why, "filter/toy, round 2, client 1: the filter makes an "
                                       "update that is not finite; lower its settings");
    bench_close(b);
}

static void test_bad_data_is_attributed_to_the_data_set(void **state)
{
    (void)state;
    const enum toy_fault faults[] = {TOY_NAN_SAMPLE, TOY_BAD_LABEL, TOY_FAILING_MODEL};
    const char *const words[] = {"dataset/toy, round 2, client 1: a sample holds a value",
                                 "has label 4 outside 0..3",
                                 "model/toy, round 2, client 1: the toy"};
    const osafl_status expected[] = {OSAFL_E_DATA, OSAFL_E_DATA, OSAFL_E_BUG};
    for (int i = 0; i < 3; i++) {
        struct toy *t = toy_open(3, 5);
        t->fault = faults[i];
        t->fault_round = 2;
        t->fault_client = 1;
        struct bench *b = bench_open(t);
        assert_int_equal(train(b), expected[i]);
        assert_non_null(strstr(b->result.why, words[i]));
        assert_null(b->result.code);
        bench_close(b);
    }
}

/* Whatever fails, the thread is outside all plugins afterwards: a crash or a hang of the core is
 * not attributed to one that has returned. */
static void test_every_failure_leaves_the_plugin(void **state)
{
    (void)state;
    const struct {
        enum toy_fault fault;
        osafl_status status;
        const char *words;
    } cases[] = {
        {TOY_SOUND, OSAFL_OK, NULL},
        {TOY_NAN_LOSS, OSAFL_OK, "the training loss is not finite"},
        {TOY_NAN_SAMPLE, OSAFL_E_DATA, "a sample holds a value that is not finite"},
        {TOY_BAD_LABEL, OSAFL_E_DATA, "has label 4 outside 0..3"},
        {TOY_FAILING_MODEL, OSAFL_E_BUG, "the toy breaks"},
        {TOY_FAILING_ENCODE, OSAFL_E_NOMEM,
         "quantizer/toy, round 2, client 1: the toy has no memory"},
        {TOY_NAN_KEPT, OSAFL_E_BUG, "quantizer/toy, round 2, client 1: what is kept of"},
        {TOY_NAN_DECODE, OSAFL_E_BUG,
         "quantizer/toy, round 2, client 1: vector 0 decodes to a value that is not finite"},
        {TOY_FAILING_DECODE, OSAFL_E_NOMEM,
         "quantizer/toy, round 2, client 1: the toy cannot read it"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct toy *t = toy_open(3, 5);
        t->quantizer_floats = 1;
        t->fault = cases[i].fault;
        t->fault_round = 2;
        t->fault_client = 1;
        struct bench *b = bench_open(t);
        assert_int_equal(train(b), cases[i].status);
        if (cases[i].words != NULL)
            assert_non_null(strstr(b->result.why, cases[i].words));
        assert_null(call_current());
        assert_null(operation_current());
        assert_int_equal(*call_counter() % 2, 0);
        bench_close(b);
    }
}

/* The optimizer's floats, then one of the quantizer for each of two slots, each on a boundary of 64
 * bytes; all count the updates, of which there was one. */
static void assert_state(const struct bench *b)
{
    const uint64_t own = (TOY_DIM + 15) / 16 * 16;
    assert_int_equal(client_state_floats(&b->session), own + 2 * 16);
    assert_true(b->state.floats[0] == 1.0f);
    assert_true(b->state.floats[own] == 1.0f);
    assert_true(b->state.floats[own + 16] == 1.0f);
}

static void test_lost_update_changes_nobodys_state(void **state)
{
    (void)state;
    struct toy *t = toy_open(3, 5);
    t->vectors = 1;
    t->quantizer_floats = 1;
    struct bench *b = bench_open(t);
    assert_int_equal(train(b), OSAFL_OK);
    assert_state(b);
    b->task.lost = true;
    assert_int_equal(train(b), OSAFL_OK);
    assert_int_equal(b->result.outcome, TRAIN_LOST);
    assert_null(b->result.code);
    assert_true(b->result.air_bits == 200.0); /* spent all the same */
    assert_int_equal(t->received_calls, 1);
    assert_state(b);
    bench_close(b);
}

static void test_stop_is_heard(void **state)
{
    (void)state;
    struct bench *b = bench_open(toy_open(3, 5));
    const atomic_int stop = 1;
    b->session.context.cancelled = &stop;
    assert_int_equal(train(b), OSAFL_E_CANCELLED);
    assert_int_equal(b->toy->n_samples, 0);
    bench_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_local_round_draws_without_replacement),
        cmocka_unit_test(test_order_is_named_by_client_and_round_alone),
        cmocka_unit_test(test_small_store_wraps),
        cmocka_unit_test(test_no_minibatches_means_one_pass),
        cmocka_unit_test(test_updates_are_what_was_asked_for),
        cmocka_unit_test(test_fused_step_is_used_where_it_can),
        cmocka_unit_test(test_optimizer_vectors),
        cmocka_unit_test(test_store_gradient),
        cmocka_unit_test(test_divergence_is_named_and_changes_nothing),
        cmocka_unit_test(test_overflowing_update_is_a_divergence),
        cmocka_unit_test(test_bad_data_is_attributed_to_the_data_set),
        cmocka_unit_test(test_every_failure_leaves_the_plugin),
        cmocka_unit_test(test_lost_update_changes_nobodys_state),
        cmocka_unit_test(test_stop_is_heard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
