/* test_optimizer_steps.c - steps, schedules and variates of the optimizers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "osafl/optimizer.h"
#include "plugin_fixture.h"

#define DIM 5
#define ROUNDS 11

static const osafl_facts facts = {
    .struct_size = sizeof(osafl_facts), .clients = 3, .rounds = ROUNDS, .dim = DIM};

/* An optimizer with learning rate 0.5 unless the settings say otherwise, and a client's vectors. */
struct bench {
    struct fixture *fixture;
    const osafl_optimizer_vt *vt;
    void *self;
    osafl_optimizer_info info;
    float w[DIM];
    float grad[DIM];
    float w_start[DIM];
    float broadcast[DIM];
    float client_state[DIM];
    float round_state[DIM];
    float uplink[DIM];
    float *uplinks[1];
    osafl_local local;
};

static void configure(struct fixture *f, const char *const *settings)
{
    fixture_set(f, "learning_rate", "0.5");
    for (; settings != NULL && settings[0] != NULL; settings += 2)
        fixture_set(f, settings[0], settings[1]);
}

static double rate_of(struct fixture *f, uint32_t round)
{
    const osafl_optimizer_vt *vt = fixture_vtable(f);
    double rate = 0.0;
    osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, round);
    assert_int_equal(fixture_end(f, vt->rate(f->instance.self, c, round, &rate)), OSAFL_OK);
    return rate;
}

static struct bench *bench_open(const char *name, const char *const *settings)
{
    struct bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->fixture = fixture_open("optimizer", name);
    configure(b->fixture, settings);
    assert_int_equal(fixture_create(b->fixture, &facts), OSAFL_OK);
    b->vt = fixture_vtable(b->fixture);
    b->self = b->fixture->instance.self;
    b->info.struct_size = sizeof b->info;
    osafl_call *c = fixture_begin(b->fixture, OSAFL_NO_CLIENT, 0);
    assert_int_equal(fixture_end(b->fixture, b->vt->describe(b->self, c, &b->info)), OSAFL_OK);
    for (unsigned i = 0; i < DIM; i++) {
        b->w[i] = 1.0f + (float)i;
        b->w_start[i] = 0.5f * (float)i;
        b->grad[i] = 0.25f * (float)i - 0.5f;
        b->broadcast[i] = 2.0f - (float)i;
        b->client_state[i] = 0.125f * (float)i;
    }
    b->uplinks[0] = b->uplink;
    b->local = (osafl_local){.struct_size = sizeof b->local,
                             .client = 1,
                             .dim = DIM,
                             .rate = rate_of(b->fixture, 0),
                             .w_start = b->w_start,
                             .broadcast = b->broadcast,
                             .client_state = b->client_state,
                             .round_state = b->round_state,
                             .uplink = b->uplinks};
    return b;
}

static void bench_close(struct bench *b)
{
    fixture_close(b->fixture);
    free(b);
}

/* A step from a copy of b->grad. */
static void step(struct bench *b)
{
    float grad[DIM];
    memcpy(grad, b->grad, sizeof grad);
    osafl_call *c = fixture_begin(b->fixture, 1, 0);
    assert_int_equal(fixture_end(b->fixture, b->vt->step(b->self, c, &b->local, b->w, grad)),
                     OSAFL_OK);
    b->local.step++;
}

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-6 * fmax(1.0, fabs(want))))
        fail_msg("%.9g instead of %.9g", got, want);
}

static void test_plain_step(void **unused)
{
    (void)unused;
    struct bench *b = bench_open("sgd", NULL);
    assert_int_equal(b->info.is_plain, 1);
    assert_int_equal(b->info.round_floats, 0);
    step(b);
    for (unsigned i = 0; i < DIM; i++)
        assert_true(b->w[i] == 1.0f + (float)i - 0.5f * b->grad[i]);
    bench_close(b);
}

static void test_momentum_and_weight_decay(void **unused)
{
    (void)unused;
    struct bench *b =
        bench_open("sgd", (const char *[]){"momentum", "0.9", "weight_decay", "0.01", NULL});
    assert_int_equal(b->info.is_plain, 0);
    assert_int_equal(b->info.round_floats, DIM);
    double w[DIM];
    double velocity[DIM] = {0};
    for (unsigned i = 0; i < DIM; i++)
        w[i] = (double)b->w[i];
    for (unsigned t = 0; t < 4; t++) {
        step(b);
        for (unsigned i = 0; i < DIM; i++) {
            velocity[i] = 0.9 * velocity[i] + (double)b->grad[i] + 0.01 * w[i];
            w[i] -= 0.5 * velocity[i];
            assert_near((double)b->w[i], w[i]);
        }
    }
    bench_close(b);
    b = bench_open("sgd", (const char *[]){"weight_decay", "0.01", NULL});
    assert_int_equal(b->info.is_plain, 0);
    assert_int_equal(b->info.round_floats, 0);
    step(b);
    for (unsigned i = 0; i < DIM; i++) {
        const double w0 = 1.0 + i;
        assert_near((double)b->w[i], w0 - 0.5 * ((double)b->grad[i] + 0.01 * w0));
    }
    bench_close(b);
}

static void check_rates(const char *const *settings, const double *want)
{
    static const char *const names[] = {"sgd", "proximal", "scaffold"};
    for (size_t n = 0; n < 3; n++) {
        struct bench *b = bench_open(names[n], settings);
        /* Backwards: a rate depends on nothing but its round. */
        for (uint32_t t = ROUNDS; t-- > 0;) {
            assert_near(rate_of(b->fixture, t), want[t]);
            assert_true(rate_of(b->fixture, t) > 0.0);
        }
        bench_close(b);
    }
}

static void test_schedules(void **unused)
{
    (void)unused;
    double want[ROUNDS];
    for (unsigned t = 0; t < ROUNDS; t++)
        want[t] = 0.5;
    check_rates(NULL, want);
    for (unsigned t = 0; t < ROUNDS; t++)
        want[t] = 0.5 * pow(0.1, t / 4);
    check_rates(
        (const char *[]){"schedule", "step", "step_rounds", "4", "step_factor", "0.1", NULL}, want);
    for (unsigned t = 0; t < ROUNDS; t++)
        want[t] = 0.5 - (0.5 - 0.05) * t / 10.0;
    check_rates((const char *[]){"schedule", "linear", "final_factor", "0.1", NULL}, want);
    for (unsigned t = 0; t < ROUNDS; t++)
        want[t] = 0.05 + 0.45 * 0.5 * (1.0 + cos(acos(-1.0) * t / 10.0));
    check_rates((const char *[]){"schedule", "cosine", "final_factor", "0.1", NULL}, want);
}

/* Of a run of one round every schedule has the rate of round 0. */
static void test_schedule_of_one_round(void **unused)
{
    (void)unused;
    static const char *const schedules[] = {"constant", "step", "cosine", "linear"};
    const osafl_facts one = {.struct_size = sizeof one, .clients = 1, .rounds = 1};
    for (size_t s = 0; s < 4; s++) {
        struct fixture *f = fixture_open("optimizer", "sgd");
        configure(f, (const char *[]){"schedule", schedules[s], NULL});
        assert_int_equal(fixture_create(f, &one), OSAFL_OK);
        assert_true(rate_of(f, 0) == 0.5);
        fixture_close(f);
    }
}

static void test_vanishing_rate_is_refused(void **unused)
{
    (void)unused;
    const osafl_facts many = {.struct_size = sizeof many, .clients = 1, .rounds = 500};
    struct fixture *f = fixture_open("optimizer", "sgd");
    configure(f, (const char *[]){"schedule", "step", "step_rounds", "1", NULL});
    assert_int_equal(fixture_create(f, &many), OSAFL_E_CONFIG);
    assert_non_null(strstr(f->error.text, "raise learning_rate, step_rounds"));
    fixture_close(f);
}

static void test_proximal_term(void **unused)
{
    (void)unused;
    static const char *const mus[] = {"0.01", "1", "3"};
    for (size_t m = 0; m < 3; m++) {
        struct bench *b = bench_open("proximal", (const char *[]){"mu", mus[m], NULL});
        assert_int_equal(b->info.is_plain, 0);
        const double mu = strtod(mus[m], NULL);
        step(b);
        for (unsigned i = 0; i < DIM; i++) {
            const double w0 = 1.0 + i;
            const double pull = mu * (w0 - (double)b->w_start[i]);
            assert_near((double)b->w[i], w0 - 0.5 * ((double)b->grad[i] + pull));
            assert_true(fabs(pull) > 0.0);
        }
        bench_close(b);
    }
}

static void test_proximal_without_pull_is_sgd(void **unused)
{
    (void)unused;
    struct bench *a = bench_open("proximal", (const char *[]){"mu", "0", NULL});
    struct bench *b = bench_open("sgd", NULL);
    for (unsigned t = 0; t < 7; t++) {
        step(a);
        step(b);
        assert_memory_equal(a->w, b->w, sizeof a->w);
    }
    bench_close(a);
    bench_close(b);
}

static void finish(struct bench *b)
{
    osafl_call *c = fixture_begin(b->fixture, 1, 0);
    assert_int_equal(fixture_end(b->fixture, b->vt->finish(b->self, c, &b->local, b->w)), OSAFL_OK);
}

static void test_scaffold_step(void **unused)
{
    (void)unused;
    struct bench *b = bench_open("scaffold", NULL);
    assert_int_equal(b->info.is_plain, 0);
    assert_int_equal(b->info.client_floats, DIM);
    assert_int_equal(b->info.broadcast_floats, DIM);
    assert_int_equal(b->info.uplink_vectors, 1);
    step(b);
    for (unsigned i = 0; i < DIM; i++) {
        const double corrected =
            (double)b->grad[i] - (double)b->client_state[i] + (double)b->broadcast[i];
        assert_near((double)b->w[i], 1.0 + i - 0.5 * corrected);
    }
    bench_close(b);
}

/* Option II: c_u+ - c_u = -c + (w - y) / (K rate). */
static void test_scaffold_variate_along_the_path(void **unused)
{
    (void)unused;
    struct bench *b = bench_open("scaffold", NULL);
    for (unsigned t = 0; t < 6; t++)
        step(b);
    finish(b);
    for (unsigned i = 0; i < DIM; i++) {
        const double path = ((double)b->w_start[i] - (double)b->w[i]) / (6.0 * 0.5);
        assert_near((double)b->uplink[i], path - (double)b->broadcast[i]);
        assert_true(b->client_state[i] == 0.125f * (float)i); /* not before it is received */
    }
    bench_close(b);
}

static osafl_status known_gradient(const osafl_local *l, osafl_call *c, const float *w, float *grad)
{
    (void)c;
    for (uint64_t i = 0; i < l->dim; i++)
        grad[i] = 3.0f * w[i] + 1.0f;
    return OSAFL_OK;
}

/* Option I: c_u+ is the gradient of the whole store at the global model. */
static void test_scaffold_variate_from_the_store(void **unused)
{
    (void)unused;
    struct bench *b = bench_open("scaffold", (const char *[]){"option", "gradient", NULL});
    b->local.store_gradient = known_gradient;
    step(b);
    finish(b);
    for (unsigned i = 0; i < DIM; i++)
        assert_near((double)b->uplink[i],
                    3.0 * (double)b->w_start[i] + 1.0 - (double)b->client_state[i]);
    bench_close(b);
}

/* The client's variate changes by what the server received, whatever was sent. */
static void test_scaffold_applies_what_was_received(void **unused)
{
    (void)unused;
    struct bench *b = bench_open("scaffold", NULL);
    const float decoded[DIM] = {1.0f, 0.0f, -1.0f, 2.0f, 0.5f};
    const float *received = decoded;
    step(b);
    finish(b);
    osafl_call *c = fixture_begin(b->fixture, 1, 0);
    assert_int_equal(
        fixture_end(b->fixture, b->vt->received(b->self, c, &b->local, b->w, &received)), OSAFL_OK);
    for (unsigned i = 0; i < DIM; i++)
        assert_true(b->client_state[i] == 0.125f * (float)i + decoded[i]);
    bench_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_step),
        cmocka_unit_test(test_momentum_and_weight_decay),
        cmocka_unit_test(test_schedules),
        cmocka_unit_test(test_schedule_of_one_round),
        cmocka_unit_test(test_vanishing_rate_is_refused),
        cmocka_unit_test(test_proximal_term),
        cmocka_unit_test(test_proximal_without_pull_is_sgd),
        cmocka_unit_test(test_scaffold_step),
        cmocka_unit_test(test_scaffold_variate_along_the_path),
        cmocka_unit_test(test_scaffold_variate_from_the_store),
        cmocka_unit_test(test_scaffold_applies_what_was_received),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
