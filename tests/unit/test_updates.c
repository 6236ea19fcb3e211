/* test_updates.c - the update algebra gives the sums that its contract names, for every way in
 * which updates are stored and for any number of threads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/streams.h"
#include "osafl/random.h"
#include "plugin/pool.h"
#include "plugin_fixture.h"
#include "round/updates.h"

#define DIM (3 * UPDATES_BLOCK + 77)
#define N 5
#define SLOTS 2
#define LABELS 3

/* Updates of N clients in one codec, and what they decode to. */
struct bench {
    struct fixture *aggregator; /* whose call is in hand */
    struct fixture *quantizer;  /* NULL: plain floats */
    struct codec codec;
    struct code code[N][SLOTS];
    struct update update[N];
    uint32_t histogram[N][LABELS];
    float *x[N][SLOTS]; /* decoded */
    float *v;           /* any dense vector */
    struct kept_updates kept;
    struct update_set set;
    osafl_call *call;
};

static void random_vector(uint32_t client, uint32_t slot, float *x)
{
    for (uint32_t i = 0; i < DIM; i++) {
        uint32_t word[4];
        streams_fill(7, 0, 99, client, slot, i, word, 4);
        x[i] = (float)osafl_normal(word);
    }
}

static void encode_all(struct bench *b)
{
    float *x = calloc(DIM, sizeof *x);
    uint8_t *buffer = calloc(1, (size_t)codec_max_bytes(&b->codec));
    struct fixture *f = b->quantizer != NULL ? b->quantizer : b->aggregator;
    for (uint32_t k = 0; k < N; k++) {
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            const osafl_packet packet = {
                .struct_size = sizeof packet, .client = 2 * k, .round = 4, .slot = slot};
            random_vector(2 * k, slot, x);
            osafl_call *c = fixture_begin(f, 2 * k, 4);
            const osafl_status status =
                codec_encode(&b->codec, c, &packet, x, NULL, buffer, &b->code[k][slot]);
            assert_int_equal(fixture_end(f, status), OSAFL_OK);
            b->x[k][slot] = calloc(DIM, sizeof(float));
            c = fixture_begin(f, 2 * k, 4);
            assert_int_equal(fixture_end(f, codec_decode(&b->codec, c, &b->code[k][slot], 0, DIM,
                                                         b->x[k][slot])),
                             OSAFL_OK);
        }
        b->histogram[k][1] = k;
        b->update[k] = (struct update){.client = 2 * k,
                                       .local_rounds = 1 + k,
                                       .steps = 8 * (1 + k),
                                       .rate = 0.1,
                                       .samples = 100 + k,
                                       .alpha = 0.01 * (double)k,
                                       .train_loss = 2.0,
                                       .histogram = b->histogram[k],
                                       .code = b->code[k]};
    }
    free(buffer);
    free(x);
}

static struct bench *bench_open(const char *quantizer)
{
    static const osafl_model_info model = {.struct_size = sizeof model, .n_parameters = DIM};
    static osafl_tensor tensor = {.name = "w", .size = DIM, .shape = {DIM}, .rank = 1};
    static osafl_model_info described;
    static const osafl_facts facts = {.struct_size = sizeof facts,
                                      .clients = 2 * N,
                                      .rounds = 10,
                                      .batch = 16,
                                      .cost_steps = 8,
                                      .max_local_rounds = 5,
                                      .deadline_s = 1.0,
                                      .model = &described,
                                      .dim = DIM};
    described = model;
    described.n_tensors = 1;
    described.tensors = &tensor;
    described.tensor_size = sizeof tensor;
    struct bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->codec.dim = DIM;
    b->aggregator = fixture_open("aggregator", "fedavg");
    if (quantizer != NULL) {
        b->quantizer = fixture_open("quantizer", quantizer);
        assert_int_equal(fixture_create(b->quantizer, &facts), OSAFL_OK);
        b->codec.quantizer = &b->quantizer->instance;
        b->codec.info.struct_size = sizeof b->codec.info;
        const osafl_quantizer_vt *vt = fixture_vtable(b->quantizer);
        osafl_call *c = fixture_begin(b->quantizer, OSAFL_NO_CLIENT, 0);
        assert_int_equal(
            fixture_end(b->quantizer, vt->describe(b->quantizer->instance.self, c, &b->codec.info)),
            OSAFL_OK);
    }
    encode_all(b);
    b->v = calloc(DIM, sizeof(float));
    random_vector(1000, 0, b->v);
    const struct update_round round = {
        .round = 4, .rounds = 10, .clients = 2 * N, .labels = LABELS, .slots = SLOTS};
    b->call = fixture_begin(b->aggregator, OSAFL_NO_CLIENT, 4);
    assert_int_equal(updates_open(&b->set, &b->codec, &round, b->update, N, &b->kept, b->call),
                     OSAFL_OK);
    return b;
}

static void bench_close(struct bench *b)
{
    updates_close(&b->set);
    (void)fixture_end(b->aggregator, OSAFL_OK);
    kept_updates_free(&b->kept);
    for (uint32_t k = 0; k < N; k++)
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            code_free(&b->code[k][slot]);
            free(b->x[k][slot]);
        }
    if (b->quantizer != NULL)
        fixture_close(b->quantizer);
    fixture_close(b->aggregator);
    free(b->v);
    free(b);
}

static const char *const codecs[] = {NULL, "none", "qsgd"};
#define N_CODECS (sizeof codecs / sizeof codecs[0])

static const double weight[N] = {0.5, -2.0, 0.0, 1.0 / 3.0, 1e-3};

static void assert_close(double got, double want, double scale)
{
    if (!(fabs(got - want) <= 1e-12 * scale))
        fail_msg("%.17g instead of %.17g", got, want);
}

static double plain_dot(const float *a, const float *b)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < DIM; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

static void test_facts_reach_the_aggregator(void **state)
{
    (void)state;
    struct bench *b = bench_open(NULL);
    const osafl_updates *u = &b->set.view;
    assert_int_equal(u->n, N);
    assert_int_equal(u->dim, DIM);
    assert_int_equal(u->round, 4);
    assert_int_equal(u->rounds, 10);
    assert_int_equal(u->clients, 2 * N);
    assert_int_equal(u->labels, LABELS);
    for (uint32_t k = 0; k < N; k++) {
        assert_int_equal(u->client[k], 2 * k);
        assert_int_equal(u->local_rounds[k], 1 + k);
        assert_int_equal(u->steps[k], 8 * (1 + k));
        assert_int_equal(u->samples[k], 100 + k);
        assert_true(u->rate[k] == 0.1 && u->train_loss[k] == 2.0);
        assert_true(u->alpha[k] == 0.01 * (double)k);
        assert_int_equal(u->histogram[k][1], k);
    }
    bench_close(b);
}

/* combine() and add() are the plain loop in double, rounded once: equal to the last bit. */
static void test_sums_are_exact(void **state)
{
    (void)state;
    for (size_t j = 0; j < N_CODECS; j++) {
        struct bench *b = bench_open(codecs[j]);
        const osafl_updates *u = &b->set.view;
        float *sum = calloc(DIM, sizeof *sum);
        float *moved = calloc(DIM, sizeof *moved);
        memcpy(moved, b->v, DIM * sizeof *moved);
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            assert_int_equal(u->ops->combine(u, slot, weight, sum), OSAFL_OK);
            memcpy(moved, b->v, DIM * sizeof *moved);
            assert_int_equal(u->ops->add(u, slot, weight, moved), OSAFL_OK);
            for (uint32_t i = 0; i < DIM; i++) {
                double want = 0.0;
                double want_moved = (double)b->v[i];
                for (uint32_t k = 0; k < N; k++) {
                    want += weight[k] * (double)b->x[k][slot][i];
                    want_moved += weight[k] * (double)b->x[k][slot][i];
                }
                assert_true(sum[i] == (float)want);
                assert_true(moved[i] == (float)want_moved);
            }
        }
        free(moved);
        free(sum);
        bench_close(b);
    }
}

static void test_products(void **state)
{
    (void)state;
    for (size_t j = 0; j < N_CODECS; j++) {
        struct bench *b = bench_open(codecs[j]);
        const osafl_updates *u = &b->set.view;
        double dot[N];
        double norm2[N];
        double gram[N * N];
        double one = 0.0;
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            assert_int_equal(u->ops->dot(u, slot, b->v, dot), OSAFL_OK);
            assert_int_equal(u->ops->squared_norms(u, slot, norm2), OSAFL_OK);
            assert_int_equal(u->ops->gram(u, slot, gram), OSAFL_OK);
            for (uint32_t k = 0; k < N; k++) {
                const double square = plain_dot(b->x[k][slot], b->x[k][slot]);
                const double scale = sqrt(square * plain_dot(b->v, b->v));
                assert_close(dot[k], plain_dot(b->x[k][slot], b->v), scale);
                assert_close(norm2[k], square, square);
                for (uint32_t l = 0; l < N; l++) {
                    const double other = plain_dot(b->x[l][slot], b->x[l][slot]);
                    assert_close(gram[k * N + l], plain_dot(b->x[k][slot], b->x[l][slot]),
                                 sqrt(square * other));
                    assert_true(gram[k * N + l] == gram[l * N + k]);
                }
            }
        }
        assert_int_equal(u->ops->inner_product(u, b->v, b->v, &one), OSAFL_OK);
        assert_close(one, plain_dot(b->v, b->v), one);
        bench_close(b);
    }
}

/* Each coordinate is visited once, with the decoded values of all updates. */
struct seen {
    const struct bench *bench;
    uint8_t visited[DIM];
};

static osafl_status look(void *arg, uint64_t begin, uint64_t n, const float *const *x,
                         osafl_call *sub)
{
    (void)sub;
    struct seen *seen = arg;
    for (uint64_t i = 0; i < n; i++) {
        seen->visited[begin + i]++;
        for (uint32_t k = 0; k < N; k++)
            if (x[k][i] != seen->bench->x[k][1][begin + i])
                return OSAFL_E_BUG;
    }
    return OSAFL_OK;
}

static void test_blocks_cover_everything(void **state)
{
    (void)state;
    for (size_t j = 0; j < N_CODECS; j++) {
        struct bench *b = bench_open(codecs[j]);
        const osafl_updates *u = &b->set.view;
        struct seen *seen = calloc(1, sizeof *seen);
        seen->bench = b;
        b->aggregator->context.pool = pool_create(3, NULL);
        assert_int_equal(u->ops->each_block(u, 1, look, seen), OSAFL_OK);
        for (uint32_t i = 0; i < DIM; i++)
            assert_int_equal(seen->visited[i], 1);
        pool_destroy(b->aggregator->context.pool);
        b->aggregator->context.pool = NULL;
        free(seen);
        bench_close(b);
    }
}

/* Everything that the operations give, in one array. */
static void all_results(const struct bench *b, float *vector, double *number)
{
    const osafl_updates *u = &b->set.view;
    assert_int_equal(u->ops->combine(u, 0, weight, vector), OSAFL_OK);
    assert_int_equal(u->ops->dot(u, 0, b->v, number), OSAFL_OK);
    assert_int_equal(u->ops->squared_norms(u, 0, number + N), OSAFL_OK);
    assert_int_equal(u->ops->gram(u, 0, number + 2 * N), OSAFL_OK);
    assert_int_equal(u->ops->inner_product(u, vector, b->v, number + 2 * N + N * N), OSAFL_OK);
}

static void test_threads_change_nothing(void **state)
{
    (void)state;
    enum { NUMBERS = 2 * N + N * N + 1 };
    for (size_t j = 0; j < N_CODECS; j++) {
        struct bench *b = bench_open(codecs[j]);
        float *vector[2] = {calloc(DIM, sizeof(float)), calloc(DIM, sizeof(float))};
        double number[2][NUMBERS];
        all_results(b, vector[0], number[0]);
        for (unsigned threads = 1; threads <= 7; threads += 2) {
            b->aggregator->context.pool = pool_create(threads, NULL);
            all_results(b, vector[1], number[1]);
            pool_destroy(b->aggregator->context.pool);
            assert_memory_equal(vector[0], vector[1], DIM * sizeof(float));
            assert_memory_equal(number[0], number[1], sizeof number[0]);
        }
        b->aggregator->context.pool = NULL;
        free(vector[0]);
        free(vector[1]);
        bench_close(b);
    }
}

/* Some updates at a time, in blocks: the sum of combine(), and the first place where it is not
 * finite. */
static void test_folding(void **state)
{
    (void)state;
    struct bench *b = bench_open(NULL);
    double *sum = calloc(DIM, sizeof *sum);
    float *whole = calloc(DIM, sizeof *whole);
    const struct code *code[N];
    for (uint32_t k = 0; k < N; k++)
        code[k] = &b->code[k][0];
    assert_int_equal(b->set.view.ops->combine(&b->set.view, 0, weight, whole), OSAFL_OK);
    for (unsigned threads = 1; threads <= 7; threads += 2) {
        uint64_t bad = 0;
        b->aggregator->context.pool = pool_create(threads, NULL);
        memset(sum, 0, DIM * sizeof *sum);
        assert_int_equal(updates_fold(&b->codec, b->call, code, 2, weight, sum, &bad), OSAFL_OK);
        assert_int_equal(updates_fold(&b->codec, b->call, code + 2, N - 2, weight + 2, sum, &bad),
                         OSAFL_OK);
        assert_int_equal(bad, DIM);
        for (uint32_t i = 0; i < DIM; i++)
            assert_true((float)sum[i] == whole[i]);
        sum[DIM - 1] = sum[UPDATES_BLOCK + 6] = HUGE_VAL;
        sum[UPDATES_BLOCK + 5] = (double)NAN;
        assert_int_equal(updates_fold(&b->codec, b->call, code, N, weight, sum, &bad), OSAFL_OK);
        assert_int_equal(bad, UPDATES_BLOCK + 5);
        pool_destroy(b->aggregator->context.pool);
    }
    b->aggregator->context.pool = NULL;
    free(sum);
    free(whole);
    bench_close(b);
}

static void test_kept_updates(void **state)
{
    (void)state;
    for (size_t j = 0; j < N_CODECS; j++) {
        struct bench *b = bench_open(codecs[j]);
        const osafl_updates *u = &b->set.view;
        uint64_t id[3];
        assert_int_equal(u->ops->retain(u, 0, 3, &id[0]), OSAFL_OK);
        assert_int_equal(u->ops->retain(u, 1, 0, &id[1]), OSAFL_OK);
        assert_int_equal(u->ops->release(u, id[0]), OSAFL_OK);
        assert_int_equal(u->ops->retain(u, 0, 4, &id[2]), OSAFL_OK);
        assert_true(id[0] != 0 && id[1] != 0 && id[2] != id[0] && id[2] != id[1]);
        const uint64_t pair[2] = {id[2], id[1]};
        const double two[2] = {0.25, -1.0};
        float *sum = calloc(DIM, sizeof *sum);
        assert_int_equal(u->ops->combine_kept(u, 2, pair, two, sum), OSAFL_OK);
        for (uint32_t i = 0; i < DIM; i++)
            assert_true(sum[i] ==
                        (float)(0.25 * (double)b->x[4][0][i] - 1.0 * (double)b->x[0][1][i]));
        free(sum);
        bench_close(b);
    }
}

static void test_misuse_is_refused(void **state)
{
    (void)state;
    struct bench *b = bench_open(NULL);
    const osafl_updates *u = &b->set.view;
    double number[N * N];
    uint64_t id = 77;
    float *sum = calloc(DIM, sizeof *sum);
    const double one = 1.0;
    assert_int_equal(u->ops->combine(u, SLOTS, weight, sum), OSAFL_E_BUG);
    assert_int_equal(u->ops->add(u, SLOTS, weight, sum), OSAFL_E_BUG);
    assert_int_equal(u->ops->dot(u, SLOTS, b->v, number), OSAFL_E_BUG);
    assert_int_equal(u->ops->squared_norms(u, SLOTS, number), OSAFL_E_BUG);
    assert_int_equal(u->ops->gram(u, SLOTS, number), OSAFL_E_BUG);
    assert_int_equal(u->ops->retain(u, 0, N, &id), OSAFL_E_BUG);
    assert_int_equal(u->ops->release(u, 77), OSAFL_E_BUG);
    assert_int_equal(u->ops->combine_kept(u, 1, &id, &one, sum), OSAFL_E_BUG);
    assert_string_equal(b->call->error.text, "asked for slot 2 of updates with 2");
    free(sum);
    bench_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts_reach_the_aggregator),
        cmocka_unit_test(test_sums_are_exact),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_blocks_cover_everything),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_folding),
        cmocka_unit_test(test_kept_updates),
        cmocka_unit_test(test_misuse_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
