/* test_aggregator_laws.c - what aggregators declare they keep, what all of them must survive, and
 * that a resumed one goes on where it was saved. */
#include "aggregator_bench.h"
#include "plugin/plugin_state.h"

#include <stdio.h>

#define DIM 37
#define CLIENTS 9
#define ROUNDS 8

static const char *const names[] = {"osafl",   "fedavg",   "fedprox", "fednova",  "feddisco",
                                    "afa_cd",  "afa_cs",   "genie",   "fedavgm",  "fedadam",
                                    "fedyogi", "median",   "krum",    "scaffold", "trimmed_mean",
                                    "fedbuff", "fedasync", "aircomp"};
#define N_NAMES (sizeof names / sizeof names[0])

/* Clients with random updates of their own, around a common direction. */
struct crowd {
    double delta[CLIENTS][DIM];
    float uplink[CLIENTS][DIM];
    uint32_t histogram[CLIENTS][BENCH_LABELS];
    struct bench_client client[CLIENTS];
};

static double normal(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t word[4];
    streams_fill(13, 0, 80, a, b, c, word, 4);
    return osafl_normal(word);
}

static void fill_crowd(struct crowd *crowd, uint32_t seed)
{
    double total = 0.0;
    for (uint32_t u = 0; u < CLIENTS; u++) {
        for (uint32_t i = 0; i < DIM; i++) {
            crowd->delta[u][i] = 0.1 * normal(seed, 100, i) + 0.05 * normal(seed, u, i);
            crowd->uplink[u][i] = (float)normal(seed, 200 + u, i);
        }
        for (uint32_t l = 0; l < BENCH_LABELS; l++)
            crowd->histogram[u][l] = (u * 7 + l * l * (u + 1)) % 23;
        total += 100.0 + 10.0 * u;
    }
    for (uint32_t u = 0; u < CLIENTS; u++)
        crowd->client[u] = (struct bench_client){.client = u,
                                                 .local_rounds = 1 + (u + seed) % 5,
                                                 .alpha = (100.0 + 10.0 * u) / total,
                                                 .delta = crowd->delta[u],
                                                 .gain = 1e-11,
                                                 .channel_gain = 1e-11,
                                                 .power_w = 0.2,
                                                 .uplink = crowd->uplink[u],
                                                 .histogram = crowd->histogram[u]};
}

static struct aggregator_bench *open_default(const char *name)
{
    struct aggregator_bench *b = bench_open(name, CLIENTS, ROUNDS, DIM);
    bench_create(b);
    return b;
}

static void play(struct aggregator_bench *b, uint32_t round, const struct bench_client *client,
                 uint32_t n, float *w)
{
    if (bench_round(b, round, client, n, w) != OSAFL_OK)
        fail_msg("%s: %s", b->fixture->plugin->name, b->fixture->error.text);
    for (uint32_t i = 0; i < DIM; i++) {
        if (!isfinite(w[i]))
            fail_msg("%s: parameter %u of round %u is not finite", b->fixture->plugin->name, i,
                     round);
    }
}

static void test_all_are_listed(void **unused)
{
    (void)unused;
    fixture_expect_all("aggregator", names, N_NAMES);
}

static bool declares(const char *name, const char *feature)
{
    struct fixture *f = fixture_open("aggregator", name);
    const bool yes = plugin_has_feature(f->plugin, feature);
    fixture_close(f);
    return yes;
}

static void assert_moved(const char *name, const float *w, const double *by, double tolerance)
{
    for (uint32_t i = 0; i < DIM; i++) {
        if (!(fabs((double)w[i] - by[i]) <= tolerance))
            fail_msg("%s: parameter %u moved by %.9g instead of %.9g", name, i, (double)w[i],
                     by[i]);
    }
}

/* One participant moves w by its update, in any round. */
static void test_sole_update(void **unused)
{
    (void)unused;
    unsigned checked = 0;
    for (size_t a = 0; a < N_NAMES; a++) {
        if (!declares(names[a], "sole_update"))
            continue;
        struct aggregator_bench *b = open_default(names[a]);
        struct crowd crowd;
        for (uint32_t round = 0; round < 3; round++) {
            float w[DIM] = {0};
            fill_crowd(&crowd, round);
            play(b, round, &crowd.client[4 - round], 1, w);
            assert_moved(names[a], w, crowd.delta[4 - round], 1e-7);
        }
        bench_close(b);
        checked++;
    }
    assert_true(checked >= 5);
}

/* Equal updates move w by that update. */
static void test_equal_updates(void **unused)
{
    (void)unused;
    unsigned checked = 0;
    for (size_t a = 0; a < N_NAMES; a++) {
        if (!declares(names[a], "mean"))
            continue;
        struct aggregator_bench *b = open_default(names[a]);
        struct crowd crowd;
        float w[DIM] = {0};
        fill_crowd(&crowd, 1);
        for (uint32_t u = 0; u < CLIENTS; u++)
            crowd.client[u].delta = crowd.delta[2];
        play(b, 0, crowd.client, CLIENTS, w);
        assert_moved(names[a], w, crowd.delta[2], 1e-7);
        bench_close(b);
        checked++;
    }
    assert_true(checked >= 5);
}

static void run_three(const char *name, bool reverse, double alpha_factor, float *w)
{
    struct aggregator_bench *b = open_default(name);
    struct crowd crowd;
    memset(w, 0, DIM * sizeof *w);
    for (uint32_t round = 0; round < 3; round++) {
        struct bench_client client[CLIENTS];
        fill_crowd(&crowd, round);
        for (uint32_t u = 0; u < CLIENTS; u++) {
            /* Clients are numbered in order of their updates; reversing renames them. */
            client[u] = crowd.client[reverse ? CLIENTS - 1 - u : u];
            client[u].client = u;
            client[u].alpha *= alpha_factor;
        }
        play(b, round, client, CLIENTS, w);
    }
    bench_close(b);
}

static void check_unchanged(const char *feature, bool reverse, double alpha_factor)
{
    unsigned checked = 0;
    for (size_t a = 0; a < N_NAMES; a++) {
        float plain[DIM];
        float changed[DIM];
        double norm2 = 0.0;
        double error2 = 0.0;
        if (!declares(names[a], feature))
            continue;
        run_three(names[a], false, 1.0, plain);
        run_three(names[a], reverse, alpha_factor, changed);
        for (uint32_t i = 0; i < DIM; i++) {
            norm2 += (double)plain[i] * (double)plain[i];
            error2 +=
                ((double)plain[i] - (double)changed[i]) * ((double)plain[i] - (double)changed[i]);
        }
        assert_true(norm2 > 0.0);
        if (!(sqrt(error2) <= 1e-5 * sqrt(norm2)))
            fail_msg("%s is not %s: relative change %g", names[a], feature, sqrt(error2 / norm2));
        checked++;
    }
    assert_true(checked >= 8);
}

static void test_permutation_invariant(void **unused)
{
    (void)unused;
    check_unchanged("permutation_invariant", true, 1.0);
}

static void test_scale_free(void **unused)
{
    (void)unused;
    check_unchanged("scale_free", false, 0.01);
}

/* One arbitrary update among nine moves w no farther than the honest ones would. */
static void test_robust(void **unused)
{
    (void)unused;
    unsigned checked = 0;
    for (size_t a = 0; a < N_NAMES; a++) {
        if (!declares(names[a], "robust"))
            continue;
        for (int sign = -1; sign <= 1; sign += 2) {
            struct aggregator_bench *b = open_default(names[a]);
            struct crowd crowd;
            float w[DIM] = {0};
            fill_crowd(&crowd, 6);
            double most = 0.0;
            for (uint32_t i = 0; i < DIM; i++) {
                for (uint32_t u = 0; u < CLIENTS; u++)
                    most = fmax(most, fabs(crowd.delta[u][i]));
                crowd.delta[3][i] = sign * 1e6;
            }
            play(b, 0, crowd.client, CLIENTS, w);
            for (uint32_t i = 0; i < DIM; i++)
                assert_true(fabs((double)w[i]) <= most);
            bench_close(b);
            checked++;
        }
    }
    assert_true(checked >= 6);
}

/* Zero updates, one client, rounds without any client, clients with one sample of one label or with
 * an empty histogram: never a NaN; and zero updates of a stateless rule move nothing. */
static void test_degenerate_rounds(void **unused)
{
    (void)unused;
    for (size_t a = 0; a < N_NAMES; a++) {
        struct aggregator_bench *b = open_default(names[a]);
        struct crowd crowd;
        float w[DIM];
        float before[DIM];
        for (uint32_t i = 0; i < DIM; i++)
            w[i] = 0.25f * (float)i;
        fill_crowd(&crowd, 0);
        memset(crowd.uplink, 0, sizeof crowd.uplink);
        memset(crowd.delta, 0, sizeof crowd.delta);
        memset(crowd.histogram, 0, sizeof crowd.histogram);
        memcpy(before, w, sizeof w);
        play(b, 0, crowd.client, CLIENTS, w); /* all zero */
        assert_memory_equal(w, before, sizeof w);
        play(b, 1, crowd.client, 0, w); /* nobody */
        assert_memory_equal(w, before, sizeof w);
        play(b, 2, crowd.client, 1, w); /* one, zero */
        assert_memory_equal(w, before, sizeof w);
        fill_crowd(&crowd, 3);
        memset(crowd.histogram, 0, sizeof crowd.histogram);
        crowd.histogram[5][9] = 1;
        play(b, 3, &crowd.client[5], 1, w);
        for (uint32_t u = 0; u < CLIENTS; u++)
            crowd.client[u].alpha = u == 7 ? 1.0 : 1e-300;
        play(b, 4, crowd.client, CLIENTS, w);
        play(b, 5, crowd.client, 2, w);
        bench_close(b);
    }
}

/* A state block of the instance and of what the host keeps for it. */
struct saved {
    struct record_writer *writer;
    const void *data;
    size_t size;
};

static struct saved save(struct aggregator_bench *b)
{
    struct error error;
    struct saved s = {.writer = record_writer_create()};
    assert_int_equal(instance_save(&b->fixture->instance, s.writer, "aggregator", &error),
                     OSAFL_OK);
    osafl_writer *to = record_writer_section(s.writer, "kept", 1);
    assert_int_equal(kept_updates_save(&b->kept, to), OSAFL_OK);
    assert_int_equal(record_writer_finish(s.writer, &s.data, &s.size, &error), OSAFL_OK);
    return s;
}

static void load(struct aggregator_bench *b, const struct saved *s)
{
    struct error error;
    struct record_set *set = NULL;
    struct record_reader kept;
    assert_int_equal(record_set_open(s->data, s->size, &set, &error), OSAFL_OK);
    if (instance_load(&b->fixture->instance, set, "aggregator", &error) != OSAFL_OK)
        fail_msg("%s", error.text);
    assert_int_equal(record_reader_open(set, "kept", &kept, &error), OSAFL_OK);
    osafl_call *c = fixture_begin(b->fixture, OSAFL_NO_CLIENT, 0);
    assert_int_equal(fixture_end(b->fixture, kept_updates_load(&b->kept, &b->codec, c, &kept.base)),
                     OSAFL_OK);
    record_set_destroy(set);
}

static void play_varied(struct aggregator_bench *b, uint32_t round, float *w)
{
    struct crowd crowd;
    fill_crowd(&crowd, round);
    for (uint32_t u = 0; u < CLIENTS; u++) {
        if ((u + round) % 3 == 0)
            crowd.client[u].local_rounds = 0;
    }
    play(b, round, crowd.client, CLIENTS, w);
}

/* save, load, save gives the same bytes, and the loaded instance goes on byte for byte; before the
 * first round too. */
static void test_resume(void **unused)
{
    (void)unused;
    for (size_t a = 0; a < N_NAMES; a++) {
        for (uint32_t stop = 0; stop <= 5; stop += 5) {
            float w[DIM] = {0};
            float resumed[DIM];
            struct aggregator_bench *b = open_default(names[a]);
            struct aggregator_bench *other = open_default(names[a]);
            for (uint32_t round = 0; round < stop; round++)
                play_varied(b, round, w);
            memcpy(resumed, w, sizeof w);
            struct saved first = save(b);
            load(other, &first);
            struct saved second = save(other);
            assert_int_equal(first.size, second.size);
            assert_memory_equal(first.data, second.data, first.size);
            for (uint32_t round = stop; round < ROUNDS; round++) {
                play_varied(b, round, w);
                play_varied(other, round, resumed);
                assert_memory_equal(w, resumed, sizeof w);
            }
            record_writer_destroy(first.writer);
            record_writer_destroy(second.writer);
            bench_close(b);
            bench_close(other);
        }
    }
}

/* A stateful rule whose state were lost would go on differently: the test above can fail. */
static void test_state_matters(void **unused)
{
    (void)unused;
    static const char *const stateful[] = {"osafl", "afa_cs", "fedavgm", "fedadam", "fedyogi"};
    for (size_t a = 0; a < sizeof stateful / sizeof stateful[0]; a++) {
        float w[DIM] = {0};
        float fresh[DIM];
        struct aggregator_bench *b = open_default(stateful[a]);
        struct aggregator_bench *other = open_default(stateful[a]);
        for (uint32_t round = 0; round < 3; round++)
            play_varied(b, round, w);
        memcpy(fresh, w, sizeof w);
        play_varied(b, 3, w);
        play_varied(other, 3, fresh);
        assert_memory_not_equal(w, fresh, sizeof w);
        bench_close(b);
        bench_close(other);
    }
}

static void expect_refused_state(const char *name, const char *key, const float *value, uint64_t n)
{
    struct error error;
    const void *data = NULL;
    size_t size = 0;
    struct record_set *set = NULL;
    struct aggregator_bench *b = open_default(name);
    struct record_writer *w = record_writer_create();
    osafl_writer *to = record_writer_section(w, "aggregator", 1);
    const uint64_t participations[CLIENTS] = {0};
    if (strcmp(name, "osafl") == 0)
        assert_int_equal(to->u64(to, "participations", participations, CLIENTS), OSAFL_OK);
    assert_int_equal(to->f32(to, key, value, n), OSAFL_OK);
    if (strcmp(name, "fedadam") == 0)
        assert_int_equal(to->f32(to, "second_moment", value, n), OSAFL_OK);
    assert_int_equal(record_writer_finish(w, &data, &size, &error), OSAFL_OK);
    assert_int_equal(record_set_open(data, size, &set, &error), OSAFL_OK);
    assert_int_equal(instance_load(&b->fixture->instance, set, "aggregator", &error),
                     OSAFL_E_STATE);
    assert_true(strlen(error.text) > 10);
    record_set_destroy(set);
    record_writer_destroy(w);
    bench_close(b);
}

static void test_damaged_state_is_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        const char *key;
    } states[] = {{"osafl", "direction"},
                  {"scaffold", "variate"},
                  {"fedavgm", "first_moment"},
                  {"fedadam", "first_moment"}};
    float value[DIM + 1] = {0};
    value[DIM / 2] = NAN;
    for (size_t s = 0; s < sizeof states / sizeof states[0]; s++) {
        expect_refused_state(states[s].name, states[s].key, value, DIM);
        expect_refused_state(states[s].name, states[s].key, value, DIM + 1);
        expect_refused_state(states[s].name, states[s].key, value, 1);
    }
    value[DIM / 2] = -1.0f; /* a negative second moment */
    expect_refused_state("fedadam", "first_moment", value, DIM);
}

/* ---- single rules -------------------------------------------------------------------------- */

/* With equal local rounds FedNova's normalization cancels. */
static void test_fednova_is_fedavg_with_equal_rounds(void **unused)
{
    (void)unused;
    struct crowd crowd;
    float nova[DIM] = {0};
    float avg[DIM] = {0};
    fill_crowd(&crowd, 2);
    for (uint32_t u = 0; u < CLIENTS; u++)
        crowd.client[u].local_rounds = 3;
    struct aggregator_bench *a = open_default("fednova");
    struct aggregator_bench *b = open_default("fedavg");
    play(a, 0, crowd.client, CLIENTS, nova);
    play(b, 0, crowd.client, CLIENTS, avg);
    for (uint32_t i = 0; i < DIM; i++)
        assert_true(fabs((double)nova[i] - (double)avg[i]) < 1e-7);
    bench_close(a);
    bench_close(b);
}

/* OSAFL with one participant moves along its update, by eta_gl eta_sch exp(cos - a) of it a local
 * round: the score cancels. */
static void test_osafl_with_one_participant(void **unused)
{
    (void)unused;
    struct aggregator_bench *b = open_default("osafl");
    struct crowd crowd;
    for (uint32_t round = 0; round < 3; round++) {
        float w[DIM] = {0};
        double by[DIM];
        fill_crowd(&crowd, 7); /* the same update, so the directions agree after round 0 */
        const struct bench_client *client = &crowd.client[2];
        play(b, round, client, 1, w);
        const double schedule = 1.0 - 0.35 * round / (ROUNDS - 1);
        const double control = round == 0 ? 1.0 : schedule * exp(1.0 - 0.3);
        for (uint32_t i = 0; i < DIM; i++)
            by[i] = 15.0 * control * client->delta[i] / client->local_rounds;
        assert_moved("osafl", w, by, 1e-5);
        assert_true(fabs(fixture_metric(b->fixture, "similarity", 2) - 1.0) < 1e-6);
        assert_true(fabs(fixture_metric(b->fixture, "mean_similarity", OSAFL_NO_CLIENT) - 1.0) <
                    1e-6);
        assert_true(fabs(fixture_metric(b->fixture, "direction_cosine", OSAFL_NO_CLIENT) -
                         (round == 0 ? 0.0 : 1.0)) < 1e-6);
        const double share = round == 0 ? 0.0 : 1.0; /* of all participations */
        assert_true(fabs(fixture_metric(b->fixture, "participation_score", 2) -
                         exp(1.0 - 10.0 * share)) < 1e-12);
    }
    bench_close(b);
}

static int ascending(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Median and trimmed mean of any number of clients, against qsort(). */
static void test_order_statistics(void **unused)
{
    (void)unused;
    enum { MANY = 41, WIDE = 150, TRIMMED = 5 };
    static double delta[MANY][WIDE];
    struct bench_client client[MANY];
    for (uint32_t u = 0; u < MANY; u++) {
        client[u] = (struct bench_client){
            .client = u, .local_rounds = 1, .alpha = 1.0 / MANY, .delta = delta[u]};
        for (uint32_t i = 0; i < WIDE; i++)
            delta[u][i] = (double)(float)normal(50, u, i);
    }
    for (uint32_t n = 1; n <= MANY; n++) {
        char trim[32];
        float median[WIDE] = {0};
        float mean[WIDE] = {0};
        struct aggregator_bench *a = bench_open("median", MANY, ROUNDS, WIDE);
        struct aggregator_bench *b = bench_open("trimmed_mean", MANY, ROUNDS, WIDE);
        const uint32_t dropped = n > 2 * TRIMMED ? TRIMMED : 0;
        snprintf(trim, sizeof trim, "%.17g", (double)dropped / n);
        fixture_set(b->fixture, "trim", trim);
        bench_create(a);
        bench_create(b);
        assert_int_equal(bench_round(a, 0, client, n, median), OSAFL_OK);
        assert_int_equal(bench_round(b, 0, client, n, mean), OSAFL_OK);
        for (uint32_t i = 0; i < WIDE; i++) {
            double column[MANY];
            double sum = 0.0;
            for (uint32_t u = 0; u < n; u++)
                column[u] = delta[u][i];
            qsort(column, n, sizeof column[0], ascending);
            for (uint32_t u = dropped; u < n - dropped; u++)
                sum += column[u];
            assert_true(median[i] == (float)(0.5 * (column[(n - 1) / 2] + column[n / 2])));
            assert_true(fabs((double)mean[i] - sum / (n - 2 * dropped)) < 1e-6);
        }
        bench_close(a);
        bench_close(b);
    }
}

/* The host keeps one update of every client seen, and no older ones. */
static void test_afa_cs_keeps_the_latest_updates(void **unused)
{
    (void)unused;
    struct aggregator_bench *b = open_default("afa_cs");
    float w[DIM] = {0};
    play_varied(b, 0, w);
    assert_int_equal(b->kept.n, CLIENTS * 2 / 3);
    for (uint32_t round = 1; round < ROUNDS; round++)
        play_varied(b, round, w);
    assert_int_equal(b->kept.n, CLIENTS);
    bench_close(b);
}

/* c is the mean of all c_u, whatever the clients' changes look like when they arrive. */
static void test_scaffold_variate_is_the_mean(void **unused)
{
    (void)unused;
    struct aggregator_bench *b = open_default("scaffold");
    double own[CLIENTS][DIM] = {{0}};
    float w[DIM] = {0};
    float server[DIM];
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct crowd crowd;
        fill_crowd(&crowd, round);
        for (uint32_t u = 0; u < CLIENTS; u++) {
            if ((u + round) % 2 == 0)
                crowd.client[u].local_rounds = 0;
            for (uint32_t i = 0; crowd.client[u].local_rounds > 0 && i < DIM; i++)
                own[u][i] += (double)crowd.uplink[u][i];
        }
        play(b, round, crowd.client, CLIENTS, w);
    }
    osafl_call *c = fixture_begin(b->fixture, OSAFL_NO_CLIENT, ROUNDS);
    assert_int_equal(
        fixture_end(b->fixture, b->vt->broadcast(b->fixture->instance.self, c, server)), OSAFL_OK);
    for (uint32_t i = 0; i < DIM; i++) {
        double mean = 0.0;
        for (uint32_t u = 0; u < CLIENTS; u++)
            mean += own[u][i] / CLIENTS;
        assert_true(fabs(mean - (double)server[i]) < 1e-5);
    }
    bench_close(b);
}

static void test_fedavg_settings(void **unused)
{
    (void)unused;
    struct crowd crowd;
    float w[DIM] = {0};
    fill_crowd(&crowd, 2);
    struct aggregator_bench *b = bench_open("fedavg", CLIENTS, ROUNDS, DIM);
    fixture_set(b->fixture, "server_learning_rate", "2.5");
    bench_create(b);
    for (uint32_t u = 0; u < CLIENTS; u++)
        crowd.client[u].delta = crowd.delta[0];
    play(b, 0, crowd.client, CLIENTS, w);
    for (uint32_t i = 0; i < DIM; i++)
        assert_true(fabs((double)w[i] - 2.5 * crowd.delta[0][i]) < 1e-6);
    fixture_set(b->fixture, "participation", "literal");
    assert_int_equal(fixture_create(b->fixture, &b->facts), OSAFL_E_CONFIG);
    assert_non_null(strstr(b->fixture->error.text, "server_learning_rate"));
    bench_close(b);
}

/* kl, normalized over the participants, prefers the client whose labels are closer to uniform. */
static void test_feddisco_kl(void **unused)
{
    (void)unused;
    struct crowd crowd;
    float w[DIM] = {0};
    fill_crowd(&crowd, 2);
    memset(crowd.histogram, 0, sizeof crowd.histogram);
    crowd.histogram[0][0] = 40;                         /* one label: kl = ln 10 */
    crowd.histogram[1][0] = crowd.histogram[1][1] = 20; /* two labels: kl = ln 5 */
    struct aggregator_bench *b = bench_open("feddisco", CLIENTS, ROUNDS, DIM);
    fixture_set(b->fixture, "discrepancy", "kl");
    bench_create(b);
    play(b, 0, crowd.client, 2, w);
    const double sum = log(10.0) + log(5.0);
    const double raw0 = crowd.client[0].alpha - 0.15 * log(10.0) / sum + 0.1;
    const double raw1 = crowd.client[1].alpha - 0.15 * log(5.0) / sum + 0.1;
    assert_true(fabs(fixture_metric(b->fixture, "discrepancy", 0) - log(10.0) / sum) < 1e-12);
    assert_true(fabs(fixture_metric(b->fixture, "weight", 0) - raw0 / (raw0 + raw1)) < 1e-12);
    for (uint32_t i = 0; i < DIM; i++) {
        const double want = (raw0 * crowd.delta[0][i] + raw1 * crowd.delta[1][i]) / (raw0 + raw1);
        assert_true(fabs((double)w[i] - want) < 1e-7);
    }
    bench_close(b);
}

static void test_declarations(void **unused)
{
    (void)unused;
    struct aggregator_bench *b = bench_open("genie", CLIENTS, ROUNDS, DIM);
    fixture_set(b->fixture, "steps", "123");
    bench_create(b);
    const struct instance *genie = &b->fixture->instance;
    const osafl_pooled *pooled = instance_extension(genie, OSAFL_POOLED_ID);
    uint64_t steps = 0;
    assert_non_null(pooled);
    osafl_call *c = fixture_begin(b->fixture, OSAFL_NO_CLIENT, 0);
    assert_int_equal(fixture_end(b->fixture, pooled->steps(genie->self, c, &steps)), OSAFL_OK);
    assert_int_equal(steps, 123);
    assert_null(instance_extension(genie, "osafl.unknown/1"));
    bench_close(b);
    b = open_default("fedprox");
    assert_string_equal(b->info.optimizer, "proximal");
    assert_null(instance_extension(&b->fixture->instance, OSAFL_POOLED_ID));
    bench_close(b);
    b = open_default("scaffold");
    assert_string_equal(b->info.optimizer, "scaffold");
    assert_int_equal(b->info.broadcast_floats, DIM);
    assert_int_equal(b->info.uplink_vectors, 1);
    bench_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_listed),
        cmocka_unit_test(test_sole_update),
        cmocka_unit_test(test_equal_updates),
        cmocka_unit_test(test_permutation_invariant),
        cmocka_unit_test(test_scale_free),
        cmocka_unit_test(test_robust),
        cmocka_unit_test(test_degenerate_rounds),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_state_matters),
        cmocka_unit_test(test_damaged_state_is_refused),
        cmocka_unit_test(test_fednova_is_fedavg_with_equal_rounds),
        cmocka_unit_test(test_osafl_with_one_participant),
        cmocka_unit_test(test_order_statistics),
        cmocka_unit_test(test_afa_cs_keeps_the_latest_updates),
        cmocka_unit_test(test_scaffold_variate_is_the_mean),
        cmocka_unit_test(test_fedavg_settings),
        cmocka_unit_test(test_feddisco_kl),
        cmocka_unit_test(test_declarations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
