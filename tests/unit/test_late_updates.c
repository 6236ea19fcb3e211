/* test_late_updates.c - updates under way: they come when they are due, and a checkpoint keeps
 * them and believes nothing that cannot be. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/records.h"
#include "plugin_fixture.h"
#include "round/late_updates.h"

enum { CLIENTS = 4, LABELS = 3, SLOTS = 2, DIM = 2, ROUND = 5 };

static const struct codec codec = {.dim = DIM}; /* plain floats */
static const uint32_t histogram[LABELS] = {1, 2, 3};
static float vector[SLOTS][DIM] = {{1.0f, 2.0f}, {3.0f, 4.0f}};
/* Client 1 delivers in round 6, client 3 in round 5. */
static const uint32_t free_from[CLIENTS] = {5, 7, 0, 6};

static struct late_updates empty(void)
{
    return (struct late_updates){.labels = LABELS, .slots = SLOTS};
}

static void add(struct late_updates *l, uint32_t client, uint32_t start_round, uint32_t due)
{
    struct code code[SLOTS];
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        code[slot] = (struct code){.data = (uint8_t *)(void *)vector[slot],
                                   .bytes = sizeof vector[slot],
                                   .air_bits = 64.0};
    const struct update update = {.client = client,
                                  .local_rounds = 2,
                                  .steps = 16,
                                  .rate = 0.1,
                                  .samples = 6,
                                  .alpha = 0.25,
                                  .train_loss = (double)NAN,
                                  .start_round = start_round,
                                  .arrived_s = 30.5,
                                  .gain = 1e-9,
                                  .channel_gain = 2e-9,
                                  .receive_s = 4.0,
                                  .norm = 2.0,
                                  .histogram = histogram,
                                  .code = code};
    assert_true(late_updates_add(l, &update, due));
}

static struct late_updates live(void)
{
    struct late_updates l = empty();
    add(&l, 3, 3, 5);
    add(&l, 1, 4, 6);
    return l;
}

static void check_due(struct late_updates *l)
{
    struct update out[CLIENTS];
    uint32_t n = 0;
    assert_true(late_updates_due(l, ROUND, out, &n));
    assert_int_equal(n, 1);
    assert_int_equal(out[0].client, 3);
    assert_int_equal(out[0].start_round, 3);
    assert_true(isnan(out[0].train_loss) && out[0].arrived_s == 30.5 && out[0].norm == 2.0);
    assert_true(out[0].channel_gain == 2e-9 && out[0].receive_s == 4.0);
    assert_memory_equal(out[0].histogram, histogram, sizeof histogram);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        assert_memory_equal(out[0].code[slot].data, vector[slot], sizeof vector[slot]);
    late_updates_drop(l, ROUND);
    assert_int_equal(l->n, 1);
    assert_int_equal(l->codes.n, SLOTS);
    n = 0;
    assert_true(late_updates_due(l, ROUND + 1, out, &n));
    assert_int_equal(n, 1);
    assert_int_equal(out[0].client, 1);
}

static osafl_status reload(const struct late_updates *l, const struct late_bounds *bounds,
                           struct late_updates *out)
{
    struct error error;
    size_t size = 0;
    const void *block = NULL;
    struct record_writer *w = record_writer_create();
    struct fixture *f = fixture_open("aggregator", "fedbuff"); /* for a call to fail in */
    assert_int_equal(late_updates_save(l, record_writer_section(w, "late", 1)), OSAFL_OK);
    assert_int_equal(record_writer_finish(w, &block, &size, &error), OSAFL_OK);
    struct record_set *set = NULL;
    struct record_reader r;
    assert_int_equal(record_set_open(block, size, &set, &error), OSAFL_OK);
    assert_int_equal(record_reader_open(set, "late", &r, &error), OSAFL_OK);
    *out = empty();
    osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, ROUND);
    const osafl_status status = fixture_end(f, late_updates_load(out, bounds, &codec, c, &r.base));
    fixture_close(f);
    record_set_destroy(set);
    record_writer_destroy(w);
    return status;
}

static const struct late_bounds sound = {.round = ROUND,
                                         .clients = CLIENTS,
                                         .max_staleness = 2,
                                         .free_from = free_from,
                                         .has_codes = true};

static void test_they_come_when_they_are_due(void **unused)
{
    (void)unused;
    struct late_updates l = live();
    check_due(&l);
    late_updates_free(&l);
}

static void test_checkpoint_keeps_them(void **unused)
{
    (void)unused;
    struct late_updates l = live();
    struct late_updates again;
    assert_int_equal(reload(&l, &sound, &again), OSAFL_OK);
    check_due(&again);
    late_updates_free(&again);
    late_updates_free(&l);
}

static void test_impossible_ones_are_refused(void **unused)
{
    (void)unused;
    for (int k = 0; k < 13; k++) {
        struct late_updates l = live();
        struct late_updates again;
        struct late_bounds bounds = sound;
        struct late_update *one = &l.list[1];
        if (k == 0)
            one->facts.client = CLIENTS;
        else if (k == 1)
            one->facts.client = 3; /* twice */
        else if (k == 2)
            one->due = ROUND - 1; /* it should have arrived */
        else if (k == 3)
            one->facts.start_round = ROUND;
        else if (k == 4)
            one->facts.start_round = 3; /* too late for the aggregator */
        else if (k == 5)
            one->facts.local_rounds = 0;
        else if (k == 6)
            one->facts.alpha = (double)NAN;
        else if (k == 7)
            one->facts.train_loss = (double)INFINITY;
        else if (k == 8)
            one->first = 0; /* without codes */
        else if (k == 9)
            one->first = 4; /* the second of them is not kept */
        else if (k == 10)
            one->facts.client = 0; /* who is free already */
        else if (k == 11)
            bounds.has_codes = false;
        assert_int_equal(reload(&l, &bounds, &again), k == 12 ? OSAFL_OK : OSAFL_E_STATE);
        late_updates_free(&again);
        late_updates_free(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_they_come_when_they_are_due),
        cmocka_unit_test(test_checkpoint_keeps_them),
        cmocka_unit_test(test_impossible_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
