/* test_aggregator_cases.c - every aggregator against runs that were worked out independently in
 * double precision (tests/golden/cases/aggregators.json).
 *
 * Tolerances: the product keeps parameters and updates in float32, so the model may differ by 1e-6
 * of its norm (1e-5 where a small second moment is divided by), scores and step control by 1e-6. */
#include "aggregator_bench.h"

#include <stdio.h>

#include <jansson.h>

#include "osafl/optimizer.h"

/* A plugin's parameter and where the case has its value: key of a group, or of the case itself. */
struct setting {
    const char *parameter;
    const char *group; /* NULL: the case; "=": key is the value */
    const char *key;
};

struct algorithm {
    const char *answer; /* in the case */
    const char *plugin;
    double tolerance;
    struct setting settings[6];
};

static const struct algorithm algorithms[] = {
    {"osafl",
     "osafl",
     1e-6,
     {{"global_learning_rate", NULL, "global_learning_rate"},
      {"participation_decay", "osafl", "frakv"},
      {"similarity_offset", "osafl", "chi"},
      {"participation_mix", "osafl", "participation_mix"},
      {"step_offset", "osafl", "a"},
      {"final_step", "osafl", "final_step"}}},
    {"fedavg", "fedavg", 1e-6, {{0}}},
    {"fedavg", "fedprox", 1e-6, {{0}}},
    {"fedavg_literal", "fedavg", 1e-6, {{"participation", "=", "literal"}}},
    {"fednova", "fednova", 1e-6, {{"variant", "=", "printed"}}},
    {"fednova_original", "fednova", 1e-6, {{0}}},
    {"feddisco", "feddisco", 1e-6, {{"a", "feddisco", "a"}, {"b", "feddisco", "b"}}},
    {"afa_cd", "afa_cd", 1e-6, {{"global_learning_rate", NULL, "global_learning_rate"}}},
    {"afa_cs", "afa_cs", 1e-6, {{"global_learning_rate", NULL, "global_learning_rate"}}},
    {"scaffold", "scaffold", 1e-6, {{"server_learning_rate", "server", "server_learning_rate"}}},
    {"fedavgm",
     "fedavgm",
     1e-6,
     {{"server_learning_rate", "server", "server_learning_rate"},
      {"momentum", "server", "momentum"}}},
    {"fedadam",
     "fedadam",
     1e-5,
     {{"server_learning_rate", "server", "server_learning_rate"},
      {"beta1", "server", "beta1"},
      {"beta2", "server", "beta2"},
      {"tau", "server", "tau"}}},
    {"fedyogi",
     "fedyogi",
     1e-5,
     {{"server_learning_rate", "server", "server_learning_rate"},
      {"beta1", "server", "beta1"},
      {"beta2", "server", "beta2"},
      {"tau", "server", "tau"}}},
    {"median", "median", 1e-6, {{0}}},
    {"trimmed_mean", "trimmed_mean", 1e-6, {{"trim", "server", "trim"}}},
    {"krum", "krum", 1e-6, {{"byzantine", "server", "byzantine"}}},
};
#define N_ALGORITHMS (sizeof algorithms / sizeof algorithms[0])

static json_t *cases;

static int load_cases(void **state)
{
    (void)state;
    json_error_t error;
    cases = json_load_file(OSAFL_TEST_SOURCE_DIR "/tests/golden/cases/aggregators.json", 0, &error);
    if (cases == NULL)
        fprintf(stderr, "%s:%d: %s\n", error.source, error.line, error.text);
    return cases != NULL ? 0 : -1;
}

static int free_cases(void **state)
{
    (void)state;
    json_decref(cases);
    return 0;
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static void read_numbers(const json_t *array, double *out, size_t n)
{
    assert_int_equal(json_array_size(array), n);
    for (size_t i = 0; i < n; i++)
        out[i] = json_number_value(json_array_get(array, i));
}

static void configure(struct fixture *f, const struct algorithm *a, const json_t *run)
{
    for (size_t i = 0; i < 6 && a->settings[i].parameter != NULL; i++) {
        const struct setting *s = &a->settings[i];
        char value[64];
        if (s->group != NULL && strcmp(s->group, "=") == 0)
            snprintf(value, sizeof value, "%s", s->key);
        else
            snprintf(value, sizeof value, "%.17g",
                     number(s->group != NULL ? json_object_get(run, s->group) : run, s->key));
        fixture_set(f, s->parameter, value);
    }
}

/* The memory of one run. */
struct replay {
    struct aggregator_bench *bench;
    uint32_t clients;
    uint32_t dim;
    struct bench_client *client;
    double *delta;       /* [clients][dim] */
    uint32_t *histogram; /* [clients][BENCH_LABELS] */
    float *w;            /* [dim] */
    /* SCAFFOLD's clients */
    struct fixture *optimizer;
    float *own;      /* [clients][dim]: c_u */
    float *change;   /* [clients][dim] */
    float *server;   /* [dim]: c */
    float *finished; /* [dim] */
};

static void replay_open(struct replay *r, const struct algorithm *a, const json_t *run)
{
    r->clients = (uint32_t)number(run, "clients");
    r->dim = (uint32_t)number(run, "parameters");
    r->bench = bench_open(a->plugin, r->clients, (uint32_t)number(run, "rounds_total"), r->dim);
    r->bench->rate = number(run, "learning_rate");
    configure(r->bench->fixture, a, run);
    bench_create(r->bench);
    const size_t all = (size_t)r->clients * r->dim;
    r->client = calloc(r->clients, sizeof *r->client);
    r->delta = calloc(all, sizeof *r->delta);
    r->histogram = calloc((size_t)r->clients * BENCH_LABELS, sizeof *r->histogram);
    r->w = calloc(r->dim, sizeof *r->w);
    r->own = calloc(all, sizeof *r->own);
    r->change = calloc(all, sizeof *r->change);
    r->server = calloc(r->dim, sizeof *r->server);
    r->finished = calloc(r->dim, sizeof *r->finished);
    const json_t *start = json_object_get(run, "w0");
    for (uint32_t i = 0; i < r->dim; i++)
        r->w[i] = (float)json_number_value(json_array_get(start, i));
    if (strcmp(r->bench->info.optimizer, "scaffold") == 0) {
        r->optimizer = fixture_open("optimizer", "scaffold");
        char rate[64];
        snprintf(rate, sizeof rate, "%.17g", r->bench->rate);
        fixture_set(r->optimizer, "learning_rate", rate);
        assert_int_equal(fixture_create(r->optimizer, &r->bench->facts), OSAFL_OK);
    }
}

static void replay_close(struct replay *r)
{
    bench_close(r->bench);
    fixture_close(r->optimizer);
    free(r->client);
    free(r->delta);
    free(r->histogram);
    free(r->w);
    free(r->own);
    free(r->change);
    free(r->server);
    free(r->finished);
}

static void read_round(struct replay *r, const json_t *run, const json_t *round)
{
    double samples[64];
    double total = 0.0;
    read_numbers(json_object_get(run, "samples"), samples, r->clients);
    for (uint32_t u = 0; u < r->clients; u++)
        total += samples[u];
    for (uint32_t u = 0; u < r->clients; u++) {
        double count[BENCH_LABELS];
        uint32_t *histogram = r->histogram + (size_t)u * BENCH_LABELS;
        double *delta = r->delta + (size_t)u * r->dim;
        read_numbers(json_array_get(json_object_get(round, "delta"), u), delta, r->dim);
        read_numbers(json_array_get(json_object_get(round, "histogram"), u), count, BENCH_LABELS);
        for (unsigned l = 0; l < BENCH_LABELS; l++)
            histogram[l] = (uint32_t)count[l];
        r->client[u] = (struct bench_client){
            .client = u,
            .local_rounds = (uint32_t)json_integer_value(
                json_array_get(json_object_get(round, "local_rounds"), u)),
            .alpha = samples[u] / total,
            .delta = delta,
            .uplink = r->change + (size_t)u * r->dim,
            .histogram = histogram,
        };
    }
}

/* SCAFFOLD's clients: the change of each variate, as the optimizer makes it and applies it. */
static void train_scaffold(struct replay *r, uint32_t round)
{
    const osafl_optimizer_vt *vt = fixture_vtable(r->optimizer);
    osafl_call *c = fixture_begin(r->bench->fixture, OSAFL_NO_CLIENT, round);
    const osafl_aggregator_vt *server = r->bench->vt;
    assert_int_equal(fixture_end(r->bench->fixture,
                                 server->broadcast(r->bench->fixture->instance.self, c, r->server)),
                     OSAFL_OK);
    for (uint32_t u = 0; u < r->clients; u++) {
        if (r->client[u].local_rounds == 0)
            continue;
        float *own = r->own + (size_t)u * r->dim;
        float *change = r->change + (size_t)u * r->dim;
        for (uint32_t i = 0; i < r->dim; i++)
            r->finished[i] = (float)((double)r->w[i] + r->client[u].delta[i]);
        const osafl_local local = {.struct_size = sizeof local,
                                   .client = u,
                                   .round = round,
                                   .step = 8 * r->client[u].local_rounds,
                                   .dim = r->dim,
                                   .rate = r->bench->rate,
                                   .w_start = r->w,
                                   .broadcast = r->server,
                                   .client_state = own,
                                   .uplink = &change};
        void *self = r->optimizer->instance.self;
        c = fixture_begin(r->optimizer, u, round);
        assert_int_equal(fixture_end(r->optimizer, vt->finish(self, c, &local, r->finished)),
                         OSAFL_OK);
        const float *received = change;
        c = fixture_begin(r->optimizer, u, round);
        assert_int_equal(
            fixture_end(r->optimizer, vt->received(self, c, &local, r->finished, &received)),
            OSAFL_OK);
    }
}

static void compare(const char *what, size_t round, const float *got, const json_t *want,
                    uint32_t dim, double tolerance)
{
    double error2 = 0.0;
    double norm2 = 0.0;
    assert_int_equal(json_array_size(want), dim);
    for (uint32_t i = 0; i < dim; i++) {
        const double reference = json_number_value(json_array_get(want, i));
        error2 += ((double)got[i] - reference) * ((double)got[i] - reference);
        norm2 += reference * reference;
    }
    if (!(sqrt(error2) <= tolerance * sqrt(norm2)))
        fail_msg("%s, round %zu: relative error %g", what, round, sqrt(error2 / norm2));
}

static void assert_near(const char *what, size_t round, double got, double want)
{
    if (!(fabs(got - want) <= 1e-6 * fabs(want)))
        fail_msg("%s, round %zu: %.17g instead of %.17g", what, round, got, want);
}

/* OSAFL's scores, similarities and step control of one round. */
static void compare_detail(const struct fixture *f, const json_t *detail, uint32_t round)
{
    size_t at;
    const json_t *entry;
    json_array_foreach(detail, at, entry)
    {
        if ((uint32_t)number(entry, "round") != round)
            continue;
        assert_near("step_control", round, fixture_metric(f, "step_control", OSAFL_NO_CLIENT),
                    number(entry, "step_control"));
        const json_t *clients = json_object_get(entry, "clients");
        for (size_t k = 0; k < json_array_size(clients); k++) {
            const uint32_t u = (uint32_t)json_integer_value(json_array_get(clients, k));
            assert_near("score", round, fixture_metric(f, "score", u),
                        json_number_value(json_array_get(json_object_get(entry, "score"), k)));
            assert_near("similarity", round, fixture_metric(f, "similarity", u),
                        json_number_value(json_array_get(json_object_get(entry, "lam"), k)));
        }
        return;
    }
}

static void replay_case(const struct algorithm *a, const json_t *run)
{
    struct replay r = {0};
    replay_open(&r, a, run);
    const json_t *answer = json_object_get(json_object_get(run, "answer"), a->answer);
    const json_t *detail = json_object_get(answer, "detail");
    const json_t *rounds = json_object_get(run, "rounds");
    size_t t;
    const json_t *round;
    json_array_foreach(rounds, t, round)
    {
        read_round(&r, run, round);
        if (r.optimizer != NULL)
            train_scaffold(&r, (uint32_t)t);
        assert_int_equal(bench_round(r.bench, (uint32_t)t, r.client, r.clients, r.w), OSAFL_OK);
        compare(a->answer, t, r.w, json_array_get(json_object_get(answer, "w"), t), r.dim,
                a->tolerance);
        if (detail != NULL)
            compare_detail(r.bench->fixture, detail, (uint32_t)t);
    }
    if (r.optimizer != NULL) {
        const json_t *own = json_object_get(answer, "client_variates");
        osafl_call *c = fixture_begin(r.bench->fixture, OSAFL_NO_CLIENT, (uint32_t)t);
        assert_int_equal(
            fixture_end(r.bench->fixture,
                        r.bench->vt->broadcast(r.bench->fixture->instance.self, c, r.server)),
            OSAFL_OK);
        compare("server variate", t, r.server, json_object_get(answer, "server_variate"), r.dim,
                2e-6);
        for (uint32_t u = 0; u < r.clients; u++)
            compare("client variate", u, r.own + (size_t)u * r.dim, json_array_get(own, u), r.dim,
                    2e-6);
    }
    replay_close(&r);
}

static void test_cases(void **state)
{
    (void)state;
    assert_int_equal(json_array_size(cases), 10);
    for (size_t a = 0; a < N_ALGORITHMS; a++) {
        size_t i;
        const json_t *run;
        json_array_foreach(cases, i, run) replay_case(&algorithms[a], run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, load_cases, free_cases);
}
