/* test_client_history.c - what the server knows of its clients, and a checkpoint of it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "round/client_history.h"

enum { CLIENTS = 3, LABELS = 2 };

static const uint32_t histogram[CLIENTS * LABELS] = {1, 2, 3, 4, 5, 6};
static const uint32_t arrivals[CLIENTS] = {7, 8, 9};

/* Client 1 takes part in round 0, client 0 is asked in vain in round 1; round 2 has begun. */
static void live(struct history *h)
{
    const uint8_t first[CLIENTS] = {0, 1, 0};
    const uint8_t second[CLIENTS] = {1, 0, 0};
    assert_true(history_create(h, CLIENTS, LABELS));
    history_begin(h, 0, histogram);
    assert_int_equal(h->view.age[1], 1);
    history_note_asked(h, first);
    history_note_joules(h, 1, 1.5);
    history_note_update(h, &(struct history_update){.client = 1,
                                                    .histogram = histogram + LABELS,
                                                    .train_loss = 0.25,
                                                    .update_norm = 3.0,
                                                    .seconds = 12.0});
    history_note_arrivals(h, arrivals);
    history_begin(h, 1, histogram);
    history_note_asked(h, second);
    history_note_joules(h, 0, 0.5);
    history_begin(h, 2, histogram);
}

static void check(const struct history *h)
{
    const osafl_history *v = &h->view;
    const uint32_t age[CLIENTS] = {3, 2, 3};
    const uint32_t asked_age[CLIENTS] = {1, 2, 3};
    const uint32_t participations[CLIENTS] = {0, 1, 0};
    const uint32_t then[CLIENTS * LABELS] = {0, 0, 3, 4, 0, 0};
    assert_memory_equal(v->age, age, sizeof age);
    assert_memory_equal(v->asked_age, asked_age, sizeof asked_age);
    assert_memory_equal(v->participations, participations, sizeof participations);
    assert_memory_equal(v->histogram_then, then, sizeof then);
    assert_memory_equal(v->arrivals, arrivals, sizeof arrivals);
    assert_ptr_equal(v->histogram, histogram);
    assert_true(v->joules[0] == 0.5 && v->joules[1] == 1.5 && v->joules[2] == 0.0);
    assert_true(v->train_loss[1] == 0.25 && v->update_norm[1] == 3.0 && v->seconds[1] == 12.0);
    assert_true(isnan(v->train_loss[0]) && isnan(v->update_norm[2]) && isnan(v->seconds[0]));
}

/* Saves h and loads it into *out after so many rounds. */
static osafl_status reload(const struct history *h, struct history *out, uint32_t rounds)
{
    struct error error;
    size_t size = 0;
    const void *block = NULL;
    struct record_writer *w = record_writer_create();
    assert_non_null(w);
    assert_int_equal(history_save(h, record_writer_section(w, "history", 1)), OSAFL_OK);
    assert_int_equal(record_writer_finish(w, &block, &size, &error), OSAFL_OK);
    struct record_set *set = NULL;
    struct record_reader r;
    assert_int_equal(record_set_open(block, size, &set, &error), OSAFL_OK);
    assert_int_equal(record_reader_open(set, "history", &r, &error), OSAFL_OK);
    assert_true(history_create(out, CLIENTS, LABELS));
    const osafl_status status = history_load(out, rounds, &r.base);
    record_set_destroy(set);
    record_writer_destroy(w);
    return status;
}

static void test_rounds(void **unused)
{
    (void)unused;
    struct history h;
    struct history again;
    live(&h);
    check(&h);
    assert_int_equal(reload(&h, &again, 2), OSAFL_OK);
    history_begin(&again, 2, histogram);
    check(&again);
    history_destroy(&again);
    history_destroy(&h);
}

static void test_impossible_history_is_refused(void **unused)
{
    (void)unused;
    for (int k = 0; k < 6; k++) {
        struct history h;
        struct history again;
        live(&h);
        if (k == 0)
            h.asked[2] = 3; /* a round that was not yet */
        else if (k == 1)
            h.joules[0] = -1.0;
        else if (k == 2)
            h.train_loss[0] = (double)INFINITY;
        else if (k == 3)
            h.took_part[0] = 2, h.asked[0] = 1;
        else if (k == 4)
            h.participations[1] = 5;
        assert_int_equal(reload(&h, &again, 2), k == 5 ? OSAFL_OK : OSAFL_E_STATE);
        history_destroy(&again);
        history_destroy(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_impossible_history_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
