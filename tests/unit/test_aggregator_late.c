/* test_aggregator_late.c - fedbuff and fedasync against their papers' steps, one update after the
 * other, with updates that are late. */
#include "aggregator_bench.h"

#define DIM 5
#define CLIENTS 4
#define ROUNDS 6
#define LATE 2

static const uint32_t histogram[BENCH_LABELS] = {1, 2};

/* What arrives in each round: clients ascending, with the rounds ago that they started and when in
 * the round they are done; local_rounds 0: nothing.  The last round but one is empty. */
static const struct arrival {
    uint32_t local_rounds;
    uint32_t late;
    double arrived_s;
} arrivals[ROUNDS][CLIENTS] = {
    {{1, 0, 0.9}, {2, 0, 0.3}, {1, 0, 0.6}, {0, 0, 0.0}},
    {{1, 0, 0.5}, {0, 0, 0.0}, {3, 0, 0.5}, {2, 1, 0.1}},
    {{0, 0, 0.0}, {1, 1, 0.8}, {0, 0, 0.0}, {1, 0, 0.2}},
    {{1, 1, 0.7}, {0, 0, 0.0}, {1, 0, 0.3}, {0, 0, 0.0}},
    {{0, 0, 0.0}, {0, 0, 0.0}, {0, 0, 0.0}, {0, 0, 0.0}},
    {{1, 1, 0.4}, {2, 2, 0.4}, {1, 0, 0.4}, {1, 0, 0.1}},
};

static double delta_of(uint32_t round, uint32_t client, uint32_t i)
{
    uint32_t word[4];
    streams_fill(5, 0, 81, client, round, i, word, 4);
    return osafl_normal(word);
}

/* The paper's server, in doubles. */
struct server {
    double w[DIM];
    double start[ROUNDS][DIM]; /* of each round */
    uint64_t steps_at_start[ROUNDS];
    uint64_t steps;
    double buffer[DIM];
    uint32_t waiting;
};

typedef void receive(struct server *s, uint32_t start_round, const double *delta);

static void fedbuff_receives(struct server *s, uint32_t start_round, const double *delta)
{
    const double staleness = (double)(s->steps - s->steps_at_start[start_round]);
    for (uint32_t i = 0; i < DIM; i++)
        s->buffer[i] += delta[i] / sqrt(1.0 + staleness);
    if (++s->waiting < 2)
        return;
    for (uint32_t i = 0; i < DIM; i++) {
        s->w[i] += 0.7 * s->buffer[i] / 2.0;
        s->buffer[i] = 0.0;
    }
    s->waiting = 0;
    s->steps++;
}

static void mix(struct server *s, uint32_t start_round, const double *delta, double a)
{
    for (uint32_t i = 0; i < DIM; i++)
        s->w[i] = (1.0 - a) * s->w[i] + a * (s->start[start_round][i] + delta[i]);
    s->steps++;
}

static void fedasync_receives(struct server *s, uint32_t start_round, const double *delta)
{
    const double staleness = (double)(s->steps - s->steps_at_start[start_round]);
    mix(s, start_round, delta, 0.6 * pow(staleness + 1.0, -0.5));
}

static void hinge_receives(struct server *s, uint32_t start_round, const double *delta)
{
    const double staleness = (double)(s->steps - s->steps_at_start[start_round]);
    mix(s, start_round, delta,
        0.6 * (staleness <= 2.0 ? 1.0 : 1.0 / (3.0 * (staleness - 2.0) + 1.0)));
}

/* The updates of a round in the order in which they are done. */
static void serve_round(struct server *s, uint32_t round, receive *receives)
{
    bool done[CLIENTS] = {false};
    memcpy(s->start[round], s->w, sizeof s->w);
    s->steps_at_start[round] = s->steps;
    for (uint32_t k = 0; k < CLIENTS; k++) {
        uint32_t next = CLIENTS;
        for (uint32_t u = 0; u < CLIENTS; u++) {
            if (arrivals[round][u].local_rounds == 0 || done[u])
                continue;
            if (next == CLIENTS || arrivals[round][u].arrived_s < arrivals[round][next].arrived_s)
                next = u;
        }
        if (next == CLIENTS)
            return;
        double delta[DIM];
        done[next] = true;
        for (uint32_t i = 0; i < DIM; i++)
            delta[i] = delta_of(round, next, i);
        receives(s, round - arrivals[round][next].late, delta);
    }
}

static void compare(struct aggregator_bench *b, receive *receives)
{
    struct server server = {.w = {0.5, -1.0, 2.0}};
    float w[DIM] = {0.5f, -1.0f, 2.0f};
    assert_int_equal(b->info.max_staleness, LATE);
    assert_int_equal(b->info.wants_empty_rounds, 1);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        double delta[CLIENTS][DIM];
        struct bench_client client[CLIENTS];
        for (uint32_t u = 0; u < CLIENTS; u++) {
            for (uint32_t i = 0; i < DIM; i++)
                delta[u][i] = delta_of(round, u, i);
            client[u] = (struct bench_client){.client = u,
                                              .local_rounds = arrivals[round][u].local_rounds,
                                              .alpha = 0.1 + 0.1 * u,
                                              .delta = delta[u],
                                              .histogram = histogram,
                                              .late = arrivals[round][u].late,
                                              .arrived_s = arrivals[round][u].arrived_s};
        }
        if (bench_round(b, round, client, CLIENTS, w) != OSAFL_OK)
            fail_msg("%s", b->fixture->error.text);
        serve_round(&server, round, receives);
        for (uint32_t i = 0; i < DIM; i++)
            if (!(fabs((double)w[i] - server.w[i]) <= 1e-5))
                fail_msg("parameter %u after round %u: %.9g instead of %.9g", i, round,
                         (double)w[i], server.w[i]);
    }
    bench_close(b);
}

static void test_fedbuff(void **unused)
{
    (void)unused;
    struct aggregator_bench *b = bench_open("fedbuff", CLIENTS, ROUNDS, DIM);
    fixture_set(b->fixture, "buffer", "2");
    fixture_set(b->fixture, "max_staleness", "2");
    fixture_set(b->fixture, "server_learning_rate", "0.7");
    bench_create(b);
    compare(b, fedbuff_receives);
}

static void test_fedasync(void **unused)
{
    (void)unused;
    struct aggregator_bench *b = bench_open("fedasync", CLIENTS, ROUNDS, DIM);
    fixture_set(b->fixture, "max_staleness", "2");
    bench_create(b);
    compare(b, fedasync_receives);
}

static void test_fedasync_hinge(void **unused)
{
    (void)unused;
    struct aggregator_bench *b = bench_open("fedasync", CLIENTS, ROUNDS, DIM);
    fixture_set(b->fixture, "max_staleness", "2");
    fixture_set(b->fixture, "decay", "hinge");
    fixture_set(b->fixture, "hinge_slope", "3.0");
    fixture_set(b->fixture, "hinge_start", "2.0");
    bench_create(b);
    compare(b, hinge_receives);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fedbuff),
        cmocka_unit_test(test_fedasync),
        cmocka_unit_test(test_fedasync_hinge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
