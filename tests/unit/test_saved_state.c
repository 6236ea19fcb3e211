/* test_saved_state.c - save, load, save gives equal bytes, for every case of faults/tiny.cfg: each
 * plugin that keeps a state is in one of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/diagnostics.h"
#include "experiment/grid.h"
#include "plugin/pool.h"
#include "round/engine.h"

#define ROUNDS_BEFORE 5 /* of the first save, and again between it and the last */

struct piece {
    struct session session;
    struct pool *pool;
    struct world *world;
    struct engine *engine;
    struct record_writer *writer; /* of the last save(); NULL: none */
};

static void open_piece(struct piece *p, struct experiment *e, struct loader *l, unsigned threads,
                       struct diagnostics *d)
{
    struct error error = {0};
    const struct host_context context = {.seed = (uint64_t)e->general.seed,
                                         .log_level = OSAFL_LOG_ERROR};
    p->writer = NULL;
    if (session_create(&p->session, e, l, &context, d) != OSAFL_OK) {
        diagnostics_print(d, stderr);
        fail();
    }
    p->pool = pool_create(threads, NULL);
    assert_non_null(p->pool);
    p->session.context.pool = p->pool;
    const struct world_plugins plugins = session_world_plugins(&p->session);
    osafl_status status = world_create(e, &plugins, &p->world, &error);
    if (status == OSAFL_OK)
        status = engine_create(&p->session, p->world, &p->engine, &error);
    if (status != OSAFL_OK)
        fail_msg("%s", error.text);
}

static void close_piece(struct piece *p)
{
    record_writer_destroy(p->writer);
    engine_destroy(p->engine);
    world_destroy(p->world);
    pool_destroy(p->pool);
    session_destroy(&p->session);
}

static void run_rounds(struct piece *p, unsigned n)
{
    struct error error = {0};
    struct round_report report;
    for (unsigned t = 0; t < n; t++)
        if (engine_run_round(p->engine, NULL, NULL, &report, &error) != OSAFL_OK)
            fail_msg("%s", error.text);
}

static const void *save(struct piece *p, size_t *size)
{
    struct error error = {0};
    const void *data = NULL;
    record_writer_destroy(p->writer);
    p->writer = record_writer_create();
    assert_non_null(p->writer);
    if (engine_save(p->engine, p->writer, &error) != OSAFL_OK ||
        record_writer_finish(p->writer, &data, size, &error) != OSAFL_OK)
        fail_msg("%s", error.text);
    return data;
}

static void assert_same_state(struct piece *a, struct piece *b)
{
    size_t size_a = 0;
    size_t size_b = 0;
    const void *data_a = save(a, &size_a);
    const void *data_b = save(b, &size_b);
    assert_int_equal(size_a, size_b);
    assert_memory_equal(data_a, data_b, size_a);
}

/* Loading, and then as many rounds on another number of threads, changes no byte. */
static void try_experiment(struct experiment *e, struct loader *l, struct diagnostics *d)
{
    struct error error = {0};
    struct piece first;
    struct piece second;
    struct record_set *set = NULL;
    size_t size = 0;
    open_piece(&first, e, l, 1, d);
    open_piece(&second, e, l, 3, d);
    run_rounds(&first, ROUNDS_BEFORE);
    const void *data = save(&first, &size);
    if (record_set_open(data, size, &set, &error) != OSAFL_OK ||
        engine_load(second.engine, set, &error) != OSAFL_OK)
        fail_msg("%s: %s", e->case_name, error.text);
    record_set_destroy(set);
    assert_same_state(&first, &second);
    run_rounds(&first, ROUNDS_BEFORE);
    run_rounds(&second, ROUNDS_BEFORE);
    assert_same_state(&first, &second);
    close_piece(&second);
    close_piece(&first);
}

static void save_load_save_gives_equal_bytes(void **state)
{
    (void)state;
    const char *folder = OSAFL_TEST_PLUGIN_DIR;
    struct diagnostics *d = diagnostics_create();
    assert_non_null(d);
    struct loader *l = loader_create(&folder, 1, d);
    assert_non_null(l);
    const struct experiment_options options = {.loader = l};
    struct grid *g = grid_load(OSAFL_TEST_SOURCE_DIR "/tests/faults/tiny.cfg", NULL, &options, d);
    if (g == NULL)
        diagnostics_print(d, stderr);
    assert_non_null(g);
    assert_true(g->n >= 7);
    for (size_t i = 0; i < g->n; i++)
        try_experiment(g->cells[i], l, d);
    grid_destroy(g);
    loader_destroy(l);
    diagnostics_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(save_load_save_gives_equal_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
