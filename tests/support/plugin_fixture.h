/* plugin_fixture.h - a built plugin in a test's hands: loaded by kind and name, configured from
 * its own table, created with any facts, called as the engine calls it.
 *
 *     struct fixture *f = fixture_open("aggregator", "osafl");
 *     fixture_set(f, "global_learning_rate", "15");
 *     assert_int_equal(fixture_create(f, &facts), OSAFL_OK);
 *     osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, 3);
 *     const osafl_aggregator_vt *vt = fixture_vtable(f);
 *     assert_int_equal(fixture_end(f, vt->aggregate(f->instance.self, c, &updates, w)), OSAFL_OK);
 *     fixture_close(f);
 *
 * What goes wrong in the fixture itself fails the running cmocka test. */
#ifndef OSAFL_TESTS_PLUGIN_FIXTURE_H
#define OSAFL_TESTS_PLUGIN_FIXTURE_H

#include "base/error.h"
#include "plugin/loader.h"
#include "plugin/plugin_host.h"

/* A value that the plugin reported. */
struct fixture_metric {
    uint32_t metric;
    uint32_t client;
    double value;
};

struct fixture {
    const osafl_plugin *plugin;
    struct host_context context; /* seed 1, no pool, warnings are printed; change at will */
    struct instance instance;
    void *config;       /* the plugin's struct, holding its defaults; NULL when it has none */
    struct error error; /* of the last fixture_create() or fixture_end() */
    struct osafl_call call;
    struct fixture_metric *metrics; /* everything reported, in order */
    size_t n_metrics;
    char **texts; /* strings that fixture_set() put into config */
    size_t n_texts;
};

/* Loads OSAFL_TEST_PLUGIN_DIR/KIND/NAME.so and fills config with the table's defaults; required
 * parameters are zero. */
struct fixture *fixture_open(const char *kind, const char *name);
/* As fixture_open(), from another folder. */
struct fixture *fixture_open_in(const char *folder, const char *kind, const char *name);
/* Destroys the instance, if there is one, and everything else. */
void fixture_close(struct fixture *f);

/* Fails unless these are the names of all built-in plugins of a kind, so that no new one escapes
 * the tests of all of them. */
void fixture_expect_all(const char *kind, const char *const *name, size_t n);

/* Sets a parameter: numbers as strtod() and strtoll() read them, "true"/"false", a choice by its
 * name, a range as "0.3" or "0.3, 0.8", reals as "1, 2, 3".  Bounds are not checked: tests may want
 * to leave them. */
void fixture_set(struct fixture *f, const char *parameter, const char *value);

/* check() and create(); message holds the reason of a failure.  An instance that exists is
 * destroyed first. */
osafl_status fixture_create(struct fixture *f, const osafl_facts *facts);

/* The plugin's vtable, to be assigned to a pointer to its kind's type. */
const void *fixture_vtable(const struct fixture *f);

/* One call: begin, use the result as osafl_call, end with the status that the plugin returned. */
osafl_call *fixture_begin(struct fixture *f, uint32_t client, uint32_t round);
osafl_status fixture_end(struct fixture *f, osafl_status status);

/* The instance's state as a block of records (records.h); free() it. */
void *fixture_save(struct fixture *f, size_t *size);
/* load() of such a block into the present instance. */
osafl_status fixture_load(struct fixture *f, const void *block, size_t size);
/* save, load into a new instance with the same config and facts, save: both blocks must be the same
 * bytes.  The new instance takes the old one's place, so that a test that goes on shows whether it
 * continues as the old one would have. */
void fixture_restart(struct fixture *f, const osafl_facts *facts);

/* The last value reported for a metric; NAN: none. */
double fixture_metric(const struct fixture *f, const char *name, uint32_t client);

#endif
