/* Drifts: when mixes change, and that they keep the distribution of mixes between changes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "osafl/drift.h"
#include "osafl/partition.h"
#include "plugin_fixture.h"

enum { CLIENTS = 2000, ROUNDS = 36, LABELS = 5 };

static const double share[LABELS] = {0.3, 0.1, 0.2, 0.25, 0.15};

struct bench {
    struct fixture *drift;
    struct fixture *partition;
    osafl_dataset_info info;
    osafl_facts facts;
};

static struct bench open_bench(const char *drift, const char *key, const char *value)
{
    struct bench b = {.drift = fixture_open("drift", drift),
                      .partition = fixture_open("partition", "dirichlet")};
    if (key != NULL)
        fixture_set(b.drift, key, value);
    return b;
}

static void create(struct bench *b)
{
    b->info = (osafl_dataset_info){.struct_size = sizeof b->info, .labels = LABELS, .n_train = 999};
    b->facts = (osafl_facts){.struct_size = sizeof b->facts,
                             .clients = CLIENTS,
                             .rounds = ROUNDS,
                             .dataset = &b->info,
                             .label_share = share};
    assert_int_equal(fixture_create(b->drift, &b->facts), OSAFL_OK);
    assert_int_equal(fixture_create(b->partition, &b->facts), OSAFL_OK);
}

static void close_bench(struct bench *b)
{
    fixture_close(b->drift);
    fixture_close(b->partition);
}

static osafl_drift_mix ask(struct bench *b, uint32_t client, uint32_t round)
{
    const osafl_drift_vt *vt = fixture_vtable(b->drift);
    osafl_drift_mix mix = {.struct_size = sizeof mix};
    osafl_call *c = fixture_begin(b->drift, client, round);
    assert_int_equal(fixture_end(b->drift, vt->at(b->drift->instance.self, c, client, round, &mix)),
                     OSAFL_OK);
    assert_true(mix.weight >= 0.0 && mix.weight < 1.0);
    return mix;
}

static void get_draw(struct bench *b, uint32_t client, uint32_t draw, double *mix)
{
    const osafl_partition_vt *vt = fixture_vtable(b->partition);
    osafl_call *c = fixture_begin(b->partition, client, 0);
    assert_int_equal(
        fixture_end(b->partition, vt->mix(b->partition->instance.self, c, client, draw, mix)),
        OSAFL_OK);
}

/* Mean 1/C and variance (1/C)(1 - 1/C)/(C a + 1) of every label over the clients, within five
 * standard errors (a fourth moment is at most a second one here). */
static void check_moments(struct bench *b, uint32_t round)
{
    const double mean = 1.0 / LABELS;
    const double variance = mean * (1.0 - mean) / (LABELS * 0.3 + 1.0);
    double sum[LABELS] = {0.0};
    double squares[LABELS] = {0.0};
    for (uint32_t u = 0; u < CLIENTS; u++) {
        double mix[LABELS];
        get_draw(b, u, ask(b, u, round).draw_a, mix);
        for (uint32_t l = 0; l < LABELS; l++) {
            sum[l] += mix[l] / CLIENTS;
            squares[l] += (mix[l] - mean) * (mix[l] - mean) / CLIENTS;
        }
    }
    for (uint32_t l = 0; l < LABELS; l++) {
        assert_true(fabs(sum[l] - mean) < 5.0 * sqrt(variance / CLIENTS));
        assert_true(fabs(squares[l] - variance) < 5.0 * sqrt(variance / CLIENTS));
    }
}

/* In every round in which no change goes on, whatever the drift. */
static void test_distribution_is_kept(void **state)
{
    (void)state;
    static const char *const names[] = {"gradual", "incremental", "none",  "recurrent",
                                        "redraw",  "staggered",   "sudden"};
    fixture_expect_all("drift", names, sizeof names / sizeof names[0]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct bench b = open_bench(names[i], NULL, NULL);
        uint32_t rested = 0;
        create(&b);
        for (uint32_t t = 0; t < ROUNDS; t += 3) {
            if (ask(&b, 0, t).weight > 0.0)
                continue;
            check_moments(&b, t);
            rested++;
        }
        assert_true(rested >= 8);
        close_bench(&b);
    }
}

/* Rounds 10 to 19: steps of a tenth; the last of them is the new mix alone. */
static void test_gradual(void **state)
{
    (void)state;
    struct bench b = open_bench("gradual", NULL, NULL);
    create(&b);
    for (uint32_t t = 0; t < ROUNDS; t++) {
        const osafl_drift_mix mix = ask(&b, t, t);
        const double part = t < 10 ? 0.0 : t < 19 ? (t - 9) / 10.0 : 0.0;
        assert_int_equal(mix.draw_a, t >= 19);
        assert_true(mix.weight == part && (part == 0.0 || mix.draw_b == 1));
    }
    close_bench(&b);

    b = open_bench("gradual", "length", "1");
    create(&b);
    for (uint32_t t = 0; t < ROUNDS; t++) {
        assert_int_equal(ask(&b, 0, t).draw_a, t >= 10);
        assert_true(ask(&b, 0, t).weight == 0.0);
    }
    close_bench(&b);
}

/* Every 7 rounds a change of 3. */
static void test_incremental(void **state)
{
    (void)state;
    struct bench b = open_bench("incremental", "period", "7");
    fixture_set(b.drift, "length", "3");
    create(&b);
    for (uint32_t t = 0; t < ROUNDS; t++) {
        const osafl_drift_mix mix = ask(&b, 5, t);
        const bool moves = t >= 7 && t % 7 < 2;
        assert_int_equal(mix.draw_a, t / 7 - moves);
        assert_true(mix.weight == (moves ? (t % 7 + 1) / 3.0 : 0.0));
        assert_true(!moves || mix.draw_b == t / 7);
    }
    fixture_set(b.drift, "length", "8");
    assert_int_equal(fixture_create(b.drift, &b.facts), OSAFL_E_CONFIG);
    assert_non_null(strstr(b.drift->error.text, "lower length or raise period"));
    close_bench(&b);
}

static void test_recurrent(void **state)
{
    (void)state;
    struct bench b = open_bench("recurrent", "period", "4");
    fixture_set(b.drift, "mixes", "3");
    create(&b);
    for (uint32_t t = 0; t < ROUNDS; t++)
        assert_int_equal(ask(&b, 8, t).draw_a, t / 4 % 3);
    close_bench(&b);
}

/* One change a client, at the end of rounds 10 to 29, each with 1/20 of the clients. */
static void test_staggered(void **state)
{
    (void)state;
    struct bench b = open_bench("staggered", NULL, NULL);
    uint32_t changed = 0;
    create(&b);
    for (uint32_t t = 0; t < ROUNDS; t++) {
        uint32_t now = 0;
        for (uint32_t u = 0; u < CLIENTS; u++)
            now += ask(&b, u, t).draw_a;
        const double expected = t < 10 || t > 29 ? 0.0 : CLIENTS / 20.0;
        assert_true(fabs(now - (double)changed - expected) <= 5.0 * sqrt(expected));
        changed = now;
    }
    assert_int_equal(changed, CLIENTS);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distribution_is_kept),
        cmocka_unit_test(test_gradual),
        cmocka_unit_test(test_incremental),
        cmocka_unit_test(test_recurrent),
        cmocka_unit_test(test_staggered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
