/* test_deletion_measured.c - policies that go by a measure of the samples, and the measures of a
 * classifier. */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "osafl/deletion.h"
#include "plugin_fixture.h"

#define STORED 5
#define ARRIVED 2
#define ALL (STORED + ARRIVED)

static const int32_t label[ALL] = {0, 1, 0, 1, 0, 1, 0};
static const uint32_t age[ALL] = {3, 1, 4, 2, 4, 0, 0};
/* Positions 0, 3 and 4 are equal; 4 is the oldest of them. */
static const double measure[ALL] = {0.5, 0.9, 0.1, 0.5, 0.5, 0.2, DBL_MAX};

/* The measure that is asked for, and the first n to leave. */
static void check(const char *name, const char *setting, const char *value, const char *wanted,
                  const uint32_t *leaving, uint32_t n)
{
    const osafl_facts facts = {.struct_size = sizeof facts, .clients = 1, .rounds = 3};
    struct fixture *f = fixture_open("deletion", name);
    if (setting != NULL)
        fixture_set(f, setting, value);
    assert_int_equal(fixture_create(f, &facts), OSAFL_OK);
    const osafl_deletion_vt *vt = fixture_vtable(f);
    osafl_deletion_info info = {.struct_size = sizeof info};
    osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, 0);
    assert_int_equal(fixture_end(f, vt->describe(f->instance.self, c, &info)), OSAFL_OK);
    assert_string_equal(info.measure, wanted);
    const osafl_store_view view = {.struct_size = sizeof view,
                                   .round = 1,
                                   .labels = 2,
                                   .stored = STORED,
                                   .arrived = ARRIVED,
                                   .label = label,
                                   .age = age,
                                   .measure = measure};
    uint32_t position[ALL];
    c = fixture_begin(f, 0, 1);
    assert_int_equal(fixture_end(f, vt->select(f->instance.self, c, &view, n, position)), OSAFL_OK);
    assert_memory_equal(position, leaving, n * sizeof *position);
    fixture_close(f);
}

static void test_order(void **unused)
{
    (void)unused;
    const uint32_t ascending[ALL] = {2, 5, 4, 0, 3, 1, 6};
    const uint32_t descending[ALL] = {6, 1, 4, 0, 3, 5, 2};
    for (uint32_t n = 0; n <= ALL; n++) {
        check("by_loss", NULL, NULL, "loss", ascending, n);
        check("by_loss", "keep", "low", "loss", descending, n);
        check("uncertainty", NULL, NULL, "entropy", ascending, n);
        check("uncertainty", "certainty", "margin", "margin", descending, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
