/* test_partition_laws.c - which mixes partitions give: laws of the Dirichlet draw, bounds, and
 * never a label without samples. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "osafl/partition.h"
#include "plugin_fixture.h"

#define LABELS 10
#define MANY 1000

static const double flat[LABELS] = {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1};

static osafl_dataset_info info;
static osafl_facts facts;

/* A partition over a training split with these shares. */
static struct fixture *open_partition(const char *name, const char *key, const char *value,
                                      const double *share, uint32_t labels, uint64_t seed)
{
    struct fixture *f = fixture_open("partition", name);
    if (key != NULL)
        fixture_set(f, key, value);
    f->context.seed = seed;
    info = (osafl_dataset_info){.struct_size = sizeof info, .labels = labels, .n_train = 60000};
    facts = (osafl_facts){.struct_size = sizeof facts,
                          .clients = 100,
                          .rounds = 10,
                          .dataset = &info,
                          .label_share = share};
    if (fixture_create(f, &facts) != OSAFL_OK)
        fail_msg("%s", f->error.text);
    return f;
}

static struct fixture *open_dirichlet(double concentration, const double *share, uint32_t labels,
                                      uint64_t seed)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", concentration);
    return open_partition("dirichlet", "concentration", text, share, labels, seed);
}

static void get_mix(struct fixture *f, uint32_t client, uint32_t draw, double *mix)
{
    const osafl_partition_vt *vt = fixture_vtable(f);
    osafl_call *c = fixture_begin(f, client, 0);
    assert_int_equal(fixture_end(f, vt->mix(f->instance.self, c, client, draw, mix)), OSAFL_OK);
}

static void check_mix(const double *mix, const double *share, uint32_t labels)
{
    double sum = 0.0;
    for (uint32_t l = 0; l < labels; l++) {
        assert_true(mix[l] >= 0.0 && mix[l] <= 1.0);
        if (share[l] == 0.0)
            assert_true(mix[l] == 0.0);
        sum += mix[l];
    }
    assert_true(fabs(sum - 1.0) < 1e-12);
}

/* Mean 1/C and variance (1/C)(1 - 1/C)/(C a + 1) of every component of Dirichlet(a), over clients
 * and over the draws of one client. */
static void test_dirichlet_moments(void **state)
{
    (void)state;
    const double concentrations[] = {0.1, 0.3, 0.9, 1.0, 5.0, 100.0};
    enum { DRAWS = 20000 };
    for (size_t i = 0; i < 2 * sizeof concentrations / sizeof *concentrations; i++) {
        const double a = concentrations[i / 2];
        struct fixture *f = open_dirichlet(a, flat, LABELS, 42);
        double sum[LABELS] = {0.0};
        double squares[LABELS] = {0.0};
        for (uint32_t k = 0; k < DRAWS; k++) {
            double mix[LABELS];
            get_mix(f, i % 2 == 0 ? k : 3, i % 2 == 0 ? 0 : k, mix);
            check_mix(mix, flat, LABELS);
            for (uint32_t l = 0; l < LABELS; l++) {
                sum[l] += mix[l];
                squares[l] += mix[l] * mix[l];
            }
        }
        const double mean = 1.0 / LABELS;
        const double variance = mean * (1.0 - mean) / (LABELS * a + 1.0);
        for (uint32_t l = 0; l < LABELS; l++) {
            const double m = sum[l] / DRAWS;
            assert_true(fabs(m - mean) < 5.0 * sqrt(variance / DRAWS));
            assert_true(fabs(squares[l] / DRAWS - m * m - variance) < 0.06 * variance);
        }
        fixture_close(f);
    }
}

/* P(x < 1/10) of a component of Dirichlet(1) over 10 labels, Beta(1, 9): 1 - 0.9^9. */
static void test_dirichlet_distribution(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    struct fixture *f = open_dirichlet(1.0, flat, LABELS, 7);
    uint32_t below = 0;
    for (uint32_t u = 0; u < DRAWS; u++) {
        double mix[LABELS];
        get_mix(f, u, 0, mix);
        below += mix[3] < 0.1;
    }
    const double p = 1.0 - pow(0.9, 9);
    assert_true(fabs((double)below / DRAWS - p) < 5.0 * sqrt(p * (1 - p) / DRAWS));
    fixture_close(f);
}

static void test_dirichlet_bounds(void **state)
{
    (void)state;
    static double share[MANY];
    static double mix[MANY];
    for (uint32_t l = 0; l < MANY; l++)
        share[l] = l % 3 == 0 ? 0.0 : 1.5 / MANY;
    const double concentrations[] = {5e-324, 1e-300, 1e-8, 1e-3, 1e6, 1e15, 1e300};
    const uint32_t sizes[] = {2, 3, 11, MANY};
    for (size_t i = 0; i < sizeof concentrations / sizeof *concentrations; i++) {
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            struct fixture *f = open_dirichlet(concentrations[i], share, sizes[k], 1);
            for (uint32_t u = 0; u < 20; u++) {
                get_mix(f, u, 5, mix);
                check_mix(mix, share, sizes[k]);
            }
            fixture_close(f);
        }
    }
}

/* At 1e-8 one label has everything, and clients differ in which; at 1e6 all are alike. */
static void test_dirichlet_extremes(void **state)
{
    (void)state;
    struct fixture *small = open_dirichlet(1e-8, flat, LABELS, 1);
    struct fixture *least = open_dirichlet(5e-324, flat, LABELS, 1);
    struct fixture *large = open_dirichlet(1e6, flat, LABELS, 1);
    uint32_t first[LABELS] = {0};
    for (uint32_t u = 0; u < 200; u++) {
        double one[LABELS];
        double most = 0.0;
        get_mix(least, u, 0, one);
        for (uint32_t l = 0; l < LABELS; l++)
            most = fmax(most, one[l]);
        assert_true(most > 1.0 - 1e-9);
        get_mix(small, u, 0, one);
        for (uint32_t l = 0; l < LABELS; l++)
            first[l] += one[l] > 0.999;
        get_mix(large, u, 0, one);
        for (uint32_t l = 0; l < LABELS; l++)
            assert_true(fabs(one[l] - 0.1) < 0.002);
    }
    uint32_t total = 0;
    for (uint32_t l = 0; l < LABELS; l++) {
        assert_in_range(first[l], 5, 40);
        total += first[l];
    }
    assert_int_equal(total, 200);
    fixture_close(least);
    fixture_close(small);
    fixture_close(large);
}

static const double uneven[LABELS] = {.2, .2, 0, .2, 0, .1, .1, .1, .05, .05};

static struct fixture *open_weighted(double concentration, const double *share, uint32_t labels)
{
    struct fixture *f = open_dirichlet(concentration, share, labels, 5);
    fixture_set(f, "form", "weighted");
    assert_int_equal(fixture_create(f, &facts), OSAFL_OK);
    return f;
}

/* Dirichlet(a C s): means s, variances s (1 - s) / (C a + 1), over the labels that there are. */
static void test_weighted_moments(void **state)
{
    (void)state;
    enum { DRAWS = 20000, C = 8 };
    const double concentrations[] = {0.1, 1.0, 20.0};
    for (size_t i = 0; i < sizeof concentrations / sizeof *concentrations; i++) {
        struct fixture *f = open_weighted(concentrations[i], uneven, LABELS);
        double sum[LABELS] = {0.0};
        double squares[LABELS] = {0.0};
        for (uint32_t u = 0; u < DRAWS; u++) {
            double mix[LABELS];
            get_mix(f, u, 0, mix);
            check_mix(mix, uneven, LABELS);
            for (uint32_t l = 0; l < LABELS; l++) {
                sum[l] += mix[l] / DRAWS;
                squares[l] += (mix[l] - uneven[l]) * (mix[l] - uneven[l]) / DRAWS;
            }
        }
        for (uint32_t l = 0; l < LABELS; l++) {
            const double variance = uneven[l] * (1.0 - uneven[l]) / (C * concentrations[i] + 1.0);
            assert_true(fabs(sum[l] - uneven[l]) <= 5.0 * sqrt(variance / DRAWS));
            assert_true(fabs(squares[l] - variance) <= 0.08 * variance);
        }
        fixture_close(f);
    }
}

/* Concentrated without end the mix is that of the data; without any, one label has everything. */
static void test_weighted_limits(void **state)
{
    (void)state;
    const double concentrations[] = {1e9, 1e200, 1e300, 1.7e308};
    double mix[LABELS];
    for (size_t i = 0; i < sizeof concentrations / sizeof *concentrations; i++) {
        struct fixture *f = open_weighted(concentrations[i], uneven, LABELS);
        for (uint32_t u = 0; u < 50; u++) {
            get_mix(f, u, 0, mix);
            for (uint32_t l = 0; l < LABELS; l++)
                assert_true(fabs(mix[l] - uneven[l]) < 1e-3);
        }
        fixture_close(f);
    }
    struct fixture *f = open_weighted(5e-324, uneven, LABELS);
    for (uint32_t u = 0; u < 50; u++) {
        get_mix(f, u, 0, mix);
        check_mix(mix, uneven, LABELS);
    }
    fixture_close(f);
}

/* Where shares are equal, both forms are the same. */
static void test_weighted_as_symmetric(void **state)
{
    (void)state;
    struct fixture *weighted = open_weighted(0.5, flat, LABELS);
    double a[LABELS];
    double b[LABELS];
    get_mix(weighted, 3, 0, a);
    fixture_close(weighted);
    struct fixture *symmetric = open_dirichlet(0.5, flat, LABELS, 5);
    get_mix(symmetric, 3, 0, b);
    for (uint32_t l = 0; l < LABELS; l++)
        assert_true(fabs(a[l] - b[l]) < 1e-12);
    fixture_close(symmetric);
}

static char told[256];

static void keep_line(void *arg, int32_t level, const char *line)
{
    (void)arg;
    assert_int_equal(level, OSAFL_LOG_WARN);
    snprintf(told, sizeof told, "%s", line);
}

/* Two clients with two labels each cannot hold all eight. */
static void test_shards_tells_of_unseen(void **state)
{
    (void)state;
    struct fixture *f = open_partition("shards", NULL, NULL, uneven, LABELS, 3);
    double mix[2][LABELS];
    char expected[64] = "nobody holds these labels: ";
    facts.clients = 2;
    f->context.log = keep_line;
    assert_int_equal(fixture_create(f, &facts), OSAFL_OK);
    get_mix(f, 0, 0, mix[0]);
    get_mix(f, 1, 0, mix[1]);
    for (uint32_t l = 0, n = 0; l < LABELS; l++)
        if (uneven[l] > 0.0 && mix[0][l] + mix[1][l] == 0.0)
            snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%s%u",
                     n++ > 0 ? ", " : "", l);
    strcat(expected, ";");
    if (strstr(told, expected) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", expected, told);
    told[0] = '\0';
    facts.clients = 1000;
    assert_int_equal(fixture_create(f, &facts), OSAFL_OK);
    assert_string_equal(told, "");
    fixture_close(f);
}

static void test_shards(void **state)
{
    (void)state;
    uint32_t clients_with[LABELS] = {0};
    for (uint32_t n = 1; n <= 8; n++) {
        char text[12];
        snprintf(text, sizeof text, "%u", n);
        struct fixture *f = open_partition("shards", "labels", text, uneven, LABELS, 3);
        for (uint32_t u = 0; u < 100; u++) {
            double mix[LABELS];
            get_mix(f, u, 0, mix);
            check_mix(mix, uneven, LABELS);
            uint32_t chosen = 0;
            for (uint32_t l = 0; l < LABELS; l++) {
                assert_true(mix[l] == 0.0 || mix[l] == 1.0 / n);
                chosen += mix[l] > 0.0;
                clients_with[l] += n == 2 && mix[l] > 0.0;
            }
            assert_int_equal(chosen, n);
        }
        fixture_close(f);
    }
    /* Every client has labels of its own: 2 of 8, each with 25 of 100 clients, give or take five
     * standard deviations. */
    for (uint32_t l = 0; l < LABELS; l++)
        assert_in_range(clients_with[l], uneven[l] > 0.0 ? 4 : 0, uneven[l] > 0.0 ? 46 : 0);
}

/* Tasks of three of the eight labels that have samples: {0, 1, 3}, {5, 6, 7}, {8, 9}, and again. */
static void test_tasks(void **state)
{
    (void)state;
    const double third = 1.0 / 3;
    const double expected[][LABELS] = {
        {third, third, 0, third, 0, 0, 0, 0, 0, 0},
        {0, 0, 0, 0, 0, third, third, third, 0, 0},
        {0, 0, 0, 0, 0, 0, 0, 0, .5, .5},
        {third, third, 0, third, 0, 0, 0, 0, 0, 0},
    };
    const double kept[LABELS] = {1.0 / 6, 1.0 / 6, 0, 1.0 / 6, 0, 1.0 / 6, 1.0 / 6, 1.0 / 6, 0, 0};
    struct fixture *f = open_partition("tasks", "labels", "3", uneven, LABELS, 3);
    double mix[LABELS];
    for (uint32_t k = 0; k < 4; k++) {
        get_mix(f, k, k, mix); /* the same of all clients */
        assert_memory_equal(mix, expected[k], sizeof mix);
    }
    fixture_set(f, "keep", "true");
    assert_int_equal(fixture_create(f, &facts), OSAFL_OK);
    get_mix(f, 7, 1, mix);
    assert_memory_equal(mix, kept, sizeof mix);
    fixture_close(f);
}

/* At random each label comes once, in an order that the seed chooses. */
static void test_tasks_shuffled(void **state)
{
    (void)state;
    uint32_t first[LABELS] = {0};
    for (uint64_t seed = 0; seed < 800; seed++) {
        struct fixture *f = open_partition("tasks", "labels", "1", uneven, LABELS, seed);
        double sum[LABELS] = {0.0};
        double mix[LABELS];
        fixture_set(f, "order", "shuffled");
        assert_int_equal(fixture_create(f, &facts), OSAFL_OK);
        for (uint32_t k = 0; k < 8; k++) {
            get_mix(f, 0, k, mix);
            check_mix(mix, uneven, LABELS);
            for (uint32_t l = 0; l < LABELS; l++) {
                sum[l] += mix[l];
                first[l] += k == 0 && mix[l] > 0.0;
            }
        }
        for (uint32_t l = 0; l < LABELS; l++)
            assert_true(sum[l] == (uneven[l] > 0.0 ? 1.0 : 0.0));
        fixture_close(f);
    }
    /* 100 of 800, give or take five standard deviations of 9.4 */
    for (uint32_t l = 0; l < LABELS; l++)
        assert_in_range(first[l], uneven[l] > 0.0 ? 53 : 0, uneven[l] > 0.0 ? 147 : 0);
}

static void test_iid(void **state)
{
    (void)state;
    struct fixture *f = open_partition("iid", NULL, NULL, uneven, LABELS, 1);
    for (uint32_t u = 0; u < 5; u++) {
        double mix[LABELS];
        get_mix(f, u, u, mix);
        assert_memory_equal(mix, uneven, sizeof mix);
    }
    fixture_close(f);
}

static void test_all_are_listed(void **state)
{
    (void)state;
    static const char *const names[] = {"assigned", "dirichlet", "iid",
                                        "natural",  "shards",    "tasks"};
    fixture_expect_all("partition", names, sizeof names / sizeof names[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dirichlet_moments),
        cmocka_unit_test(test_dirichlet_distribution),
        cmocka_unit_test(test_dirichlet_bounds),
        cmocka_unit_test(test_dirichlet_extremes),
        cmocka_unit_test(test_weighted_moments),
        cmocka_unit_test(test_weighted_limits),
        cmocka_unit_test(test_weighted_as_symmetric),
        cmocka_unit_test(test_shards_tells_of_unseen),
        cmocka_unit_test(test_shards),
        cmocka_unit_test(test_tasks),
        cmocka_unit_test(test_tasks_shuffled),
        cmocka_unit_test(test_iid),
        cmocka_unit_test(test_all_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
