/* test_experiment.c - resolving experiments: all errors at once, plugins chosen and not chosen,
 * identity, the resolved file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/diagnostics.h"
#include "expected_errors.h"
#include "experiment/experiment.h"
#include "experiment/experiment_tree.h"
#include "experiment/old_keys.h"
#include "experiment/schema.h"
#include "experiment/settings.h"
#include "experiment_text.h"
#include "load_text.h"

#define FILE_NAME "/usr/x.cfg"
#define AT(line) FILE_NAME ":" #line ": "

static struct loader *loader;

struct loaded {
    struct diagnostics *d;
    struct experiment *e;
};

static struct loaded load_set(const char *text, const char *const *set, size_t n)
{
    struct loaded r = {.d = diagnostics_create()};
    const struct experiment_options o = {.set = set, .n_set = n, .loader = loader};
    r.e = load_experiment_text(text, strlen(text), FILE_NAME, &o, r.d);
    assert_true((r.e != NULL) == (diagnostics_errors(r.d) == 0));
    return r;
}

static struct loaded load(const char *text)
{
    return load_set(text, NULL, 0);
}

static void done(struct loaded *r)
{
    experiment_destroy(r->e);
    diagnostics_destroy(r->d);
}

/* The same experiment with an assignment laid over it. */
static struct loaded load_with(const char *assignment)
{
    return load_set(EXPERIMENT_TEXT, &assignment, 1);
}

static void expect_error(const char *text, const char *error)
{
    struct loaded r = load(text);
    ASSERT_ERRORS(r.d, error);
    done(&r);
}

static void expect_set_complaint(const char *assignment, const char *error)
{
    struct loaded r = load_with(assignment);
    ASSERT_ERRORS(r.d, error);
    done(&r);
}

static void an_experiment_is_resolved(void **state)
{
    (void)state;
    struct loaded r = load(EXPERIMENT_TEXT);
    assert_no_errors(r.d);
    assert_string_equal(r.e->general.name, "small");
    assert_int_equal(r.e->general.rounds, 2);
    assert_int_equal(r.e->general.seed, 1);
    assert_int_equal(r.e->clients.count, 3);
    assert_true(r.e->clients.activity.lo == 0.3 && r.e->clients.activity.hi == 0.8);
    assert_string_equal(r.e->case_name, "main");
    assert_int_equal(strlen(r.e->identity), 32);
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++)
        assert_true((r.e->chosen[kind].loaded != NULL) == kind_is_of_experiments(kind));
    const struct chosen_plugin *q = &r.e->chosen[OSAFL_KIND_QUANTIZER];
    assert_string_equal(q->loaded->plugin->name, "qsgd");
    assert_non_null(q->config);
    assert_null(r.e->chosen[OSAFL_KIND_DELETION].config);
    done(&r);
}

static void defaults_lie_in_their_ranges(void **state)
{
    (void)state;
    /* Each default, written out, must be accepted. */
    for (size_t i = 0; i < schema_n_groups; i++) {
        const struct schema_group *g = &schema_groups[i];
        struct loaded plain = load(EXPERIMENT_TEXT);
        for (uint32_t k = 0; k < g->n; k++) {
            const osafl_param *p = &g->table[k];
            char *text = settings_text(p, schema_values(g, plain.e));
            char *assignment = NULL;
            assert_true(asprintf(&assignment, "%s%s%s=%s", g->name, g->name[0] != '\0' ? "." : "",
                                 p->name, text) > 0);
            struct loaded r = load_with(assignment);
            assert_no_errors(r.d);
            assert_string_equal(r.e->identity, plain.e->identity);
            done(&r);
            free(assignment);
            free(text);
        }
        done(&plain);
    }
}

static void all_errors_are_told_at_once(void **state)
{
    (void)state;
    struct loaded r = load("name = \"a/b\"; call_limit_s = 0.01;\n"
                           "rounds = 0;\n"
                           "clients: { cuont = 3; storage = 4.5; arrivals = 500; };\n"
                           "dataset: { plugin = \"idx\"; };\n"
                           "model: { plugin = \"logistics\"; };\n"
                           "channel: { plugin = \"fixed\"; levels = 3; };\n"
                           "resource: { };\n"
                           "optimzer: { plugin = \"sgd\"; };\n"
                           "quantizer: { plugin = \"none\"; qsgd: { levels = 0; }; };\n"
                           "deletion: { plugin = 3; fifo: { x = 1; }; };\n"
                           "aggregator: { plugin = \"osafl\"; fedavg: { rate = 1; }; };\n"
                           "momentum = 0.5;\n"
                           "optimizer: { sgd: { learning_rate = 1; }; };");
    ASSERT_ERRORS(
        r.d, AT(5) "no model plugin is called \"logistics\"; did you mean \"logistic\"?",
        AT(7) "resource.plugin: missing; choose one of: fixed, iterative",
        AT(10) "deletion.plugin: must be a name in double quotes, but it is a whole number",
        AT(2) "rounds: 0 is outside [1, 2147483647] rounds",
        AT(8) "optimzer: unknown setting; did you mean \"optimizer\"?",
        AT(12) "momentum: unknown setting; did you mean \"optimizer.sgd.momentum\"?",
        AT(3) "clients.cuont: unknown setting; did you mean \"count\"?",
        AT(3) "clients.storage: must be a whole number",
        AT(6) "channel.levels: unknown setting; did you mean \"quantizer.qsgd.levels\"?",
        AT(4) "dataset.idx.path: missing, and it has no default",
        AT(9) "quantizer.qsgd.levels: 0 is outside [1, 65535]",
        AT(10) "deletion.fifo.x: unknown setting; there are none here",
        AT(11) "aggregator.fedavg.rate: unknown setting",
        AT(1) "name: becomes the name of a folder", AT(1) "call_limit_s: too short",
        AT(3) "clients.arrivals: more samples would arrive");
    done(&r);
}

static void names_of_other_programs_are_known(void **state)
{
    (void)state;
#define CHOICE                                                                                     \
    "a choice of clients is a plugin: selection: { plugin = \"uniform\"; uniform: { share = 0.1; " \
    "}; };"
    static const char *const wrong[][2] = {
        {"clients.fraction", CHOICE},
        {"clients.participation", CHOICE},
        {"C", CHOICE},
        {"training.learning_rate", "it is one of the optimizer's own, such as optimizer.sgd."},
        {"optimizer.lr", "it is one of the optimizer's own, such as optimizer.sgd."},
        {"aggregator.lr", "it is one of the aggregator's own, such as aggregator.fedavg."},
        {"partition.alpha", "see partition: { plugin = \"dirichlet\"; dirichlet: { concentration"},
        {"training.epochs", "a client trains max_local_rounds times minibatches steps"},
        {"batch_size", "did you mean \"training.batch\"?"},
        {"num_clients", "did you mean \"clients.count\"?"},
        /* Nothing is suggested that merely has some letters in common. */
        {"model.layers", "known are start"},
        {"clients.size", "known are count, storage"},
        /* Plugins name their settings themselves. */
        {"quantizer.qsgd.alpha", "known are levels"},
    };
#undef CHOICE
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char set[64];
        char error[256];
        snprintf(set, sizeof set, "%s=1", wrong[i][0]);
        snprintf(error, sizeof error, "--set: %s: unknown setting; %s", wrong[i][0], wrong[i][1]);
        expect_set_complaint(set, error);
    }
}

static void nothing_but_an_optimizer_may_be_left_out(void **state)
{
    (void)state;
    struct loaded r = load("");
    ASSERT_ERRORS(r.d, FILE_NAME ": dataset.plugin: missing; choose one of: ",
                  FILE_NAME ": model.plugin: missing; choose one of: ",
                  FILE_NAME ": channel.plugin: missing; choose one of: ",
                  FILE_NAME ": resource.plugin: missing; choose one of: ",
                  FILE_NAME ": quantizer.plugin: missing; choose one of: ",
                  FILE_NAME ": deletion.plugin: missing; choose one of: ",
                  FILE_NAME ": aggregator.plugin: missing; choose one of: ");
    done(&r);
    r = load(EXPERIMENT_HEAD EXPERIMENT_TAIL);
    assert_no_errors(r.d);
    assert_null(r.e->chosen[OSAFL_KIND_OPTIMIZER].loaded);
    done(&r);
}

static void a_misspelt_algorithm_never_runs_another(void **state)
{
    (void)state;
    expect_set_complaint(
        "aggregator.plugin=oasfl",
        "--set: no aggregator plugin is called \"oasfl\"; did you mean \"osafl\"?");
    expect_set_complaint("aggregator.plugin=FedAvg", "--set: \"FedAvg\" is not a plugin name");
    expect_set_complaint("aggregator.plugin=../fedavg",
                         "--set: \"../fedavg\" is not a plugin name");
    expect_set_complaint("aggregator.plugin=plugin", "--set: no aggregator plugin is called");
    expect_set_complaint("aggregator.plugin=true",
                         "--set: aggregator.plugin: must be a name in double quotes");
    expect_set_complaint("agregator.plugin=fedavg",
                         "--set: agregator: unknown setting; did you mean \"aggregator\"?");
    expect_set_complaint(
        "aggregator.fedagv.x=1",
        "--set: no aggregator plugin is called \"fedagv\"; did you mean \"fedavg\"?");
    expect_set_complaint("aggregator=fedavg",
                         "--set: aggregator: must be a group { ... }, but it is a text");
    expect_set_complaint("transport.plugin=mpi",
                         "--set: transport: an experiment names none, as it changes no result; "
                         "remove this, and give osafl run --transport NAME");
}

static void groups_of_other_plugins_are_checked_and_not_applied(void **state)
{
    (void)state;
    struct loaded plain = load(EXPERIMENT_TEXT);
    struct loaded r = load_with("aggregator.fedavg.server_learning_rate=3.0");
    assert_no_errors(r.d);
    assert_string_equal(r.e->identity, plain.e->identity);
    done(&r);
    expect_set_complaint("aggregator.fedavg.server_learning_rate=-1",
                         "--set: aggregator.fedavg.server_learning_rate: -1 is outside");
    r = load_with("aggregator.plugin=fedavg");
    assert_no_errors(r.d);
    assert_string_equal(r.e->chosen[OSAFL_KIND_AGGREGATOR].loaded->plugin->name, "fedavg");
    assert_string_not_equal(r.e->identity, plain.e->identity);
    done(&r);
    done(&plain);
}

static void rules_of_plugins_are_checked(void **state)
{
    (void)state;
    expect_set_complaint("channel.tr38901.min_distance_m=600",
                         "--set: channel.tr38901: min_distance_m = 600 must be below");
    expect_error(EXPERIMENT_TEXT "chanel: { };\n",
                 AT(13) "chanel: unknown setting; did you mean \"channel\"?");
}

static void expect_identity(const struct loaded *plain, const char *assignment, bool same)
{
    struct loaded r = load_with(assignment);
    assert_no_errors(r.d);
    if ((strcmp(r.e->identity, plain->e->identity) == 0) != same)
        fail_msg("%s %s the identity", assignment, same ? "changes" : "does not change");
    done(&r);
}

static void the_identity_changes_when_a_result_could(void **state)
{
    (void)state;
    struct loaded plain = load(EXPERIMENT_TEXT);
    expect_identity(&plain, "seed=2", false);
    expect_identity(&plain, "rounds=3", false);
    expect_identity(&plain, "clients.activity=[0.3,0.81]", false);
    expect_identity(&plain, "quantizer.qsgd.levels=5", false);
    expect_identity(&plain, "quantizer.qsgd.norm=tensor", false);
    expect_identity(&plain, "deletion.plugin=random", false);
    expect_identity(&plain, "dataset.idx.path=data", false); /* below another folder */
    expect_identity(&plain, "seed=1", true);                 /* the default */
    expect_identity(&plain, "checkpoint_every=3", true);
    expect_identity(&plain, "name=other", true);
    expect_identity(&plain, "dataset.idx.path=/usr/data", true);
    expect_identity(&plain, "clients.activity=[0.3,0.8]", true);
    expect_identity(&plain, "optimizer.proximal.learning_rate=3", true); /* not chosen */
    expect_identity(&plain, "dataset.idx.pixels=unit", false);           /* OSAFL_P_LATER */
    expect_identity(&plain, "dataset.idx.pixels=signed", true);
    done(&plain);
    /* The text's layout, its file's name and unused groups do not matter. */
    struct loaded r = load("/* */ " EXPERIMENT_TEXT "uplink: { };");
    struct loaded again = load(EXPERIMENT_TEXT);
    assert_string_equal(r.e->identity, again.e->identity);
    done(&r);
    done(&again);
}

/* Settings of earlier versions, in a file, on the command line and in a grid: one error each, with
 * the line to write instead. */
static void old_settings_are_refused(void **state)
{
    (void)state;
    struct loaded r = load(EXPERIMENT_TEXT "partition: { scheme = \"shards\";\n"
                                           "concentration = 0.5; labels_per_client = 3; };\n");
    ASSERT_ERRORS(
        r.d,
        AT(13) "partition.scheme is now partition.plugin: write partition: { plugin = \"shards\"; "
               "};",
        AT(14) "partition.concentration is now partition.dirichlet.concentration: write partition: "
               "{ "
               "dirichlet: { concentration = 0.5; }; };",
        AT(14) "partition.labels_per_client is now partition.shards.labels: write partition: { "
               "shards: { labels = 3; }; };");
    done(&r);
    expect_set_complaint("clients.arrival_process=fixed",
                         "--set: clients.arrival_process is now arrival.plugin: write "
                         "arrival: { plugin = \"steady\"; };");
    expect_set_complaint("clients.arrival_process=binomial",
                         "--set: clients.arrival_process is now arrival.plugin: write "
                         "arrival: { plugin = \"binomial\"; };");
    expect_set_complaint("clients.arrival_probability=0.25",
                         "--set: clients.arrival_probability is now arrival.binomial.probability: "
                         "write arrival: { binomial: { probability = 0.25; }; };");
    expect_set_complaint("clients.drift=0.1",
                         "--set: clients.drift is now drift.plugin: write drift: { plugin = "
                         "\"redraw\"; redraw: { probability = 0.1; }; };");
    expect_set_complaint(
        "clients.sampled=0.5",
        "--set: clients.sampled is now selection.plugin: write selection: { plugin "
        "= \"uniform\"; uniform: { share = 0.5; }; };");
    expect_set_complaint("attack.method=shuffle_labels",
                         "--set: attack.method is now filter.plugin: write filter: { plugin = "
                         "\"label_flip\"; };");
    expect_set_complaint(
        "attack.share=0.25",
        "--set: attack.share is now a setting of the attack: write it among those "
        "of the attack, as in filter: { plugin = \"noise\"; noise: { share = 0.25; "
        "}; };");
}

static void expect_translation(const char *key, const char *value, const char *new_key,
                               const char *new_value)
{
    old_keys_translate(&key, &value);
    assert_string_equal(key, new_key);
    assert_string_equal(value, new_value);
}

static void old_records_are_understood(void **state)
{
    (void)state;
    expect_translation("partition.scheme", "\"iid\"", "partition.plugin", "\"iid\"");
    expect_translation("partition.concentration", "0.3", "partition.dirichlet.concentration",
                       "0.3");
    expect_translation("clients.arrival_process", "\"fixed\"", "arrival.plugin", "\"steady\"");
    expect_translation("clients.arrival_process", "\"binomial\"", "arrival.plugin", "\"binomial\"");
    expect_translation("clients.drift", "0.0", "drift.plugin", "\"none\"");
    expect_translation("clients.drift", "0.2", "clients.drift", "0.2");
    expect_translation("clients.count", "7", "clients.count", "7");
}

/* Runs that were kept must be recognised: a new setting whose default is what they did is
 * OSAFL_P_LATER, and a default never changes. */
static void identities_outlive_new_settings(void **state)
{
    (void)state;
    struct loaded r = load(EXPERIMENT_TEXT);
    assert_string_equal(r.e->identity, "19e60fd00c740338f49f42c316f803a1");
    done(&r);
}

static osafl_status collect(void *arg, const struct setting *s)
{
    if (s->earlier != NULL && strcmp(s->text, s->earlier) == 0)
        return OSAFL_OK;
    /* The settings of this experiment that cannot change a result. */
    if (strcmp(s->key, "name") != 0 && strcmp(s->key, "checkpoint_every") != 0 &&
        strcmp(s->key, "call_limit_s") != 0)
        fprintf(arg, "%s.%s = %s\n", s->group, s->key, s->text);
    return OSAFL_OK;
}

static void the_identity_is_the_hash_of_the_settings(void **state)
{
    (void)state;
    struct loaded r = load(EXPERIMENT_TEXT);
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    assert_int_equal(experiment_visit(r.e, collect, f), OSAFL_OK);
    assert_int_equal(fclose(f), 0);
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes, XXH3_128bits(text, size));
    char expected[33];
    for (size_t i = 0; i < 16; i++)
        snprintf(expected + 2 * i, 3, "%02x", bytes.digest[i]);
    assert_string_equal(r.e->identity, expected);
    assert_non_null(strstr(text, ".seed = 1\n"));
    assert_non_null(strstr(text, "aggregator.plugin = \"osafl\"\n"));
    assert_non_null(strstr(text, "aggregator.osafl.global_learning_rate = 5.0\n"));
    assert_null(strstr(text, "fedavg"));
    free(text);
    done(&r);
}

/* The resolved file, to be freed. */
static char *resolved(const struct experiment *e)
{
    FILE *f = tmpfile();
    assert_non_null(f);
    assert_int_equal(experiment_write(e, f), OSAFL_OK);
    const long size = ftell(f);
    assert_true(size > 0);
    rewind(f);
    char *text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, f), size);
    assert_int_equal(fclose(f), 0);
    return text;
}

static void expect_round_trip(const struct loaded *r)
{
    char *text = resolved(r->e);
    struct diagnostics *d = diagnostics_create();
    const struct experiment_options o = {.loader = loader};
    struct experiment *e = load_experiment_text(text, strlen(text), "/elsewhere/y.cfg", &o, d);
    assert_no_errors(d);
    assert_string_equal(e->identity, r->e->identity);
    struct loaded again = {.d = d, .e = e};
    char *second = resolved(e);
    /* Origins differ; values do not. */
    for (const char *a = text, *b = second; *a != '\0' && *b != '\0';) {
        const size_t n = strcspn(a, "#\n");
        assert_int_equal(n, strcspn(b, "#\n"));
        assert_memory_equal(a, b, n);
        a += strcspn(a, "\n") + 1;
        b += strcspn(b, "\n") + 1;
    }
    free(text);
    free(second);
    done(&again);
}

static void the_resolved_file_loads_again(void **state)
{
    (void)state;
    struct loaded r = load(EXPERIMENT_TEXT);
    expect_round_trip(&r);
    done(&r);
    static const char *const odd[] = {
        "seed=9223372036854775807",
        "clients.capacitance=1.2345678901234567e-300",
        "clients.clock_max_hz=[1, 1.7976931348623157e308]",
        "channel.fixed.gains_db=[-1, -2.5, -1e2]",
        "dataset.idx.prefix=\"a\\\"b\\\\c\\n\\x01\"",
        "evaluation.per_class=true",
    };
    r = load_set(EXPERIMENT_TEXT, odd, sizeof odd / sizeof odd[0]);
    assert_no_errors(r.d);
    assert_true(r.e->general.seed == INT64_MAX);
    expect_round_trip(&r);
    done(&r);
    r = load(EXPERIMENT_HEAD EXPERIMENT_TAIL); /* an optimizer left to the aggregator */
    expect_round_trip(&r);
    done(&r);
}

static void expect_origin(const char *text, const char *setting, const char *comment)
{
    const char *at = strstr(text, setting);
    assert_non_null(at);
    at = strchr(at, '#');
    assert_int_equal(strncmp(at, comment, strlen(comment)), 0);
}

static void the_resolved_file_tells_origins(void **state)
{
    (void)state;
    struct loaded r = load_with("quantizer.qsgd.levels=8");
    char *text = resolved(r.e);
    expect_origin(text, "rounds = 2;", "# x.cfg:2\n");
    expect_origin(text, "seed = 1;", "# default\n");
    expect_origin(text, "levels = 8;", "# --set\n");
    assert_non_null(strstr(text, "path = \"/usr/data\";"));
    assert_null(strstr(text, "fedavg"));
    free(text);
    done(&r);
}

static void an_optimizer_can_be_chosen_later(void **state)
{
    (void)state;
    static const char text[] =
        EXPERIMENT_HEAD "optimizer: { sgd: { learning_rate = 0.1; }; };\n" EXPERIMENT_TAIL;
    struct loaded explicit_choice = load(EXPERIMENT_TEXT);
    struct loaded r = load(text);
    assert_null(r.e->chosen[OSAFL_KIND_OPTIMIZER].loaded);
    assert_string_not_equal(r.e->identity, explicit_choice.e->identity);
    assert_int_equal(experiment_choose_optimizer(r.e, loader, "sgd", r.d), OSAFL_OK);
    assert_string_equal(r.e->identity, explicit_choice.e->identity);
    char *written = resolved(r.e);
    assert_non_null(strstr(written, "# wanted by the aggregator"));
    free(written);
    expect_round_trip(&r);
    done(&r);
    done(&explicit_choice);
    /* Without a group its required settings are missing. */
    r = load(EXPERIMENT_HEAD EXPERIMENT_TAIL);
    assert_int_equal(experiment_choose_optimizer(r.e, loader, "sgd", r.d), OSAFL_E_CONFIG);
    ASSERT_ERRORS(r.d, FILE_NAME ": optimizer.sgd.learning_rate: missing");
    done(&r);
    r = load(text);
    assert_int_equal(experiment_choose_optimizer(r.e, loader, "adma", r.d), OSAFL_E_UNSUPPORTED);
    ASSERT_ERRORS(r.d, FILE_NAME ": no optimizer plugin is called \"adma\"");
    done(&r);
}

static int open_loader(void **state)
{
    (void)state;
    const char *folder = OSAFL_TEST_PLUGIN_DIR;
    struct diagnostics *d = diagnostics_create();
    loader = loader_create(&folder, 1, d);
    diagnostics_destroy(d);
    return loader != NULL ? 0 : -1;
}

static int close_loader(void **state)
{
    (void)state;
    loader_destroy(loader);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_experiment_is_resolved),
        cmocka_unit_test(defaults_lie_in_their_ranges),
        cmocka_unit_test(all_errors_are_told_at_once),
        cmocka_unit_test(names_of_other_programs_are_known),
        cmocka_unit_test(nothing_but_an_optimizer_may_be_left_out),
        cmocka_unit_test(a_misspelt_algorithm_never_runs_another),
        cmocka_unit_test(groups_of_other_plugins_are_checked_and_not_applied),
        cmocka_unit_test(rules_of_plugins_are_checked),
        cmocka_unit_test(the_identity_changes_when_a_result_could),
        cmocka_unit_test(old_settings_are_refused),
        cmocka_unit_test(old_records_are_understood),
        cmocka_unit_test(identities_outlive_new_settings),
        cmocka_unit_test(the_identity_is_the_hash_of_the_settings),
        cmocka_unit_test(the_resolved_file_loads_again),
        cmocka_unit_test(the_resolved_file_tells_origins),
        cmocka_unit_test(an_optimizer_can_be_chosen_later),
    };
    return cmocka_run_group_tests(tests, open_loader, close_loader);
}
