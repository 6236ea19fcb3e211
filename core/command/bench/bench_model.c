/* bench_model.c - times the steps and rounds of one model on random pictures.
 *
 * Single steps are timed in CPU time of their thread, which other programs disturb less than the
 * clock on the wall; the least of many repeats is nearest to the machine's speed.  A round is
 * timed by the wall and in CPU time of all threads: clients are trained and samples evaluated by a
 * pool of threads, as in a run, without the uplink and the aggregation. */
#include "bench_model.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/streams.h"
#include "experiment/experiment_tree.h"
#include "experiment/settings.h"
#include "osafl/model.h"
#include "osafl/profile.h"
#include "plugin/loader.h"
#include "plugin/plugin_host.h"
#include "plugin/pool.h"

/* A client's work in one round of the paper's experiments: 5 local rounds of 8 steps. */
enum { STEPS_OF_CLIENT = 40, EVALUATED_OF_CLIENT = 400, EVALUATION_CHUNK = 200 };

static const double rate = 1e-3; /* so small that nothing diverges */

/* What one thread works with. */
struct bench_worker {
    float *w;
    float *gradient;
    void *workspace;
    osafl_batch batch;      /* of training */
    osafl_batch evaluation; /* of EVALUATION_CHUNK samples */
    double *value;
};

struct model_bench {
    const struct bench_options *o;
    struct bench_result *out;
    const osafl_model_vt *vt;
    struct host_context context;
    struct instance instance;
    osafl_dataset_info dataset;
    osafl_facts facts;
    osafl_model_info info;
    struct bench_worker *worker;
    struct error error;
};

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- profile ---- */

/* The bench is the receiver of the instance's metrics, of which a model has none. */
static void record_part(osafl_call *c, uint32_t part, uint32_t phase, const char *name,
                        double spent, double operations)
{
    struct bench_result *out = c->instance->metric_arg;
    if (part >= BENCH_MOST_LAYERS || phase < OSAFL_PHASE_FORWARD || phase > OSAFL_PHASE_BACKWARD)
        return;
    struct bench_layer *l = &out->layer[part];
    const uint32_t i = phase - OSAFL_PHASE_FORWARD;
    snprintf(l->name, sizeof l->name, "%s", name);
    if (l->seconds[i] == 0 || spent < l->seconds[i])
        l->seconds[i] = spent;
    l->operations[i] = operations;
    if (part >= out->n_layers)
        out->n_layers = part + 1;
}

static const osafl_profile profile = {.struct_size = sizeof profile, .record = record_part};

static const void *profile_extension(const struct osafl_host *h, const char *id)
{
    (void)h;
    return strcmp(id, OSAFL_PROFILE_ID) == 0 ? &profile : NULL;
}

/* ---- instance and workers ---- */

static osafl_status make_instance(struct model_bench *b, const osafl_host *host,
                                  struct diagnostics *d)
{
    b->instance.host = host;
    const osafl_status status = instance_create(&b->instance, &b->facts, &b->error);
    if (status != OSAFL_OK) {
        diagnostics_error(d, NULL, 0, "model/%s: %s", b->instance.plugin->name, b->error.text);
        return status;
    }
    struct osafl_call c;
    call_begin(&c, &b->instance, OSAFL_NO_CLIENT, NO_ROUND);
    return call_end(&c, b->vt->describe(b->instance.self, &c, &b->info));
}

static bool make_batch(const struct model_bench *b, uint32_t n, uint32_t stream, osafl_batch *batch)
{
    const uint64_t values = osafl_sample_size(&b->dataset) * n;
    *batch = (osafl_batch){.struct_size = sizeof *batch,
                           .n = n,
                           .x = memory_zeroed(values, sizeof(float), VECTOR_ALIGNMENT),
                           .label = memory_zeroed(n, sizeof(int32_t), VECTOR_ALIGNMENT)};
    if (batch->x == NULL || batch->label == NULL)
        return false;
    uint32_t word[256];
    for (uint64_t i = 0; i < values; i++) {
        if (i % 256 == 0)
            streams_fill(1, 0, STREAM_BATCHES, stream, 0, i / 256, word, 256);
        batch->x[i] = b->o->tokens > 0 ? (float)(word[i % 256] % b->o->tokens)
                                       : (float)word[i % 256] * 0x1p-31f - 1.0f;
    }
    for (uint32_t i = 0; i < n; i++)
        batch->label[i] = (int32_t)(i % b->o->classes);
    return true;
}

static bool make_worker(const struct model_bench *b, uint32_t stream, struct bench_worker *w)
{
    const uint64_t n = b->info.n_parameters;
    w->w = memory_zeroed(n, sizeof(float), VECTOR_ALIGNMENT);
    w->gradient = memory_zeroed(n, sizeof(float), VECTOR_ALIGNMENT);
    w->value =
        memory_zeroed(EVALUATION_CHUNK, b->info.n_measures * sizeof(double), VECTOR_ALIGNMENT);
    w->workspace = memory_zeroed(b->out->workspace_bytes, 1, WORKSPACE_ALIGNMENT);
    return w->w != NULL && w->gradient != NULL && w->value != NULL && w->workspace != NULL &&
           make_batch(b, b->o->batch, stream, &w->batch) &&
           make_batch(b, EVALUATION_CHUNK, stream, &w->evaluation);
}

static void free_worker(struct bench_worker *w)
{
    memory_free(w->w);
    memory_free(w->gradient);
    memory_free(w->value);
    memory_free(w->workspace);
    memory_free(w->batch.x);
    memory_free(w->batch.label);
    memory_free(w->evaluation.x);
    memory_free(w->evaluation.label);
}

/* ---- what is timed ---- */

enum work { WORK_STEP, WORK_GRADIENT, WORK_EVALUATE };

static osafl_status do_work(struct model_bench *b, struct bench_worker *w, enum work what,
                            uint32_t client, uint32_t number)
{
    const osafl_step step = {
        .struct_size = sizeof step, .client = client, .step = number, .training = 1};
    void *self = b->instance.self;
    double loss = 0;
    osafl_status status = OSAFL_E_UNSUPPORTED;
    struct osafl_call c;
    call_begin(&c, &b->instance, client, 0);
    if (what == WORK_EVALUATE) {
        status = b->vt->evaluate(self, &c, w->workspace, w->w, &w->evaluation, w->value);
    } else {
        if (what == WORK_STEP && b->vt->sgd_step != NULL)
            status = b->vt->sgd_step(self, &c, w->workspace, w->w, &w->batch, &step, rate, &loss);
        if (status == OSAFL_E_UNSUPPORTED) {
            status =
                b->vt->gradient(self, &c, w->workspace, w->w, &w->batch, &step, w->gradient, &loss);
            for (uint64_t i = 0; i < b->info.n_parameters && what == WORK_STEP; i++)
                w->w[i] -= (float)rate * w->gradient[i];
        }
    }
    status = call_end(&c, status);
    if (status != OSAFL_OK)
        memcpy(b->error.text, c.error.text, sizeof b->error.text);
    return status;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The least time and the median of n runs. */
static osafl_status time_work(struct model_bench *b, enum work what, uint32_t n, double *least,
                              double *median)
{
    double *spent = calloc(n, sizeof *spent);
    if (spent == NULL)
        return OSAFL_E_NOMEM;
    osafl_status status = OSAFL_OK;
    for (uint32_t i = 0; i < n && status == OSAFL_OK; i++) {
        const double start = seconds(CLOCK_THREAD_CPUTIME_ID);
        status = do_work(b, &b->worker[0], what, 0, i);
        spent[i] = seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    }
    qsort(spent, n, sizeof *spent, by_value);
    *least = spent[0];
    if (median != NULL)
        *median = spent[n / 2];
    free(spent);
    return status;
}

static osafl_status train_client(void *arg, uint64_t begin, uint64_t end, unsigned worker)
{
    struct model_bench *b = arg;
    for (uint64_t client = begin; client < end; client++)
        for (uint32_t step = 0; step < STEPS_OF_CLIENT; step++)
            OSAFL_TRY(do_work(b, &b->worker[worker], WORK_STEP, (uint32_t)client, step));
    return OSAFL_OK;
}

static osafl_status evaluate_chunk(void *arg, uint64_t begin, uint64_t end, unsigned worker)
{
    struct model_bench *b = arg;
    for (uint64_t i = begin; i < end; i++)
        OSAFL_TRY(do_work(b, &b->worker[worker], WORK_EVALUATE, OSAFL_NO_CLIENT, 0));
    return OSAFL_OK;
}

static osafl_status time_round(struct model_bench *b)
{
    const uint64_t clients = b->o->clients;
    const uint64_t chunks = clients * EVALUATED_OF_CLIENT / EVALUATION_CHUNK;
    if (clients == 0)
        return OSAFL_OK;
    struct pool *pool = pool_create(b->o->threads, NULL);
    if (pool == NULL)
        return OSAFL_E_NOMEM;
    const double start = seconds(CLOCK_MONOTONIC);
    const double cpu_start = seconds(CLOCK_PROCESS_CPUTIME_ID);
    osafl_status status = pool_run(pool, clients, 1, train_client, b);
    const double cpu_trained = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (status == OSAFL_OK)
        status = pool_run(pool, chunks, 1, evaluate_chunk, b);
    const double cpu_end = seconds(CLOCK_PROCESS_CPUTIME_ID);
    b->out->round_s = seconds(CLOCK_MONOTONIC) - start;
    b->out->round_cpu_s = cpu_end - cpu_start;
    b->out->evaluate_cpu_s = cpu_end - cpu_trained;
    b->out->round_samples = clients * STEPS_OF_CLIENT * b->o->batch + chunks * EVALUATION_CHUNK;
    pool_destroy(pool);
    return status;
}

/* Everything again with a host that listens to the parts of the model. */
static osafl_status time_layers(struct model_bench *b, struct diagnostics *d)
{
    osafl_host host = core_host;
    host.extension = profile_extension;
    instance_destroy(&b->instance);
    b->instance.metric_arg = b->out;
    OSAFL_TRY(make_instance(b, &host, d));
    const uint32_t n = b->o->layers ? b->o->repeats : 1;
    osafl_status status = OSAFL_OK;
    for (uint32_t i = 0; i < n && status == OSAFL_OK; i++)
        status = do_work(b, &b->worker[0], WORK_STEP, 0, i);
    for (size_t i = 0; i < b->out->n_layers; i++)
        b->out->operations += b->out->layer[i].operations[0] + b->out->layer[i].operations[1];
    instance_destroy(&b->instance); /* while its host exists */
    return status;
}

static osafl_status time_all(struct model_bench *b, struct diagnostics *d)
{
    struct bench_result *out = b->out;
    out->parameters = b->info.n_parameters;
    out->workspace_bytes = b->vt->workspace_bytes(b->instance.self, b->o->batch, EVALUATION_CHUNK);
    for (unsigned t = 0; t < b->o->threads; t++) {
        struct bench_worker *w = &b->worker[t];
        if (!make_worker(b, t, w))
            return OSAFL_E_NOMEM;
        struct osafl_call c;
        call_begin(&c, &b->instance, OSAFL_NO_CLIENT, NO_ROUND);
        OSAFL_TRY(call_end(&c, b->vt->init(b->instance.self, &c, w->w)));
    }
    OSAFL_TRY(do_work(b, &b->worker[0], WORK_STEP, 0, 0)); /* touches all memory */
    OSAFL_TRY(time_work(b, WORK_STEP, b->o->repeats, &out->step_s, &out->step_median_s));
    OSAFL_TRY(time_work(b, WORK_GRADIENT, b->o->repeats / 2 + 1, &out->gradient_s, NULL));
    OSAFL_TRY(time_work(b, WORK_EVALUATE, b->o->repeats / 4 + 1, &out->evaluate_s, NULL));
    out->evaluate_s *= (double)b->o->batch / EVALUATION_CHUNK;
    OSAFL_TRY(time_round(b));
    return time_layers(b, d);
}

/* Times a plugin with the settings of a group, which may be NULL. */
static osafl_status bench_plugin(const osafl_plugin *p, const struct node *settings,
                                 const struct bench_options *o, struct bench_result *out,
                                 struct diagnostics *d)
{
    struct model_bench b = {.o = o,
                            .out = out,
                            .vt = (const osafl_model_vt *)(const void *)p->vtable,
                            .context = {.seed = 1, .log_level = OSAFL_LOG_WARN},
                            .dataset = {.struct_size = sizeof b.dataset,
                                        .rank = 3,
                                        .shape = {o->channels, o->height, o->width},
                                        .x_type = OSAFL_X_FLOAT,
                                        .target_type = OSAFL_TARGET_CLASS,
                                        .target_size = o->classes,
                                        .labels = o->classes},
                            .facts = {.struct_size = sizeof b.facts,
                                      .clients = 1,
                                      .rounds = 1,
                                      .cost_steps = 8,
                                      .max_local_rounds = 5,
                                      .deadline_s = 1}};
    b.facts.batch = o->batch;
    b.facts.dataset = &b.dataset;
    b.instance = (struct instance){.plugin = p, .context = &b.context};
    b.worker = calloc(o->threads, sizeof *b.worker);
    b.instance.config = calloc(1, p->config_size > 0 ? p->config_size : 1);
    osafl_status status = OSAFL_E_NOMEM;
    if (b.worker != NULL && b.instance.config != NULL) {
        char path[96];
        snprintf(path, sizeof path, "model.%s", p->name);
        settings_bind(p->params, p->n_params, p->param_size, b.instance.config, settings, path,
                      NULL, d);
        status = diagnostics_errors(d) > 0 ? OSAFL_E_CONFIG : make_instance(&b, &core_host, d);
        if (status == OSAFL_OK)
            status = time_all(&b, d);
        if (status != OSAFL_OK && diagnostics_errors(d) == 0)
            diagnostics_error(d, NULL, 0, "model/%s: %s", p->name,
                              b.error.text[0] != '\0' ? b.error.text : "out of memory");
        instance_destroy(&b.instance);
    }
    for (unsigned t = 0; t < o->threads && b.worker != NULL; t++)
        free_worker(&b.worker[t]);
    free(b.worker);
    free(b.instance.config);
    return status;
}

/* The last part of a path, without ".cfg". */
static void name_file(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(name, size, "%s", slash != NULL ? slash + 1 : path);
    char *end = strstr(name, ".cfg");
    if (end != NULL)
        *end = '\0';
}

/* The plugin that the group `model` of a file names, with its settings. */
static osafl_status bench_file(struct loader *l, const char *file, const struct bench_options *o,
                               struct bench_result *out, struct diagnostics *d)
{
    struct experiment_tree *t = tree_read_file(file, d);
    if (t == NULL)
        return OSAFL_E_CONFIG;
    const struct node *model = node_child(tree_root(t), "model");
    const struct node *plugin = node_child(model, "plugin");
    osafl_status status = OSAFL_E_CONFIG;
    if (plugin == NULL || plugin->type != NODE_TEXT) {
        diagnostics_error(d, file, 0,
                          "has no model.plugin; write model: { plugin = \"network\"; ... };");
    } else {
        const char *name = plugin->value.text;
        const struct loaded_plugin *loaded =
            loader_load(l, OSAFL_KIND_MODEL, name, d, plugin->file, plugin->line);
        if (loaded != NULL)
            status = bench_plugin(loaded->plugin, node_child(model, name), o, out, d);
    }
    tree_destroy(t);
    return status;
}

osafl_status bench_model(struct loader *l, const char *model, const struct bench_options *o,
                         struct bench_result *out, struct diagnostics *d)
{
    *out = (struct bench_result){.parameters = 0};
    name_file(model, out->name, sizeof out->name);
    if (strchr(model, '/') != NULL || strstr(model, ".cfg") != NULL)
        return bench_file(l, model, o, out, d);
    const struct loaded_plugin *loaded = loader_load(l, OSAFL_KIND_MODEL, model, d, NULL, 0);
    return loaded != NULL ? bench_plugin(loaded->plugin, NULL, o, out, d) : OSAFL_E_CONFIG;
}

/* ---- the measure of speed ---- */

/* cblas_sgemm, of which the core knows no header: enumerations are int. */
typedef void sgemm_function(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                            const float *a, int lda, const float *b, int ldb, float beta, float *c,
                            int ldc);

double bench_gemm_peak(void)
{
    enum { N = 512, REPEATS = 20, ROW_MAJOR = 101, NO_TRANS = 111 };
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    void *symbol = library != NULL ? dlsym(library, "cblas_sgemm") : NULL;
    float *m = memory_zeroed(3 * N * N, sizeof *m, WORKSPACE_ALIGNMENT);
    double least = 0;
    if (symbol != NULL && m != NULL) {
        sgemm_function *sgemm;
        memcpy(&sgemm, &symbol, sizeof sgemm);
        for (size_t i = 0; i < 2 * N * N; i++)
            m[i] = (float)(i % 7) - 3;
        for (int i = 0; i < REPEATS; i++) {
            const double start = seconds(CLOCK_THREAD_CPUTIME_ID);
            sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, N, N, N, 1, m, N, m + N * N, N, 0, m + 2 * N * N,
                  N);
            const double spent = seconds(CLOCK_THREAD_CPUTIME_ID) - start;
            least = least == 0 || spent < least ? spent : least;
        }
    }
    memory_free(m);
    if (library != NULL)
        dlclose(library);
    return least > 0 ? 2.0 * N * N * N / least : 0;
}
