/* test_tune.c - values to tune over, the order of trials, shares of a grid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "command/sweep/tune_range.h"
#include "command/sweep/tune_trial.h"
#include "experiment/cell_shard.h"

static void expect_range(const char *word, const char *expected)
{
    struct error error = {0};
    char *out = NULL;
    assert_int_equal(tune_range(word, &out, &error), OSAFL_OK);
    assert_string_equal(out, expected);
    free(out);
}

static void values_and_ranges(void **state)
{
    (void)state;
    expect_range("a.b=0.1", "a.b=(0.1)");
    expect_range("a.b=0.1,2,-3", "a.b=(0.1, 2, -3)");
    expect_range("a=osafl,true,\"x y\"", "a=(\"osafl\", true, \"x y\")");
    expect_range("a=1..100/3", "a=(1, 10, 100)");
    expect_range("a=0.005..0.08", "a=(0.005, 0.01, 0.02, 0.04, 0.08)");
    expect_range("a=5..25/4", "a=(5, 8.55, 14.6, 25)");
    expect_range("a=.5..2/2", "a=(0.5, 2)");
}

static void wrong_ranges_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "a",        "=1",        "a=",       "a=1,",      "a=,1",     "a=1,,2",   "a=0..1",
        "a=2..1",   "a=1..1",    "a=-1..1",  "a=1..x",    "a=x..2",   "a=1..2/1", "a=1..2/",
        "a=1..2/x", "a=1..2/65", "a=1..inf", "a=1..2..3", "a=nan..2",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct error error = {0};
        char *out = NULL;
        assert_int_equal(tune_range(wrong[i], &out, &error), OSAFL_E_CONFIG);
        assert_null(out);
        assert_non_null(strstr(error.text, wrong[i]));
    }
    char many[512] = "a=1";
    for (int i = 0; i < TUNE_MOST_VALUES; i++)
        strcat(many, ",1");
    struct error error = {0};
    char *out = NULL;
    assert_int_equal(tune_range(many, &out, &error), OSAFL_E_CONFIG);
}

static void farther_then_better_then_earlier(void **state)
{
    (void)state;
    struct trial t[] = {
        {.setting = 0, .rounds = 10, .value = 0.9, .measure = "accuracy"},
        {.setting = 1, .rounds = 20, .value = 0.3, .measure = "accuracy"},
        {.setting = 2, .rounds = 20, .value = 0.4, .measure = "accuracy"},
        {.setting = 3, .rounds = 20, .value = 0.3, .measure = "accuracy"},
        {.setting = 4, .rounds = 0, .measure = ""},
        {.setting = 5, .rounds = 0, .measure = ""},
    };
    static const size_t expected[] = {3, 1, 0, 2, 4, 5};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(trial_rank(t, 6, i), expected[i]);
    /* Of a loss the smaller is the better. */
    for (size_t i = 0; i < 4; i++)
        strcpy(t[i].measure, "loss");
    static const size_t of_loss[] = {3, 0, 2, 1, 4, 5};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(trial_rank(t, 6, i), of_loss[i]);
}

static void shares_are_a_partition(void **state)
{
    (void)state;
    enum { CELLS = 23 };
    static struct experiment all[CELLS];
    for (int i = 0; i < CELLS; i++)
        snprintf(all[i].identity, sizeof all[i].identity, "%02d", i * 7 % 20); /* some are equal */
    for (unsigned shards = 1; shards <= 30; shards++) {
        unsigned taken[CELLS] = {0};
        for (unsigned shard = 1; shard <= shards; shard++) {
            struct experiment *cell[CELLS];
            size_t n = CELLS;
            for (int i = 0; i < CELLS; i++)
                cell[i] = &all[i];
            assert_true(cells_shard(cell, &n, shard, shards));
            assert_in_range(n, CELLS / shards, (CELLS + shards - 1) / shards);
            for (size_t i = 0; i < n; i++) {
                taken[cell[i] - all]++;
                assert_true(i == 0 || cell[i - 1] < cell[i]); /* in their order */
            }
        }
        for (int i = 0; i < CELLS; i++)
            assert_int_equal(taken[i], 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_ranges),
        cmocka_unit_test(wrong_ranges_are_refused),
        cmocka_unit_test(farther_then_better_then_earlier),
        cmocka_unit_test(shares_are_a_partition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
