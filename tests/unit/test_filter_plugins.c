/* test_filter_plugins.c - what clients do to labels and updates: attacks and the Gaussian
 * mechanism. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../plugins/filter/shared/accountant.h"
#include "osafl/filter.h"
#include "plugin_fixture.h"

enum { DIM = 4000, LABELS = 10, CLIENTS = 10 };

static const char *const all_names[] = {"gaussian", "label_flip", "noise",
                                        "none",     "scale",      "sign_flip"};

static const osafl_dataset_info dataset = {.struct_size = sizeof dataset, .labels = LABELS};
static const osafl_facts facts = {
    .struct_size = sizeof facts, .clients = CLIENTS, .rounds = 90, .dataset = &dataset, .dim = DIM};

static struct fixture *filter_open(const char *name, const char *const *settings)
{
    struct fixture *f = fixture_open("filter", name);
    for (; settings != NULL && settings[0] != NULL; settings += 2)
        fixture_set(f, settings[0], settings[1]);
    assert_int_equal(fixture_create(f, &facts), OSAFL_OK);
    return f;
}

static void change(struct fixture *f, uint32_t client, uint32_t round, float *x)
{
    static const float w[DIM];
    const osafl_filter_vt *vt = fixture_vtable(f);
    osafl_call *c = fixture_begin(f, client, round);
    assert_int_equal(fixture_end(f, vt->update(f->instance.self, c, client, round, w, x)),
                     OSAFL_OK);
}

static void fill(float *x)
{
    for (uint32_t i = 0; i < DIM; i++)
        x[i] = 0.5f;
}

static double dot(const float *a, const float *b)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < DIM; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

static void test_all_are_here(void **unused)
{
    (void)unused;
    fixture_expect_all("filter", all_names, sizeof all_names / sizeof all_names[0]);
}

static void test_share_of_attackers(void **unused)
{
    (void)unused;
    static const char *const attacks[] = {"sign_flip", "scale", "noise", "label_flip"};
    const char *const third[] = {"share", "0.3", NULL};
    uint32_t first[CLIENTS];
    for (int k = 0; k < 4; k++) {
        struct fixture *f = filter_open(attacks[k], third);
        const osafl_filter_vt *vt = fixture_vtable(f);
        uint32_t n = 0;
        for (uint32_t u = 0; u < CLIENTS; u++) {
            const uint32_t touched = vt->touches(f->instance.self, u);
            if (k == 0)
                first[u] = touched;
            assert_int_equal(touched, first[u]); /* the same clients with every attack */
            n += touched;
        }
        assert_int_equal(n, 3);
        fixture_close(f);
    }
}

static void test_factors(void **unused)
{
    (void)unused;
    const char *const three[] = {"strength", "3", NULL};
    static float x[DIM];
    for (int flip = 0; flip < 2; flip++) {
        struct fixture *f = filter_open(flip ? "sign_flip" : "scale", three);
        fill(x);
        change(f, 1, 3, x);
        for (uint32_t i = 0; i < DIM; i++)
            assert_true(x[i] == (flip ? -1.5f : 1.5f));
        fixture_close(f);
    }
}

/* Noise that is the same in every round, or for all attackers, would not average out. */
static void test_noise_is_drawn_anew(void **unused)
{
    (void)unused;
    const char *const twice[] = {"strength", "2", NULL};
    static float x[3][DIM];
    const uint32_t client[] = {1, 1, 2};
    const uint32_t round[] = {3, 4, 3};
    struct fixture *f = filter_open("noise", twice);
    for (int k = 0; k < 3; k++) {
        fill(x[k]);
        change(f, client[k], round[k], x[k]);
        for (int l = 0; l < k; l++)
            assert_true(fabs(dot(x[k], x[l])) <
                        5.0 / sqrt(DIM) * sqrt(dot(x[k], x[k]) * dot(x[l], x[l])));
        /* Twice the norm of the update, which is 0.5 sqrt(DIM). */
        assert_true(fabs(sqrt(dot(x[k], x[k]) / DIM) - 1.0) < 5.0 / sqrt(2.0 * DIM));
    }
    fixture_close(f);
}

static void relabel(const char *to, int32_t *label, const uint64_t *sample, uint32_t n)
{
    const char *const settings[] = {"share", "1", "to", to, NULL};
    struct fixture *f = filter_open("label_flip", settings);
    const osafl_filter_vt *vt = fixture_vtable(f);
    osafl_call *c = fixture_begin(f, 1, 0);
    assert_int_equal(fixture_end(f, vt->labels(f->instance.self, c, 1, n, sample, label)),
                     OSAFL_OK);
    fixture_close(f);
}

static void test_real_targets_have_no_labels(void **unused)
{
    (void)unused;
    osafl_dataset_info real = *facts.dataset;
    osafl_facts of_real = facts;
    real.target_type = OSAFL_TARGET_REAL;
    of_real.dataset = &real;
    struct fixture *f = fixture_open("filter", "label_flip");
    assert_int_equal(fixture_create(f, &of_real), OSAFL_E_CONFIG);
    assert_non_null(strstr(f->error.text, "there are no labels to flip"));
    fixture_close(f);
}

/* Each sample keeps one label; over the samples all occur. */
static void test_labels(void **unused)
{
    (void)unused;
    uint64_t sample[1000];
    int32_t label[3][1000];
    uint32_t count[LABELS] = {0};
    for (uint32_t i = 0; i < 1000; i++) {
        sample[i] = i % 500;
        label[0][i] = label[1][i] = label[2][i] = (int32_t)(i % LABELS);
    }
    relabel("random", label[0], sample, 1000);
    relabel("next", label[1], sample, 1000);
    relabel("opposite", label[2], sample, 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_in_range(label[0][i], 0, LABELS - 1);
        assert_int_equal(label[0][i], label[0][i % 500]);
        count[label[0][i]]++;
        assert_int_equal(label[1][i], (i + 1) % LABELS);
        assert_int_equal(label[2][i], LABELS - 1 - i % LABELS);
    }
    for (uint32_t l = 0; l < LABELS; l++) /* of 500 draws twice: 100, sd 13.4 */
        assert_in_range(count[l], 33, 167);
}

/* Whatever an update's norm, what the mechanism keeps of it has at most the norm clip: the
 * sensitivity; and the noise has the variance (noise * clip)^2, drawn anew. */
static void test_gaussian(void **unused)
{
    (void)unused;
    static float x[DIM];
    static float y[DIM];
    const char *const clip_only[] = {"clip", "2", "noise", "0", NULL};
    const float size[] = {1e-3f, 0.5f, 1e15f};
    struct fixture *f = filter_open("gaussian", clip_only);
    for (int k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < DIM; i++)
            x[i] = i % 2 ? size[k] : -size[k];
        const double norm = sqrt(dot(x, x));
        change(f, 0, 0, x);
        assert_true(fabs(sqrt(dot(x, x)) - fmin(norm, 2.0)) <= 1e-6);
        assert_true(x[1] > 0.0f && x[0] < 0.0f);
    }
    fixture_close(f);
    const char *const noisy[] = {"clip", "2", "noise", "1.5", NULL};
    f = filter_open("gaussian", noisy);
    memset(x, 0, sizeof x);
    memset(y, 0, sizeof y);
    change(f, 0, 0, x);
    change(f, 0, 1, y);
    /* sd of a variance estimate from n normals: variance * sqrt(2 / n) */
    assert_true(fabs(dot(x, x) / DIM / 9.0 - 1.0) < 5.0 * sqrt(2.0 / DIM));
    assert_true(fabs(dot(x, y)) < 5.0 / sqrt(DIM) * sqrt(dot(x, x) * dot(y, y)));
    fixture_close(f);
}

/* Numbers of the accountant of google/differential-privacy, rdp_privacy_accountant_test.py: 50
 * releases with multiplier 2.5 at rate 0.01, and the multiplier 4.530877117 that gives exactly
 * (1, 1e-6). */
static void test_epsilon_against_published_numbers(void **unused)
{
    (void)unused;
    const uint32_t order[] = {5, 50, 100};
    const double rdp[] = {2.18075656e-03, 2.38460375e-02, 1.67416308e+02};
    for (int k = 0; k < 3; k++)
        assert_true(fabs(50.0 * accountant_rdp(order[k], 2.5, 0.01) / rdp[k] - 1.0) < 1e-6);
    /* Whole orders alone: a little above the best. */
    const double one = accountant_epsilon(4.530877117, 1.0, 1, 1e-6);
    assert_true(one >= 1.0 - 1e-6 && one < 1.001);
    /* The whole batch is no sample. */
    assert_true(fabs(accountant_rdp(7, 2.0, 1.0 - 1e-12) - accountant_rdp(7, 2.0, 1.0)) < 1e-6);
    assert_true(accountant_epsilon(1.0, 1.0, 0, 1e-5) == 0.0);
}

/* The metric counts rounds in which something was sent, and survives a resume. */
static void test_privacy_budget(void **unused)
{
    (void)unused;
    const char *const settings[] = {"noise", "4", "delta", "1e-5", NULL};
    struct fixture *f = filter_open("gaussian", settings);
    const osafl_filter_vt *vt = fixture_vtable(f);
    const uint32_t arrived[] = {3, 0, 5};
    const uint64_t releases[] = {1, 1, 2};
    for (uint32_t t = 0; t < 3; t++) {
        osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, t);
        assert_int_equal(fixture_end(f, vt->end_round(f->instance.self, c, t, arrived[t], 9)),
                         OSAFL_OK);
        assert_true(fixture_metric(f, "epsilon", OSAFL_NO_CLIENT) ==
                    accountant_epsilon(4.0, 1.0, releases[t], 1e-5));
        fixture_restart(f, &facts);
    }
    fixture_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_here),
        cmocka_unit_test(test_share_of_attackers),
        cmocka_unit_test(test_factors),
        cmocka_unit_test(test_noise_is_drawn_anew),
        cmocka_unit_test(test_real_targets_have_no_labels),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_gaussian),
        cmocka_unit_test(test_epsilon_against_published_numbers),
        cmocka_unit_test(test_privacy_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
