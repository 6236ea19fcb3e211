/* test_plugin_verify.c - each rule for what a plugin says about itself, broken once.
 *
 * A plugin that keeps all rules is copied, one thing is changed, and the refusal must say so. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "osafl/osafl.h"
#include "plugin/plugin_adapt.h"
#include "plugin/plugin_verify.h"

struct config {
    double rate;
    int64_t steps;
    bool fast;
    osafl_choice scheme;
    osafl_range span;
    osafl_reals values;
    const char *text;
    const char *path;
    osafl_rows rows;
};

struct row {
    int64_t length;
    const char *file;
};

static const char *const schemes[] = {"first", "second", NULL};
static const char *const features[] = {"plain", NULL};

static const osafl_param good_row[] = {OSAFL_INT(struct row, length, 1, 0, 9, "How long")};
static const osafl_row_type good_rows = OSAFL_ROW_TYPE(good_row, struct row);
static const osafl_param good_params[] = {
    OSAFL_REAL(struct config, rate, 0.5, 0.0, 1.0, "How fast", .flags = OSAFL_P_LO_OPEN),
    OSAFL_INT(struct config, steps, 3, 1, INT64_MAX, "How many", .unit = "steps"),
    OSAFL_BOOL(struct config, fast, true, "Whether to hurry"),
    OSAFL_CHOICE(struct config, scheme, 1, schemes, "Which way"),
    OSAFL_RANGE(struct config, span, 0.25, 0.75, 0.0, 1.0, "From where to where"),
    OSAFL_REALS(struct config, values, -INFINITY, INFINITY, "Some numbers"),
    OSAFL_TEXT(struct config, text, "abc", "Some words"),
    OSAFL_PATH(struct config, path, NULL, "A file", .flags = OSAFL_P_REQUIRED),
    OSAFL_ROWS(struct config, rows, &good_rows, 0, 9, "Some rows"),
};
enum { RATE, STEPS, FAST, SCHEME, SPAN, VALUES, TEXT, PATH, ROWS };
#define N_PARAMS (sizeof good_params / sizeof good_params[0])

static const osafl_metric good_metrics[] = {
    {.name = "speed", .unit = "1/s", .doc = "How fast", .scope = OSAFL_PER_ROUND, .better = 1},
    {.name = "speed", .unit = "1/s", .doc = "How fast", .scope = OSAFL_PER_CLIENT},
};

/* Never called. */
static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *f,
                           const void *config, void **self)
{
    (void)h;
    (void)c;
    (void)f;
    (void)config;
    (void)self;
    return OSAFL_OK;
}

static void destroy(void *self)
{
    (void)self;
}

static osafl_status save(void *self, osafl_call *c, osafl_writer *w)
{
    (void)self;
    (void)c;
    (void)w;
    return OSAFL_OK;
}

static osafl_status load(void *self, osafl_call *c, osafl_reader *r)
{
    (void)self;
    (void)c;
    (void)r;
    return OSAFL_OK;
}

static osafl_status solve(void *self, osafl_call *c, const osafl_resource_problem *p,
                          const osafl_resource_answer *out)
{
    (void)self;
    (void)c;
    (void)p;
    (void)out;
    return OSAFL_OK;
}

/* The present victim; every test starts with a right one. */
static osafl_plugin plugin;
static osafl_param params[N_PARAMS];
static osafl_metric metrics[2];
static osafl_resource_vt vtable;

static int set_up(void **state)
{
    (void)state;
    memcpy(params, good_params, sizeof params);
    memcpy(metrics, good_metrics, sizeof metrics);
    vtable = (osafl_resource_vt){.life = {.struct_size = sizeof vtable,
                                          .state_version = 1,
                                          .create = create,
                                          .destroy = destroy,
                                          .save = save,
                                          .load = load},
                                 .solve = solve};
    plugin = (osafl_plugin){OSAFL_PLUGIN_HEAD,
                            .kind = OSAFL_KIND_RESOURCE,
                            .name = "sample",
                            .version = "1.2.3",
                            .summary = "Does nothing",
                            .license = "MIT",
                            .features = features,
                            OSAFL_PLUGIN_PARAMS(params, struct config),
                            OSAFL_PLUGIN_METRICS(metrics),
                            .vtable = &vtable.life};
    return 0;
}

/* Verifies the victim, expects the refusal, and makes it right again. */
static void refused(const char *text)
{
    struct error why = {0};
    assert_int_equal(plugin_verify(&plugin, OSAFL_KIND_RESOURCE, "sample", &why), OSAFL_E_BUG);
    if (strstr(why.text, text) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", why.text, text);
    set_up(NULL);
}

static void accepted(void)
{
    struct error why = {0};
    if (plugin_verify(&plugin, OSAFL_KIND_RESOURCE, "sample", &why) != OSAFL_OK)
        fail_msg("refused: %s", why.text);
    set_up(NULL);
}

static void test_right_ones(void **state)
{
    (void)state;
    accepted();
    vtable.life.save = NULL;
    vtable.life.load = NULL;
    plugin.features = NULL;
    accepted();
    plugin.n_params = 0;
    plugin.config_size = 0;
    plugin.params = NULL;
    plugin.n_metrics = 0;
    plugin.metrics = NULL;
    accepted();
    /* The ends of a closed range are inside. */
    params[RATE].def.r = 1.0;
    params[STEPS].def.i = INT64_MAX;
    accepted();
}

static void test_abi(void **state)
{
    (void)state;
    struct error why;
    assert_int_equal(plugin_verify(NULL, OSAFL_KIND_RESOURCE, "sample", &why), OSAFL_E_BUG);
    plugin.struct_size = 0;
    refused("does not state its struct_size; begin its osafl_plugin with OSAFL_PLUGIN_HEAD");
    plugin.struct_size = 4;
    refused("describes itself in 4 bytes, this program needs ");
    plugin.struct_size -= 8;
    refused("rebuild it with the headers of osafl " OSAFL_VERSION " (ABI 0.2)");
    plugin.abi_minor = 0;
    refused("was built for ABI 0.0, this program has ABI 0.2");
    plugin.abi_major = 3;
    refused("was built for ABI 3.2");
    plugin.fingerprint = "pointer 4, float 4, order 4321";
    refused("was built with layout \"pointer 4, float 4, order 4321\", this program with "
            "\"pointer 8");
    plugin.fingerprint = NULL;
    refused("was built with layout \"\"");
}

/* A newer plugin that can do without what is new: larger structs, never smaller ones. */
static void be_newer(void)
{
    plugin.abi_minor = OSAFL_ABI_MINOR + 1;
    plugin.abi_minor_needed = OSAFL_ABI_MINOR;
}

static void test_newer_minor(void **state)
{
    (void)state;
    be_newer();
    accepted();
    be_newer();
    plugin.struct_size += 8;
    vtable.life.struct_size += 8;
    accepted();
    be_newer();
    plugin.struct_size -= 8;
    refused("describes itself in ");
    be_newer();
    vtable.life.struct_size -= 8;
    refused("has a vtable of ");
    be_newer();
    plugin.metric_size -= 8;
    refused("in its table of metrics");
    be_newer();
    plugin.param_size -= 8;
    refused("in its table of parameters");
    plugin.abi_minor++;
    refused("was built for ABI 0.3 and needs a program with ABI 0.3, this program has ABI 0.2; "
            "install a newer osafl, or rebuild it");
    plugin.abi_minor_needed = OSAFL_ABI_MINOR + 1;
    refused("was built for ABI 0.2 and needs a program with ABI 0.3");
}

/* Structs of any size become those of the program. */
static void test_adapted_structs(void **state)
{
    (void)state;
    struct {
        osafl_resource_vt vt;
        uint64_t one_more;
    } larger = {.vt = vtable, .one_more = 99};
    struct adapted_plugin own;
    assert_ptr_equal(plugin_adapt(&plugin, &own), &plugin);
    be_newer();
    larger.vt.life.struct_size = sizeof larger;
    plugin.vtable = &larger.vt.life;
    const osafl_plugin *adapted = plugin_adapt(&plugin, &own);
    assert_ptr_equal(adapted, &own.plugin);
    assert_string_equal(adapted->name, "sample");
    const osafl_resource_vt *vt = (const osafl_resource_vt *)(const void *)adapted->vtable;
    assert_true(vt->solve == solve && vt->life.load == load);
    /* Without its last operation, as an older plugin would be. */
    vtable.life.struct_size = offsetof(osafl_resource_vt, solve);
    plugin.vtable = &vtable.life;
    assert_ptr_equal(plugin_adapt(&plugin, &own), &own.plugin);
    assert_true(own.vtable.resource.solve == NULL && own.vtable.resource.life.load == load);
    set_up(NULL);
}

static void test_identity(void **state)
{
    (void)state;
    plugin.kind = 0;
    refused("does not state its kind; set .kind");
    plugin.kind = 99;
    refused("is of kind 99, which this program does not know");
    plugin.kind = OSAFL_KIND_MODEL;
    refused("is of kind model but lies in the folder of kind resource");
    plugin.name = NULL;
    refused("states no name; set .name = \"sample\"");
    plugin.name = "Sample";
    refused("has a name that is not");
    plugin.name = "sampled";
    refused("calls itself \"sampled\"; name the file sampled.so");
    plugin.version = NULL;
    refused("states no version; set .version");
    plugin.summary = "";
    refused("states no summary; say in .summary");
    plugin.license = NULL;
    refused("states no license; set .license");
    static const char *const odd[] = {"plain", "not plain", NULL};
    plugin.features = odd;
    refused("has a feature whose name");
}

static void test_table_of_params(void **state)
{
    (void)state;
    plugin.params = NULL;
    refused("no plausible table of parameters");
    plugin.n_params = 100000;
    refused("no plausible table of parameters (100000 rows");
    plugin.config_size = UINT32_MAX;
    refused("no plausible table of parameters");
    plugin.param_size = 96;
    refused("has rows of 96 bytes in its table of parameters");
    plugin.n_params = 0;
    refused("but no parameters");
    params[STEPS].name = "Steps";
    refused("has parameter number 1 with a name");
    params[STEPS].name = NULL;
    refused("has parameter number 1 with a name");
    params[STEPS].doc = "";
    refused("has parameter steps without a sentence");
    params[STEPS].type = 77;
    refused("has parameter steps of type 77");
    params[STEPS].type = 0;
    refused("has parameter steps of type 0");
    params[STEPS].flags = 1u << 20;
    refused("has parameter steps with flags");
    params[STEPS].flags = OSAFL_P_LATER;
    accepted();
    params[STEPS].flags = OSAFL_P_LATER | OSAFL_P_REQUIRED;
    refused("has parameter steps that came later and has no default");
    params[STEPS].name = "rate";
    refused("has parameter rate twice");
    params[STEPS].offset = params[RATE].offset;
    refused("has parameters rate and steps in one place");
    params[STEPS].offset = sizeof(struct config) - 4;
    refused("has parameter steps at offset");
    params[STEPS].offset = UINT32_MAX - 3;
    refused("has parameter steps at offset");
    params[STEPS].offset = 4;
    refused("has parameter steps at offset 4");
}

static void test_values_of_params(void **state)
{
    (void)state;
    params[STEPS].def.i = 0;
    refused("has parameter steps with default 0 outside its range");
    params[STEPS].hi.i = 0;
    refused("has parameter steps with an empty range");
    params[STEPS].flags = OSAFL_P_REQUIRED;
    params[STEPS].def.i = 0; /* a required parameter has no default to check */
    accepted();
    params[STEPS].flags = OSAFL_P_LO_OPEN;
    params[STEPS].def.i = 1;
    refused("has parameter steps with default 1");
    params[RATE].def.r = 0.0; /* lo itself is outside */
    refused("has parameter rate with default 0 outside");
    params[RATE].flags = OSAFL_P_HI_OPEN;
    params[RATE].def.r = 1.0;
    refused("has parameter rate with default 1 outside");
    params[RATE].def.r = NAN;
    refused("has parameter rate with default nan");
    params[RATE].hi.r = NAN;
    refused("has parameter rate with an empty range");
    params[RATE].hi.r = INFINITY;
    params[RATE].def.r = INFINITY;
    refused("has parameter rate with default inf");
    params[FAST].def.i = 2;
    refused("has parameter fast with a default that is neither true nor false");
    params[SPAN].def_hi.r = 0.125;
    refused("has parameter span with default [0.25, 0.125]");
    params[SPAN].def_hi.r = 1.5;
    refused("has parameter span with default [0.25, 1.5]");
    params[VALUES].lo.r = NAN;
    refused("has parameter values with an empty range");
    params[TEXT].def.s = NULL;
    accepted();
}

static void rows_refused(osafl_row_type rows, const char *text)
{
    params[ROWS].def.row = &rows;
    refused(text);
}

static void test_rows(void **state)
{
    (void)state;
    static const osafl_param path[] = {OSAFL_PATH(struct row, file, NULL, "A file")};
    static const osafl_param idle[] = {
        OSAFL_INT(struct row, length, 1, 0, 9, "How long", .flags = OSAFL_P_NO_EFFECT)};
    static const osafl_param wrong[] = {OSAFL_INT(struct row, length, 10, 0, 9, "How long")};
    osafl_row_type small = good_rows;
    small.size = 4;
    params[ROWS].def.row = NULL;
    refused("has parameter rows, whose rows hold nothing");
    params[ROWS].lo.i = -1;
    refused("has parameter rows with an empty range");
    rows_refused((osafl_row_type){.params = good_row},
                 "has parameter rows, whose rows hold nothing");
    rows_refused((osafl_row_type)OSAFL_ROW_TYPE(path, struct row), "has parameter file in rows");
    rows_refused((osafl_row_type)OSAFL_ROW_TYPE(idle, struct row), "has parameter length in rows");
    rows_refused((osafl_row_type)OSAFL_ROW_TYPE(wrong, struct row),
                 "length with default 10 outside");
    rows_refused(small, "has parameter length at offset 0, which is no place for it");
}

static void test_words(void **state)
{
    (void)state;
    static const char *const words[] = {"all", "half", NULL};
    params[STEPS].choices = words;
    params[STEPS].def.i = -2;
    accepted();
    params[STEPS].choices = words;
    params[STEPS].def.i = -3;
    refused("has parameter steps with default -3 outside its range");
    params[STEPS].choices = words;
    params[STEPS].lo.i = -1;
    refused("has parameter steps with words for numbers below 0 in its range");
}

static void test_choices(void **state)
{
    (void)state;
    static const char *const none[] = {NULL};
    static const char *const twice[] = {"one", "two", "one", NULL};
    static const char *const empty[] = {"one", "", NULL};
    params[SCHEME].choices = NULL;
    refused("has parameter scheme without choices");
    params[SCHEME].choices = none;
    refused("has parameter scheme without choices");
    params[SCHEME].choices = twice;
    refused("has parameter scheme with the choice \"one\" twice");
    params[SCHEME].choices = empty;
    refused("has parameter scheme with an empty choice");
    params[SCHEME].def.i = 2;
    refused("has parameter scheme with default number 2 of 2 choices");
    params[SCHEME].def.i = -1;
    refused("has parameter scheme with default number -1");
}

static void test_metrics(void **state)
{
    (void)state;
    plugin.metrics = NULL;
    refused("no plausible table of metrics");
    plugin.metric_size = 16;
    refused("has rows of 16 bytes in its table of metrics");
    metrics[1].name = "a-b";
    refused("has metric number 1 with a name");
    metrics[1].doc = NULL;
    refused("has metric speed without a sentence");
    metrics[1].scope = 0;
    refused("has metric speed that is neither per round nor per client");
    metrics[1].better = 9;
    refused("has metric speed with an unknown direction");
    metrics[1].scope = OSAFL_PER_ROUND;
    refused("has metric speed twice");
}

static void test_operations(void **state)
{
    (void)state;
    plugin.vtable = NULL;
    refused("has no vtable");
    vtable.life.struct_size -= 8;
    refused("has a vtable of ");
    vtable.life.create = NULL;
    refused("has destroy without create");
    vtable.life.destroy = NULL;
    refused("has create without destroy");
    vtable.life.create = NULL;
    vtable.life.destroy = NULL;
    accepted();
    vtable.life.load = NULL;
    refused("has save without load");
    vtable.life.save = NULL;
    refused("has load without save");
    vtable.solve = NULL;
    refused("lacks the operation solve");
}

/* What no experiment names gets no settings from one. */
static void test_transport(void **state)
{
    (void)state;
    osafl_transport_vt all;
    memset(&all, 0x11, sizeof all); /* never called */
    all.life = (osafl_lifecycle){.struct_size = sizeof all};
    struct error why = {0};
    plugin.kind = OSAFL_KIND_TRANSPORT;
    plugin.vtable = &all.life;
    assert_int_equal(plugin_verify(&plugin, plugin.kind, "sample", &why), OSAFL_E_BUG);
    assert_non_null(strstr(why.text, "has settings, metrics or create()"));
    plugin.n_params = plugin.n_metrics = plugin.config_size = 0;
    plugin.params = NULL;
    plugin.metrics = NULL;
    assert_int_equal(plugin_verify(&plugin, plugin.kind, "sample", &why), OSAFL_OK);
}

/* Of every kind: exactly the operations that the header calls REQUIRED are. */
static void test_required_operations_of_each_kind(void **state)
{
    (void)state;
    static const struct {
        uint32_t kind;
        uint32_t size;
        const char *required[6]; /* the first to be missed, then the next, ... */
    } kinds[] = {
        {OSAFL_KIND_DATASET, sizeof(osafl_dataset_vt), {"describe", "label", "read"}},
        {OSAFL_KIND_MODEL,
         sizeof(osafl_model_vt),
         {"describe", "workspace_bytes", "init", "gradient", "evaluate"}},
        {OSAFL_KIND_CHANNEL, sizeof(osafl_channel_vt), {"describe", "gains"}},
        {OSAFL_KIND_RESOURCE, sizeof(osafl_resource_vt), {"solve"}},
        {OSAFL_KIND_OPTIMIZER, sizeof(osafl_optimizer_vt), {"describe", "rate", "step"}},
        {OSAFL_KIND_QUANTIZER,
         sizeof(osafl_quantizer_vt),
         {"describe", "encode", "verify", "decode"}},
        {OSAFL_KIND_DELETION, sizeof(osafl_deletion_vt), {"select"}},
        {OSAFL_KIND_AGGREGATOR, sizeof(osafl_aggregator_vt), {"describe", "aggregate"}},
        {OSAFL_KIND_PARTITION, sizeof(osafl_partition_vt), {"describe"}},
        {OSAFL_KIND_DRIFT, sizeof(osafl_drift_vt), {"at"}},
        {OSAFL_KIND_ARRIVAL, sizeof(osafl_arrival_vt), {"arrive"}},
        {OSAFL_KIND_SELECTION, sizeof(osafl_selection_vt), {"choose"}},
        {OSAFL_KIND_FILTER, sizeof(osafl_filter_vt), {NULL}},
        {OSAFL_KIND_TRANSPORT,
         sizeof(osafl_transport_vt),
         {"start", "host_name", "exchange", "stop"}},
    };
    enum { WORDS = 32 };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        /* All operations there, then slot after slot taken away and put back. */
        union {
            osafl_lifecycle life;
            unsigned char bytes[WORDS * sizeof(void *)];
        } full;
        memset(&full, 0x11, sizeof full);
        full.life.struct_size = kinds[k].size;
        size_t missed = 0;
        for (size_t at = sizeof(osafl_lifecycle); at < kinds[k].size; at += sizeof(void *)) {
            union {
                osafl_lifecycle life;
                unsigned char bytes[WORDS * sizeof(void *)];
            } vt;
            memcpy(&vt, &full, sizeof vt);
            memset(vt.bytes + at, 0, sizeof(void *));
            plugin.kind = kinds[k].kind;
            plugin.vtable = &vt.life;
            struct error why = {0};
            if (plugin_verify(&plugin, kinds[k].kind, "sample", &why) == OSAFL_OK ||
                strstr(why.text, "without") != NULL)
                continue;
            char expected[64];
            snprintf(expected, sizeof expected, "lacks the operation %s,",
                     kinds[k].required[missed]);
            if (strstr(why.text, expected) == NULL)
                fail_msg("kind %u: \"%s\" does not say \"%s\"", (unsigned)kinds[k].kind, why.text,
                         expected);
            missed++;
        }
        size_t n = 0;
        while (n < 6 && kinds[k].required[n] != NULL)
            n++;
        assert_int_equal(missed, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_right_ones, set_up),
        cmocka_unit_test_setup(test_abi, set_up),
        cmocka_unit_test_setup(test_newer_minor, set_up),
        cmocka_unit_test_setup(test_adapted_structs, set_up),
        cmocka_unit_test_setup(test_identity, set_up),
        cmocka_unit_test_setup(test_table_of_params, set_up),
        cmocka_unit_test_setup(test_values_of_params, set_up),
        cmocka_unit_test_setup(test_choices, set_up),
        cmocka_unit_test_setup(test_words, set_up),
        cmocka_unit_test_setup(test_rows, set_up),
        cmocka_unit_test_setup(test_metrics, set_up),
        cmocka_unit_test_setup(test_transport, set_up),
        cmocka_unit_test_setup(test_operations, set_up),
        cmocka_unit_test_setup(test_required_operations_of_each_kind, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
