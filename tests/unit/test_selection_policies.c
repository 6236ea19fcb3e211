/* test_selection_policies.c - who is asked. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/streams.h"
#include "osafl/random.h"
#include "osafl/selection.h"
#include "plugin_fixture.h"

#define MOST 25

static const char *const all_names[] = {
    "age", "all", "energy", "oort", "power_of_choice", "round_robin", "uniform"};
#define N_ALL (sizeof all_names / sizeof all_names[0])

/* What a policy sees; history as the host keeps it. */
struct scene {
    uint32_t clients;
    uint8_t present[MOST];
    double gain[MOST];
    uint64_t samples[MOST];
    double budget[MOST];
    uint32_t participations[MOST];
    uint32_t age[MOST];
    uint32_t asked_age[MOST];
    double train_loss[MOST];
    double update_norm[MOST];
    double seconds[MOST];
    double joules[MOST];
    uint8_t asked[MOST];
};

static struct scene *scene_make(uint32_t clients)
{
    struct scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->clients = clients;
    for (uint32_t u = 0; u < clients; u++) {
        s->present[u] = 1;
        s->gain[u] = 1e-9 * (1.0 + u);
        s->samples[u] = 100 + 10 * u;
        s->budget[u] = 2.0;
        s->age[u] = s->asked_age[u] = 1;
        s->train_loss[u] = s->update_norm[u] = s->seconds[u] = (double)NAN;
    }
    return s;
}

static struct fixture *policy_open(const char *name, uint32_t clients, const char *const *settings)
{
    const osafl_facts facts = {.struct_size = sizeof facts, .clients = clients, .rounds = 90};
    struct fixture *f = fixture_open("selection", name);
    for (; settings != NULL && settings[0] != NULL; settings += 2)
        fixture_set(f, settings[0], settings[1]);
    assert_int_equal(fixture_create(f, &facts), OSAFL_OK);
    return f;
}

/* Asks, checks that only clients that are there are asked, and says how many. */
static uint32_t ask(struct fixture *f, struct scene *s, uint32_t round)
{
    const osafl_selection_vt *vt = fixture_vtable(f);
    const osafl_history h = {.struct_size = sizeof h,
                             .participations = s->participations,
                             .age = s->age,
                             .asked_age = s->asked_age,
                             .train_loss = s->train_loss,
                             .update_norm = s->update_norm,
                             .seconds = s->seconds,
                             .joules = s->joules};
    const osafl_selection_problem p = {.struct_size = sizeof p,
                                       .clients = s->clients,
                                       .round = round,
                                       .present = s->present,
                                       .gain = s->gain,
                                       .samples = s->samples,
                                       .energy_budget_j = s->budget,
                                       .history = &h};
    memset(s->asked, 0, sizeof s->asked);
    osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, round);
    assert_int_equal(fixture_end(f, vt->choose(f->instance.self, c, &p, s->asked)), OSAFL_OK);
    uint32_t n = 0;
    for (uint32_t u = 0; u < s->clients; u++) {
        assert_true(s->asked[u] <= s->present[u]);
        n += s->asked[u];
    }
    return n;
}

/* What a round does to the history when everybody who was asked takes part. */
static void take_part(struct scene *s, uint32_t round, double joules)
{
    for (uint32_t u = 0; u < s->clients; u++) {
        s->age[u]++;
        s->asked_age[u]++;
        if (!s->asked[u])
            continue;
        uint32_t word[4];
        streams_fill(3, 0, 77, u, round, 0, word, 4);
        s->age[u] = s->asked_age[u] = 1;
        s->participations[u]++;
        s->train_loss[u] = 0.1 + osafl_uniform(word);
        s->seconds[u] = 1.0 + osafl_uniform(word + 2);
        s->joules[u] += joules;
    }
}

static bool has_size(const char *name)
{
    return strcmp(name, "all") != 0 && strcmp(name, "energy") != 0;
}

/* With 1 to 5 clients, some of whom are away now and then, through a save and load. */
static void test_asked_set_has_the_size_asked_for(void **unused)
{
    (void)unused;
    fixture_expect_all("selection", all_names, N_ALL);
    for (size_t k = 0; k < N_ALL; k++) {
        for (uint32_t clients = 1; clients <= 5; clients++) {
            for (uint32_t count = 1; count <= 6; count++) {
                char text[16];
                snprintf(text, sizeof text, "%u", count);
                const char *const sized[] = {"count", text, NULL};
                struct fixture *f =
                    policy_open(all_names[k], clients, has_size(all_names[k]) ? sized : NULL);
                struct scene *s = scene_make(clients);
                for (uint32_t t = 0; t < 30; t++) {
                    uint32_t there = 0;
                    for (uint32_t u = 0; u < clients; u++)
                        there += s->present[u] = (t * 7 + u * 3) % 4 != 0;
                    const uint32_t n = ask(f, s, t);
                    if (has_size(all_names[k]))
                        assert_int_equal(n, count < there ? count : there);
                    if (strcmp(all_names[k], "all") == 0)
                        assert_int_equal(n, there);
                    take_part(s, t, 1.0);
                    if (t == 11) {
                        const osafl_facts facts = {
                            .struct_size = sizeof facts, .clients = clients, .rounds = 90};
                        fixture_restart(f, &facts);
                    }
                }
                free(s);
                fixture_close(f);
            }
        }
    }
}

/* A share is rounded up as it is meant in decimal; each client's turn comes equally often. */
static void test_uniform(void **unused)
{
    (void)unused;
    const char *const fifth[] = {"share", "0.2", NULL};
    struct fixture *f = policy_open("uniform", 25, fifth);
    struct scene *s = scene_make(25);
    uint32_t times[25] = {0};
    for (uint32_t t = 0; t < 1000; t++) {
        assert_int_equal(ask(f, s, t), 5);
        for (uint32_t u = 0; u < 25; u++)
            times[u] += s->asked[u];
    }
    for (uint32_t u = 0; u < 25; u++) /* 200 on average, sd 12.6 */
        assert_in_range(times[u], 137, 263);
    fixture_close(f);
    free(s);
}

static void test_round_robin_goes_in_turn(void **unused)
{
    (void)unused;
    const char *const two[] = {"count", "2", NULL};
    struct fixture *f = policy_open("round_robin", 5, two);
    struct scene *s = scene_make(5);
    const uint8_t wanted[3][5] = {{1, 1, 0, 0, 0}, {0, 0, 0, 1, 1}, {1, 1, 0, 0, 0}};
    for (uint32_t t = 0; t < 3; t++) {
        s->present[2] = t != 1; /* passed over */
        assert_int_equal(ask(f, s, t), 2);
        assert_memory_equal(s->asked, wanted[t], 5);
    }
    fixture_close(f);
    free(s);
}

static void test_power_of_choice_takes_the_largest_losses(void **unused)
{
    (void)unused;
    const char *const everybody[] = {"count", "3", "candidates", "10", NULL};
    struct fixture *f = policy_open("power_of_choice", 10, everybody);
    struct scene *s = scene_make(10);
    for (uint32_t t = 0; t < 20; t++) {
        for (uint32_t u = 0; u < 10; u++) {
            uint32_t word[2];
            streams_fill(4, 0, 77, u, t, 0, word, 2);
            s->train_loss[u] = osafl_uniform(word);
        }
        s->train_loss[t % 10] = (double)NAN; /* never took part: before all others */
        assert_int_equal(ask(f, s, t), 3);
        assert_int_equal(s->asked[t % 10], 1);
        for (uint32_t u = 0; u < 10; u++)
            for (uint32_t v = 0; v < 10; v++)
                if (s->asked[u] && !s->asked[v] && u != t % 10)
                    assert_true(s->train_loss[u] >= s->train_loss[v]);
    }
    fixture_close(f);
    /* As many candidates as are asked: a draw in proportion to the data. */
    const char *const one[] = {"count", "1", "candidates", "1", NULL};
    f = policy_open("power_of_choice", 2, one);
    s->clients = 2;
    s->samples[0] = 300;
    s->samples[1] = 100;
    uint32_t first = 0;
    for (uint32_t t = 0; t < 4000; t++) {
        assert_int_equal(ask(f, s, t), 1);
        first += s->asked[0];
    }
    assert_in_range(first, 3000 - 137, 3000 + 137); /* 5 sd of 27.4 */
    fixture_close(f);
    free(s);
    f = fixture_open("selection", "power_of_choice");
    fixture_set(f, "count", "3");
    fixture_set(f, "candidates", "2");
    const osafl_facts facts = {.struct_size = sizeof facts, .clients = 4};
    assert_int_equal(fixture_create(f, &facts), OSAFL_E_CONFIG);
    assert_string_equal(f->error.text, "candidates = 2 are fewer than count = 3; raise candidates");
    fixture_close(f);
}

/* Nobody waits longer than a full turn, and of equal ages the better channel goes first. */
static void test_age_never_starves(void **unused)
{
    (void)unused;
    const char *const two[] = {"count", "2", NULL};
    struct fixture *f = policy_open("age", 7, two);
    struct scene *s = scene_make(7);
    uint32_t waited[7] = {0};
    for (uint32_t t = 0; t < 100; t++) {
        assert_int_equal(ask(f, s, t), 2);
        if (t == 0)
            assert_true(s->asked[6] && s->asked[5]);
        for (uint32_t u = 0; u < 7; u++) {
            waited[u] = s->asked[u] ? 0 : waited[u] + 1;
            assert_in_range(waited[u], 0, 3); /* ceil(7 / 2) - 1 */
        }
        /* Client 3 is asked in vain: by default its place in the line is lost all the same. */
        take_part(s, t, 1.0);
        if (s->asked[3])
            s->age[3] = t + 2;
    }
    fixture_close(f);
    const char *const update[] = {"count", "1", "since", "update", NULL};
    f = policy_open("age", 7, update);
    s->age[3] = 101;
    ask(f, s, 101);
    assert_int_equal(s->asked[3], 1);
    fixture_close(f);
    free(s);
}

/* The long-term energy is kept to within the queue's bound: at most one participation beyond
 * V / E. */
static void test_energy_is_kept(void **unused)
{
    (void)unused;
    const char *const weak[] = {"budget", "0.3", "weight", "1.0", NULL};
    struct fixture *f = policy_open("energy", 4, weak);
    struct scene *s = scene_make(4);
    const double joules = 1.5;
    const uint32_t rounds = 400;
    for (uint32_t t = 0; t < rounds; t++) {
        ask(f, s, t);
        take_part(s, t, joules);
    }
    for (uint32_t u = 0; u < 4; u++) {
        const double allowed = rounds * 0.3 * 2.0;
        assert_true(s->joules[u] <= allowed + 1.0 / joules + joules);
        assert_true(s->joules[u] >= 0.97 * allowed);
    }
    assert_true(fixture_metric(f, "energy_deficit", OSAFL_NO_CLIENT) <= 1.0 / joules + joules);
    fixture_close(f);
    free(s);
}

/* Among known clients the useful and quick ones are asked; new ones are tried. */
static void test_oort(void **unused)
{
    (void)unused;
    const char *const greedy[] = {"count", "2", "exploration", "0", "exploration_min", "0", NULL};
    struct fixture *f = policy_open("oort", 6, greedy);
    struct scene *s = scene_make(6);
    for (uint32_t u = 0; u < 6; u++) {
        s->participations[u] = 1;
        s->samples[u] = 100;
        s->train_loss[u] = u < 3 ? 1.0 : 0.1;
        s->seconds[u] = u == 0 ? 10.0 : 1.0; /* useful, but slow */
    }
    for (uint32_t t = 1; t < 50; t++) {
        assert_int_equal(ask(f, s, t), 2);
        assert_true(s->asked[1] && s->asked[2]);
    }
    s->participations[5] = 0;
    assert_int_equal(ask(f, s, 50), 2);
    assert_false(s->asked[5]);
    fixture_close(f);
    const char *const curious[] = {"count", "2", "exploration", "0.5", "exploration_decay",
                                   "1",     NULL};
    f = policy_open("oort", 6, curious);
    assert_int_equal(ask(f, s, 50), 2);
    assert_true(s->asked[5]);
    fixture_close(f);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asked_set_has_the_size_asked_for),
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_round_robin_goes_in_turn),
        cmocka_unit_test(test_power_of_choice_takes_the_largest_losses),
        cmocka_unit_test(test_age_never_starves),
        cmocka_unit_test(test_energy_is_kept),
        cmocka_unit_test(test_oort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
