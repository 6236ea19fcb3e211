/* test_deletion_policies.c - which samples leave a store. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/streams.h"
#include "osafl/dataset.h"
#include "osafl/deletion.h"
#include "osafl/random.h"
#include "plugin/plugin_state.h"
#include "plugin_fixture.h"

#define LABELS 10 /* unless a store says otherwise */
#define MOST_LABELS 64
#define MOST 600 /* samples of a store and its arrivals */

static const osafl_dataset_info labelled = {.struct_size = sizeof(osafl_dataset_info),
                                            .target_type = OSAFL_TARGET_CLASS,
                                            .target_size = LABELS,
                                            .labels = LABELS};
static const osafl_facts facts = {
    .struct_size = sizeof(osafl_facts), .dataset = &labelled, .clients = 4, .rounds = 90};

/* A store as a policy sees it. */
struct store {
    uint32_t labels; /* 0: LABELS */
    uint32_t stored;
    uint32_t arrived;
    int32_t label[MOST];
    uint32_t age[MOST];
    double measure[MOST]; /* as the model would measure each sample */
};

static struct fixture *policy_open(const char *name, const char *const *settings)
{
    struct fixture *f = fixture_open("deletion", name);
    for (; settings != NULL && settings[0] != NULL; settings += 2)
        fixture_set(f, settings[0], settings[1]);
    assert_int_equal(fixture_create(f, &facts), OSAFL_OK);
    return f;
}

static osafl_status try_select(struct fixture *f, const struct store *s, uint32_t client,
                               uint32_t round, uint32_t n, uint32_t *position)
{
    const osafl_deletion_vt *vt = fixture_vtable(f);
    const osafl_store_view view = {.struct_size = sizeof view,
                                   .client = client,
                                   .round = round,
                                   .labels = s->labels > 0 ? s->labels : LABELS,
                                   .stored = s->stored,
                                   .arrived = s->arrived,
                                   .label = s->label,
                                   .age = s->age,
                                   .measure = s->measure};
    osafl_call *c = fixture_begin(f, client, round);
    return fixture_end(f, vt->select(f->instance.self, c, &view, n, position));
}

/* Selects, and checks that the answer is n distinct positions, arrivals only where they may be. */
static void select_checked(struct fixture *f, const struct store *s, uint32_t client,
                           uint32_t round, uint32_t n, uint32_t *position)
{
    bool gone[MOST] = {false};
    assert_int_equal(try_select(f, s, client, round, n, position), OSAFL_OK);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(position[i] < s->stored + s->arrived);
        if (plugin_has_feature(f->plugin, "keeps_arrivals"))
            assert_true(position[i] < s->stored);
        assert_false(gone[position[i]]);
        gone[position[i]] = true;
    }
}

static void random_store(struct store *s, uint32_t seed, uint32_t stored, uint32_t arrived)
{
    s->labels = LABELS;
    s->stored = stored;
    s->arrived = arrived;
    for (uint32_t i = 0; i < stored + arrived; i++) {
        uint32_t word[4];
        streams_fill(3, 0, 79, seed, 0, i, word, 4);
        const double u = osafl_uniform(word);
        s->label[i] = (int32_t)(u * u * LABELS); /* unevenly */
        s->age[i] = i < stored ? 1 + osafl_below(word + 2, 12) : 0;
        s->measure[i] = u * (1 - u);
    }
}

static void count_labels(const struct store *s, const uint32_t *position, uint32_t n,
                         uint32_t *count)
{
    memset(count, 0, MOST_LABELS * sizeof *count);
    for (uint32_t i = 0; i < n; i++)
        count[s->label[position[i]]]++;
}

static void test_topk_cases(void **unused)
{
    (void)unused;
    json_error_t error;
    json_t *cases =
        json_load_file(OSAFL_TEST_SOURCE_DIR "/tests/golden/cases/topk.json", 0, &error);
    assert_non_null(cases);
    assert_int_equal(json_array_size(cases), 200);
    size_t at;
    const json_t *entry;
    json_array_foreach(cases, at, entry)
    {
        struct store s = {0};
        uint32_t position[MOST];
        uint32_t count[MOST_LABELS];
        char classes[16];
        const json_t *histogram = json_object_get(entry, "histogram");
        s.labels = (uint32_t)json_array_size(histogram);
        assert_true(s.labels >= 1 && s.labels <= MOST_LABELS);
        for (uint32_t l = 0; l < s.labels; l++) {
            const int64_t have = json_integer_value(json_array_get(histogram, l));
            for (int64_t i = 0; i < have; i++) {
                assert_true(s.stored < MOST);
                s.label[s.stored++] = (int32_t)l;
            }
        }
        snprintf(classes, sizeof classes, "%d",
                 (int)json_integer_value(json_object_get(entry, "classes")));
        const uint32_t n = (uint32_t)json_integer_value(json_object_get(entry, "remove"));
        struct fixture *f = policy_open("topk", (const char *[]){"classes", classes, NULL});
        select_checked(f, &s, 0, 0, n, position);
        count_labels(&s, position, n, count);
        for (uint32_t l = 0; l < s.labels; l++)
            assert_int_equal(
                count[l], json_integer_value(json_array_get(json_object_get(entry, "removed"), l)));
        fixture_close(f);
    }
    json_decref(cases);
}

static const char *const names[] = {"topk",      "fifo",    "random",     "balanced",
                                    "reservoir", "by_loss", "uncertainty"};
#define N_NAMES (sizeof names / sizeof names[0])

static void test_all_are_listed(void **state)
{
    (void)state;
    fixture_expect_all("deletion", names, N_NAMES);
}

static void test_every_policy_names_distinct_samples(void **unused)
{
    (void)unused;
    for (size_t p = 0; p < N_NAMES; p++) {
        struct fixture *f = policy_open(names[p], NULL);
        struct store s;
        uint32_t position[MOST];
        uint32_t again[MOST];
        for (uint32_t trial = 0; trial < 60; trial++) {
            const uint32_t stored = 1 + trial * 7;
            const uint32_t arrived = 1 + trial * 5 % (stored < 100 ? stored : 100);
            random_store(&s, trial, stored, arrived);
            select_checked(f, &s, trial % 4, trial, arrived, position);
            if (strcmp(names[p], "reservoir") != 0) { /* a pure function of its arguments */
                select_checked(f, &s, trial % 4, trial, arrived, again);
                assert_memory_equal(position, again, arrived * sizeof again[0]);
            }
        }
        /* A store of one sample, all of which leaves; and one whose samples have one label. */
        random_store(&s, 1000, 1, 1);
        select_checked(f, &s, 0, 80, 1, position);
        random_store(&s, 1001, 50, 20);
        for (uint32_t i = 0; i < 70; i++)
            s.label[i] = 6;
        select_checked(f, &s, 3, 81, 20, position);
        fixture_close(f);
    }
}

static void test_more_arrivals_than_samples(void **unused)
{
    (void)unused;
    struct store s;
    uint32_t position[MOST];
    random_store(&s, 1, 5, 9);
    for (size_t p = 0; p < N_NAMES; p++) {
        struct fixture *f = policy_open(names[p], NULL);
        if (plugin_has_feature(f->plugin, "keeps_arrivals")) {
            assert_int_equal(try_select(f, &s, 2, 3, 9, position), OSAFL_E_UNSUPPORTED);
            assert_non_null(strstr(f->error.text, "client 2 should delete 9 of 5"));
        } else {
            select_checked(f, &s, 2, 3, 9, position);
        }
        fixture_close(f);
    }
}

static void test_fifo_takes_the_oldest(void **unused)
{
    (void)unused;
    const struct store s = {
        .stored = 6, .arrived = 3, .age = {2, 5, 1, 5, 3, 2, 0, 0, 0}, .label = {0}};
    const uint32_t want[] = {1, 3, 4};
    uint32_t position[3];
    struct fixture *f = policy_open("fifo", NULL);
    select_checked(f, &s, 0, 0, 3, position);
    assert_memory_equal(position, want, sizeof want);
    fixture_close(f);
}

/* The oldest of a label leave, by topk and by balanced. */
static void test_oldest_of_a_label(void **unused)
{
    (void)unused;
    const struct store s = {
        .stored = 6, .arrived = 1, .label = {4, 4, 2, 4, 4, 2, 2}, .age = {1, 7, 9, 3, 7, 9, 0}};
    static const char *const policies[] = {"topk", "balanced"};
    uint32_t position[1];
    for (size_t p = 0; p < 2; p++) {
        struct fixture *f = policy_open(policies[p], (const char *[]){"which", "oldest", NULL});
        if (p == 0)
            fixture_set(f, "classes", "1");
        select_checked(f, &s, 0, 0, 1, position);
        assert_int_equal(position[0], 1);
        fixture_close(f);
    }
}

/* Every stored sample leaves equally often, within 5 standard deviations. */
static void check_uniform(const char *name, const char *const *settings, const struct store *s,
                          const bool *candidate, uint32_t n, double probability)
{
    enum { TRIALS = 4000 };
    unsigned count[MOST] = {0};
    uint32_t position[MOST];
    struct fixture *f = policy_open(name, settings);
    for (uint32_t t = 0; t < TRIALS; t++) {
        select_checked(f, s, t % 4, t / 4, n, position);
        for (uint32_t i = 0; i < n; i++)
            count[position[i]]++;
    }
    const double deviation = sqrt(TRIALS * probability * (1.0 - probability));
    for (uint32_t i = 0; i < s->stored + s->arrived; i++) {
        if (candidate[i])
            assert_true(fabs(count[i] - TRIALS * probability) <= 5.0 * deviation);
        else
            assert_int_equal(count[i], 0);
    }
    fixture_close(f);
}

static void test_random_choices_are_uniform(void **unused)
{
    (void)unused;
    struct store s = {.stored = 12, .arrived = 4};
    bool all[MOST] = {false};
    bool fives[MOST] = {false};
    for (uint32_t i = 0; i < 12; i++) {
        s.label[i] = i % 3 == 0 ? 1 : 5;
        all[i] = true;
        fives[i] = s.label[i] == 5;
    }
    check_uniform("random", NULL, &s, all, 4, 4.0 / 12.0);
    /* 8 samples have label 5, 4 have label 1: the fullest label gives all four. */
    check_uniform("topk", (const char *[]){"classes", "1", NULL}, &s, fives, 4, 4.0 / 8.0);
}

/* No exchange of one deleted for one kept sample makes the histogram flatter. */
static void test_balanced_is_flattest(void **unused)
{
    (void)unused;
    struct fixture *f = policy_open("balanced", NULL);
    for (uint32_t trial = 0; trial < 50; trial++) {
        struct store s;
        uint32_t position[MOST];
        uint32_t taken[MOST_LABELS];
        uint32_t kept[LABELS] = {0};
        uint32_t stored[LABELS] = {0};
        random_store(&s, trial, 100 + trial, 30);
        select_checked(f, &s, 1, trial, 30, position);
        count_labels(&s, position, 30, taken);
        for (uint32_t i = 0; i < s.stored + s.arrived; i++) {
            kept[s.label[i]]++;
            if (i < s.stored)
                stored[s.label[i]]++;
        }
        for (uint32_t l = 0; l < LABELS; l++)
            kept[l] -= taken[l];
        for (uint32_t give = 0; give < LABELS; give++) {
            for (uint32_t back = 0; back < LABELS; back++) {
                if (taken[give] < stored[give] && taken[back] > 0)
                    assert_true(kept[give] <= kept[back] + 1);
            }
        }
    }
    fixture_close(f);
}

/* Samples seen at any time are in the reservoir with equal probability: of 4 + 12 each with 4/16;
 * also when the first arrivals find free places. */
static void check_reservoir(uint32_t begin)
{
    enum { STORED = 4, PER_ROUND = 3, ROUNDS = 4, SEEN = STORED + PER_ROUND * ROUNDS };
    enum { TRIALS = 4000 };
    unsigned count[SEEN] = {0};
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        struct fixture *f = policy_open("reservoir", NULL);
        f->context.seed = trial;
        struct store s = {.stored = begin, .arrived = PER_ROUND};
        uint32_t held[STORED + PER_ROUND];
        uint32_t next = 0;
        for (; next < begin; next++)
            held[next] = next;
        for (uint32_t round = 0; round < ROUNDS; round++) {
            uint32_t position[PER_ROUND];
            bool gone[STORED + PER_ROUND] = {false};
            const uint32_t leave = s.stored + PER_ROUND - STORED;
            for (uint32_t i = 0; i < PER_ROUND; i++)
                held[s.stored + i] = next++;
            select_checked(f, &s, 2, round, leave, position);
            for (uint32_t i = 0; i < leave; i++)
                gone[position[i]] = true;
            uint32_t kept = 0;
            for (uint32_t i = 0; i < s.stored + PER_ROUND; i++) {
                if (!gone[i])
                    held[kept++] = held[i];
            }
            assert_int_equal(kept, STORED);
            s.stored = STORED;
        }
        assert_int_equal(next, begin + PER_ROUND * ROUNDS);
        for (uint32_t i = 0; i < STORED; i++)
            count[held[i]]++;
        fixture_close(f);
    }
    const uint32_t seen = begin + PER_ROUND * ROUNDS;
    const double p = (double)STORED / seen;
    for (uint32_t i = 0; i < seen; i++)
        assert_true(fabs(count[i] - TRIALS * p) <= 5.0 * sqrt(TRIALS * p * (1.0 - p)));
}

static void test_reservoir_is_uniform(void **unused)
{
    (void)unused;
    check_reservoir(4);
    check_reservoir(2);
}

static void test_reservoir_resumes(void **unused)
{
    (void)unused;
    struct error error;
    const void *data = NULL;
    size_t size = 0;
    struct record_set *set = NULL;
    struct store s;
    uint32_t position[MOST];
    uint32_t other[MOST];
    struct fixture *first = policy_open("reservoir", NULL);
    struct fixture *second = policy_open("reservoir", NULL);
    for (uint32_t round = 0; round < 20; round++) {
        random_store(&s, round, 40, 10);
        select_checked(first, &s, round % 4, round, 10, position);
    }
    struct record_writer *w = record_writer_create();
    assert_int_equal(instance_save(&first->instance, w, "deletion", &error), OSAFL_OK);
    assert_int_equal(record_writer_finish(w, &data, &size, &error), OSAFL_OK);
    assert_int_equal(record_set_open(data, size, &set, &error), OSAFL_OK);
    assert_int_equal(instance_load(&second->instance, set, "deletion", &error), OSAFL_OK);
    for (uint32_t round = 20; round < 40; round++) {
        random_store(&s, round, 40, 10);
        select_checked(first, &s, round % 4, round, 10, position);
        select_checked(second, &s, round % 4, round, 10, other);
        assert_memory_equal(position, other, 10 * sizeof other[0]);
    }
    record_set_destroy(set);
    record_writer_destroy(w);
    fixture_close(first);
    fixture_close(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_listed),
        cmocka_unit_test(test_topk_cases),
        cmocka_unit_test(test_every_policy_names_distinct_samples),
        cmocka_unit_test(test_more_arrivals_than_samples),
        cmocka_unit_test(test_fifo_takes_the_oldest),
        cmocka_unit_test(test_oldest_of_a_label),
        cmocka_unit_test(test_random_choices_are_uniform),
        cmocka_unit_test(test_balanced_is_flattest),
        cmocka_unit_test(test_reservoir_is_uniform),
        cmocka_unit_test(test_reservoir_resumes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
