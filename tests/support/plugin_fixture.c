/* plugin_fixture.c - a built plugin in a test's hands. */
#include "plugin_fixture.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/diagnostics.h"
#include "plugin/plugin_state.h"

static void record_metric(void *arg, uint32_t metric, uint32_t client, double value)
{
    struct fixture *f = arg;
    f->metrics = realloc(f->metrics, (f->n_metrics + 1) * sizeof *f->metrics);
    assert_non_null(f->metrics);
    f->metrics[f->n_metrics++] = (struct fixture_metric){metric, client, value};
}

static const osafl_param *param_at(const osafl_plugin *p, uint32_t i)
{
    return OSAFL_AT(osafl_param, p->params, p->param_size, i);
}

/* Writes a parameter's default to its place in config. */
static void store_default(void *config, const osafl_param *q)
{
    unsigned char *at = (unsigned char *)config + q->offset;
    switch (q->type) {
    case OSAFL_T_BOOL:
        memcpy(at, &(bool){q->def.i != 0}, sizeof(bool));
        break;
    case OSAFL_T_INT:
        memcpy(at, &q->def.i, sizeof q->def.i);
        break;
    case OSAFL_T_REAL:
        memcpy(at, &q->def.r, sizeof q->def.r);
        break;
    case OSAFL_T_TEXT:
    case OSAFL_T_PATH:
        memcpy(at, &q->def.s, sizeof q->def.s);
        break;
    case OSAFL_T_CHOICE:
        memcpy(at, &(osafl_choice){(int32_t)q->def.i}, sizeof(osafl_choice));
        break;
    case OSAFL_T_RANGE:
        memcpy(at, &(osafl_range){q->def.r, q->def_hi.r}, sizeof(osafl_range));
        break;
    default: /* OSAFL_T_REALS, OSAFL_T_ROWS: empty */
        break;
    }
}

struct fixture *fixture_open_in(const char *folder, const char *kind, const char *name)
{
    struct diagnostics *d = diagnostics_create();
    assert_non_null(d);
    struct loader *l = loader_create(&folder, 1, d);
    const struct loaded_plugin *loaded = NULL;
    if (l != NULL)
        loaded = loader_load(l, kind_from_name(kind), name, d, NULL, 0);
    if (loaded == NULL) {
        diagnostics_print(d, stderr);
        fail_msg("plugin %s/%s cannot be loaded", kind, name);
    }
    loader_destroy(l);
    diagnostics_destroy(d);

    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->plugin = loaded->plugin;
    f->context = (struct host_context){.seed = 1, .log_level = OSAFL_LOG_WARN};
    if (f->plugin->config_size > 0) {
        f->config = calloc(1, f->plugin->config_size);
        assert_non_null(f->config);
        for (uint32_t i = 0; i < f->plugin->n_params; i++)
            store_default(f->config, param_at(f->plugin, i));
    }
    f->instance = (struct instance){.plugin = f->plugin,
                                    .host = &core_host,
                                    .context = &f->context,
                                    .config = f->config,
                                    .metric = record_metric,
                                    .metric_arg = f};
    return f;
}

struct fixture *fixture_open(const char *kind, const char *name)
{
    return fixture_open_in(OSAFL_TEST_PLUGIN_DIR, kind, name);
}

void fixture_close(struct fixture *f)
{
    if (f == NULL)
        return;
    instance_destroy(&f->instance);
    for (size_t i = 0; i < f->n_texts; i++)
        free(f->texts[i]);
    free(f->texts);
    free(f->metrics);
    free(f->config);
    free(f);
}

/* Keeps size bytes alive as long as the fixture. */
static void *keep(struct fixture *f, const void *data, size_t size)
{
    f->texts = realloc(f->texts, (f->n_texts + 1) * sizeof *f->texts);
    assert_non_null(f->texts);
    char *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, data, size);
    f->texts[f->n_texts++] = copy;
    return copy;
}

/* Reads numbers separated by commas and spaces; returns how many. */
static size_t parse_reals(const char *text, double *out, size_t most)
{
    size_t n = 0;
    while (*text != '\0') {
        char *end = NULL;
        const double value = strtod(text, &end);
        if (end == text || n == most)
            fail_msg("\"%s\" is no list of at most %zu numbers", text, most);
        out[n++] = value;
        text = end + strspn(end, ", ");
    }
    return n;
}

static int32_t parse_choice(const osafl_param *q, const char *value)
{
    for (int32_t i = 0; q->choices[i] != NULL; i++) {
        if (strcmp(q->choices[i], value) == 0)
            return i;
    }
    fail_msg("parameter %s has no choice \"%s\"", q->name, value);
    return -1;
}

static void store_value(struct fixture *f, const osafl_param *q, const char *value)
{
    enum { MOST_REALS = 256 };
    double reals[MOST_REALS];
    unsigned char *at = (unsigned char *)f->config + q->offset;
    size_t n = 0;
    switch (q->type) {
    case OSAFL_T_BOOL:
        assert_true(strcmp(value, "true") == 0 || strcmp(value, "false") == 0);
        memcpy(at, &(bool){value[0] == 't'}, sizeof(bool));
        break;
    case OSAFL_T_INT:
        memcpy(at, &(int64_t){strtoll(value, NULL, 10)}, sizeof(int64_t));
        break;
    case OSAFL_T_REAL:
        assert_int_equal(parse_reals(value, reals, 1), 1);
        memcpy(at, reals, sizeof reals[0]);
        break;
    case OSAFL_T_TEXT:
    case OSAFL_T_PATH:
        memcpy(at, &(const char *){keep(f, value, strlen(value) + 1)}, sizeof value);
        break;
    case OSAFL_T_CHOICE:
        memcpy(at, &(osafl_choice){parse_choice(q, value)}, sizeof(osafl_choice));
        break;
    case OSAFL_T_RANGE:
        n = parse_reals(value, reals, 2);
        assert_true(n >= 1);
        memcpy(at, &(osafl_range){reals[0], reals[n - 1]}, sizeof(osafl_range));
        break;
    case OSAFL_T_REALS:
        n = parse_reals(value, reals, MOST_REALS);
        memcpy(at, &(osafl_reals){keep(f, reals, n * sizeof reals[0]), n}, sizeof(osafl_reals));
        break;
    default:
        fail_msg("parameter %s has an unknown type", q->name);
    }
}

void fixture_set(struct fixture *f, const char *parameter, const char *value)
{
    for (uint32_t i = 0; i < f->plugin->n_params; i++) {
        const osafl_param *q = param_at(f->plugin, i);
        if (strcmp(q->name, parameter) == 0) {
            store_value(f, q, value);
            return;
        }
    }
    fail_msg("%s has no parameter %s", f->plugin->name, parameter);
}

osafl_status fixture_create(struct fixture *f, const osafl_facts *facts)
{
    instance_destroy(&f->instance);
    return instance_create(&f->instance, facts, &f->error);
}

const void *fixture_vtable(const struct fixture *f)
{
    return f->plugin->vtable;
}

osafl_call *fixture_begin(struct fixture *f, uint32_t client, uint32_t round)
{
    call_begin(&f->call, &f->instance, client, round);
    return &f->call;
}

osafl_status fixture_end(struct fixture *f, osafl_status status)
{
    const osafl_status result = call_end(&f->call, status);
    memcpy(f->error.text, f->call.error.text, sizeof f->error.text);
    return result;
}

void *fixture_save(struct fixture *f, size_t *size)
{
    struct record_writer *w = record_writer_create();
    assert_non_null(w);
    const void *data = NULL;
    if (instance_save(&f->instance, w, "instance", &f->error) != OSAFL_OK ||
        record_writer_finish(w, &data, size, &f->error) != OSAFL_OK)
        fail_msg("%s cannot be saved: %s", f->plugin->name, f->error.text);
    void *copy = malloc(*size);
    assert_non_null(copy);
    memcpy(copy, data, *size);
    record_writer_destroy(w);
    return copy;
}

osafl_status fixture_load(struct fixture *f, const void *block, size_t size)
{
    struct record_set *set = NULL;
    osafl_status status = record_set_open(block, size, &set, &f->error);
    if (status == OSAFL_OK)
        status = instance_load(&f->instance, set, "instance", &f->error);
    record_set_destroy(set);
    return status;
}

void fixture_restart(struct fixture *f, const osafl_facts *facts)
{
    size_t size = 0;
    size_t again_size = 0;
    void *block = fixture_save(f, &size);
    if (fixture_create(f, facts) != OSAFL_OK || fixture_load(f, block, size) != OSAFL_OK)
        fail_msg("%s cannot be restarted: %s", f->plugin->name, f->error.text);
    void *again = fixture_save(f, &again_size);
    assert_int_equal(again_size, size);
    assert_memory_equal(again, block, size);
    free(again);
    free(block);
}

double fixture_metric(const struct fixture *f, const char *name, uint32_t client)
{
    double value = NAN;
    for (size_t i = 0; i < f->n_metrics; i++) {
        const osafl_metric *m = OSAFL_AT(osafl_metric, f->plugin->metrics, f->plugin->metric_size,
                                         f->metrics[i].metric);
        if (strcmp(m->name, name) == 0 && f->metrics[i].client == client)
            value = f->metrics[i].value;
    }
    return value;
}

void fixture_expect_all(const char *kind, const char *const *name, size_t n)
{
    size_t found = 0;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", OSAFL_TEST_PLUGIN_DIR, kind);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const char *end = strstr(entry->d_name, ".so");
        if (end == NULL || end[3] != '\0')
            continue;
        size_t k = 0;
        while (k < n && (strlen(name[k]) != (size_t)(end - entry->d_name) ||
                         strncmp(name[k], entry->d_name, strlen(name[k])) != 0))
            k++;
        if (k == n)
            fail_msg("%s/%s is in no list of this test", kind, entry->d_name);
        found++;
    }
    closedir(folder);
    assert_int_equal(found, n);
}
