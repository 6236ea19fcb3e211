/* manifest.json, resolved.cfg and environment.json: what they hold, and how a folder is told from
 * another run's and from the same run under other circumstances. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/diagnostics.h"
#include "base/error.h"
#include "load_text.h"
#include "results/manifest.h"

static const char file_text[] = "name = \"digits\";\nseed = 5;\nrounds = 3;\n"
                                "clients: { count = 4; };\n"
                                "dataset: { plugin = \"glyphs\"; };\n"
                                "model: { plugin = \"logistic\"; };\n"
                                "channel: { plugin = \"fixed\"; };\n"
                                "resource: { plugin = \"fixed\"; };\n"
                                "optimizer: { plugin = \"sgd\"; sgd: { learning_rate = 0.1; }; };\n"
                                "quantizer: { plugin = \"none\"; };\n"
                                "deletion: { plugin = \"fifo\"; };\n"
                                "aggregator: { plugin = \"fedavg\"; };\n";

static const struct surroundings machine = {.program_hash = "0123", .cpu_features = "avx512"};

static char folder_path[256];
static struct run_folder folder;
static struct loader *loader;
static struct error error;

static int start(void **state)
{
    (void)state;
    static const char *const dirs[] = {OSAFL_TEST_PLUGIN_DIR};
    struct diagnostics *d = diagnostics_create();
    loader = loader_create(dirs, 1, d);
    diagnostics_print(d, stderr);
    diagnostics_destroy(d);
    return loader == NULL;
}

static int end(void **state)
{
    (void)state;
    loader_destroy(loader);
    return 0;
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder_path, sizeof folder_path, "/tmp/osafl-manifest-XXXXXX");
    folder = (struct run_folder){.path = folder_path, .lock_fd = -1};
    return mkdtemp(folder_path) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder_path);
    return system(command);
}

static struct experiment *experiment_of_all(const char *const *set, size_t n_set)
{
    struct diagnostics *d = diagnostics_create();
    const struct experiment_options o = {.set = set, .n_set = n_set, .loader = loader};
    struct experiment *e =
        load_experiment_text(file_text, sizeof file_text - 1, "digits.cfg", &o, d);
    diagnostics_print(d, stderr);
    diagnostics_destroy(d);
    assert_non_null(e);
    return e;
}

static struct experiment *experiment_of(const char *set)
{
    return experiment_of_all(&set, set == NULL ? 0 : 1);
}

static char *path_of(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder_path, name);
    return path;
}

static json_t *read_json(const char *name)
{
    json_error_t problem;
    json_t *value = json_load_file(path_of(name), 0, &problem);
    if (value == NULL)
        fail_msg("%s: %s", name, problem.text);
    return value;
}

static void expect_text(const json_t *object, const char *a, const char *b, const char *expected)
{
    const json_t *value = json_object_get(object, a);
    if (b != NULL)
        value = json_object_get(value, b);
    if (expected == NULL) {
        assert_true(json_is_null(value));
        return;
    }
    assert_non_null(json_string_value(value));
    assert_string_equal(json_string_value(value), expected);
}

static void test_manifest(void **state)
{
    (void)state;
    struct experiment *e = experiment_of("clients.count=7");
    assert_int_equal(manifest_write(&folder, e, &machine, &error), OSAFL_OK);
    json_t *m = read_json("manifest.json");
    expect_text(m, "identity", NULL, e->identity);
    expect_text(m, "program", "version", OSAFL_VERSION);
    expect_text(m, "program", "file_xxh3", "0123");
    expect_text(m, "experiment", "name", "digits");
    expect_text(m, "experiment", "case", e->case_name);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(m, "experiment"), "seed")),
                     5);
    expect_text(m, "machine", "cpu_features", "avx512");
    expect_text(m, "machine", "blas_kernel", NULL);
    const json_t *settings = json_object_get(m, "settings");
    expect_text(settings, "clients.count", "value", "7");
    expect_text(settings, "clients.count", "origin", "--set");
    expect_text(settings, "rounds", "value", "3");
    expect_text(settings, "rounds", "origin", "digits.cfg:3");
    expect_text(settings, "clients.storage", "value", "400");
    expect_text(settings, "clients.storage", "origin", "default");
    const json_t *plugins = json_object_get(m, "plugins");
    assert_int_equal(json_array_size(plugins), LOADER_KINDS - 1); /* no transport */
    expect_text(json_array_get(plugins, 0), "kind", NULL, "dataset");
    expect_text(json_array_get(plugins, 0), "name", NULL, "glyphs");
    expect_text(json_array_get(plugins, 0), "file_xxh3", NULL,
                e->chosen[OSAFL_KIND_DATASET].loaded->hash);
    json_decref(m);

    /* resolved.cfg is an experiment file that gives the same run. */
    struct diagnostics *d = diagnostics_create();
    const struct experiment_options o = {.loader = loader};
    struct grid *again = grid_load(path_of("resolved.cfg"), NULL, &o, d);
    diagnostics_print(d, stderr);
    assert_non_null(again);
    assert_int_equal(again->n, 1);
    assert_string_equal(again->cells[0]->identity, e->identity);
    diagnostics_destroy(d);
    grid_destroy(again);
    experiment_destroy(e);
}

static enum manifest_found compare(const struct experiment *e, const struct surroundings *m)
{
    enum manifest_found found = MANIFEST_NONE;
    if (manifest_compare(&folder, e, m, &found, &error) != OSAFL_OK)
        fail_msg("%s", error.text);
    return found;
}

static void expect_words(const char *const *words)
{
    for (; *words != NULL; words++)
        if (strstr(error.text, *words) == NULL)
            fail_msg("\"%s\" is not in: %s", *words, error.text);
}
#define EXPECT_WORDS(...) expect_words((const char *const[]){__VA_ARGS__, NULL})

/* A setting that came later: the manifest says what runs did before, and a folder from then does
 * not differ by it. */
static void test_later_setting(void **state)
{
    (void)state;
    static const char *const set[] = {"dataset.plugin=idx", "dataset.idx.path=data",
                                      "dataset.idx.pixels=unit"};
    struct experiment *e = experiment_of_all(set, 2);
    struct experiment *unit = experiment_of_all(set, 3);
    assert_int_equal(manifest_write(&folder, e, &machine, &error), OSAFL_OK);
    json_t *m = read_json("manifest.json");
    json_t *settings = json_object_get(m, "settings");
    expect_text(settings, "dataset.idx.pixels", "value", "\"signed\"");
    expect_text(settings, "dataset.idx.pixels", "earlier", "\"signed\"");
    assert_null(json_object_get(json_object_get(settings, "dataset.idx.path"), "earlier"));

    json_object_del(settings, "dataset.idx.pixels");
    assert_int_equal(json_dump_file(m, path_of("manifest.json"), 0), 0);
    json_decref(m);
    assert_int_equal(compare(e, &machine), MANIFEST_SAME);
    assert_int_equal(compare(unit, &machine), MANIFEST_OTHER);
    EXPECT_WORDS("dataset.idx.pixels was \"signed\" and is \"unit\"");
    experiment_destroy(unit);
    experiment_destroy(e);
}

static void test_compare(void **state)
{
    (void)state;
    struct experiment *e = experiment_of(NULL);
    struct experiment *renamed = experiment_of("name=\"other\"");
    struct experiment *other = experiment_of("training.batch=32");
    assert_int_equal(compare(e, &machine), MANIFEST_NONE);
    assert_int_equal(manifest_write(&folder, e, &machine, &error), OSAFL_OK);
    assert_int_equal(compare(e, &machine), MANIFEST_SAME);
    assert_int_equal(compare(renamed, &machine), MANIFEST_SAME); /* no effect on results */

    assert_int_equal(compare(other, &machine), MANIFEST_OTHER);
    EXPECT_WORDS(folder_path, "training.batch was 16 and is 32", "--force", "--out");

    const struct surroundings slower = {
        .program_hash = "0123", .cpu_features = "avx2", .blas_kernel = "Haswell"};
    assert_int_equal(compare(e, &slower), MANIFEST_CHANGED);
    EXPECT_WORDS("instruction set was avx512 and is avx2", "BLAS kernel was (none) and is Haswell");

    char samples_name[] = "samples";
    struct input samples = {.name = samples_name, .hash = "0123456789abcdef"};
    const struct surroundings read = {
        .program_hash = "0123", .cpu_features = "avx512", .inputs = {&samples, 1}};
    assert_int_equal(manifest_write(&folder, e, &read, &error), OSAFL_OK);
    assert_int_equal(compare(e, &read), MANIFEST_SAME);
    samples.hash[0] = 'f';
    assert_int_equal(compare(e, &read), MANIFEST_OTHER_DATA);
    EXPECT_WORDS("content of samples was 0123456789abcdef and is f123456789abcdef");
    experiment_destroy(renamed);
    experiment_destroy(other);
    experiment_destroy(e);
}

/* The same run on another program and with another file of a plugin, and on a program of the same
 * version that was built anew. */
static void test_changed_program(void **state)
{
    (void)state;
    struct experiment *e = experiment_of(NULL);
    assert_int_equal(manifest_write(&folder, e, &machine, &error), OSAFL_OK);
    json_t *m = read_json("manifest.json");
    json_object_set_new(json_object_get(m, "program"), "version", json_string("0.0.1"));
    json_object_set_new(json_array_get(json_object_get(m, "plugins"), 7), "file_xxh3",
                        json_string("abc"));
    assert_int_equal(json_dump_file(m, path_of("manifest.json"), 0), 0);
    json_decref(m);
    assert_int_equal(compare(e, &machine), MANIFEST_CHANGED);
    EXPECT_WORDS("version of osafl was 0.0.1 and is " OSAFL_VERSION,
                 "file of aggregator/fedavg was abc and is ");
    struct surroundings built_anew = machine;
    built_anew.program_hash = "4567";
    assert_int_equal(manifest_write(&folder, e, &machine, &error), OSAFL_OK);
    assert_int_equal(compare(e, &machine), MANIFEST_SAME);
    assert_int_equal(compare(e, &built_anew), MANIFEST_CHANGED);
    assert_string_equal(error.text, "the file of osafl was 0123 and is 4567");
    experiment_destroy(e);
}

static void write_text(const char *text)
{
    FILE *f = fopen(path_of("manifest.json"), "w");
    fputs(text, f);
    fclose(f);
}

static void test_damaged(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "{",
                                        "[]",
                                        "{\"manifest\": 1}",
                                        "{\"manifest\": 1, \"identity\": 5}",
                                        "{\"manifest\": 2, \"identity\": \"a\"}",
                                        "{\"manifest\": 1, \"manifest\": 1, \"identity\": \"a\"}"};
    struct experiment *e = experiment_of(NULL);
    enum manifest_found found;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_text(texts[i]);
        assert_int_equal(manifest_compare(&folder, e, &machine, &found, &error), OSAFL_OK);
        assert_int_equal(found, MANIFEST_DAMAGED);
        EXPECT_WORDS("manifest.json", "--force");
    }
    /* Nothing but an identity: told apart, and nothing is read that is not there. */
    write_text("{\"manifest\": 1, \"identity\": \"a\"}");
    assert_int_equal(compare(e, &machine), MANIFEST_OTHER);
    char same[128];
    snprintf(same, sizeof same,
             "{\"manifest\": 1, \"identity\": \"%s\", \"plugins\": [3, {\"kind\": 4}]}",
             e->identity);
    write_text(same);
    assert_int_equal(compare(e, &machine), MANIFEST_CHANGED);
    experiment_destroy(e);
}

static void test_environment(void **state)
{
    (void)state;
    struct experiment *e = experiment_of(NULL);
    const struct run_environment env = {.threads = 3,
                                        .experiment_file = "odd \xff name.cfg",
                                        .started = "2024-01-01T00:00:00Z",
                                        .seconds = 1.5,
                                        .resumed_at = 2};
    assert_int_equal(environment_write(&folder, e, &env, &error), OSAFL_OK);
    json_t *m = read_json("environment.json");
    assert_int_equal(json_integer_value(json_object_get(m, "threads")), 3);
    expect_text(m, "experiment_file", NULL, "odd ? name.cfg");
    expect_text(m, "ended", NULL, NULL);
    expect_text(m, "plugin_files", "model", e->chosen[OSAFL_KIND_MODEL].loaded->path);
    assert_true(json_real_value(json_object_get(m, "seconds")) == 1.5);
    assert_true(json_real_value(json_object_get(m, "cpu_s")) > 0);
    assert_true(json_integer_value(json_object_get(m, "peak_bytes")) > 100000);
    assert_true(json_integer_value(json_object_get(m, "cores")) >= 1);
    assert_true(json_real_value(json_object_get(m, "earlier_seconds")) == 0);
    json_decref(m);
    experiment_destroy(e);
}

/* What earlier processes of a run took is added up; a later record of one process replaces it. */
static void test_compute_of_resumed_runs(void **state)
{
    (void)state;
    struct experiment *e = experiment_of(NULL);
    static const struct {
        const char *started;
        double seconds;
        double earlier;
    } write[] = {{"2024-01-01T00:00:00Z", 1, 0},
                 {"2024-01-01T00:00:00Z", 4, 0},
                 {"2024-01-02T00:00:00Z", 0, 4},
                 {"2024-01-02T00:00:00Z", 3, 4},
                 {"2024-01-03T00:00:00Z", 1, 7}};
    for (size_t i = 0; i < sizeof write / sizeof write[0]; i++) {
        const struct run_environment env = {.started = write[i].started,
                                            .seconds = write[i].seconds};
        assert_int_equal(environment_write(&folder, e, &env, &error), OSAFL_OK);
        json_t *m = read_json("environment.json");
        const double earlier = json_real_value(json_object_get(m, "earlier_seconds"));
        assert_true(earlier == write[i].earlier);
        json_decref(m);
    }
    experiment_destroy(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_manifest, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_compare, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_later_setting, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_changed_program, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_damaged, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_environment, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_compute_of_resumed_runs, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, start, end);
}
