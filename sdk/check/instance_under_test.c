/* instance_under_test.c - a plugin at work. */
#include "instance_under_test.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance.h"
#include "plugin/loader.h"
#include "plugin_allocations.h"

const struct trial_world usual_world = {
    .seed = 1,
    .clients = 7,
    .dim = 131,
    .batch = 2,
    .scale = 1.0,
    .data = {.struct_size = sizeof(osafl_dataset_info),
             .rank = 3,
             .shape = {1, 28, 28},
             .x_type = OSAFL_X_FLOAT,
             .target_type = OSAFL_TARGET_CLASS,
             .target_size = TRIAL_LABELS,
             .labels = TRIAL_LABELS,
             .n_train = 1000,
             .n_test = 100},
};

/* One label has no sample. */
static const double trial_share[TRIAL_LABELS] = {0.3, 0.2, 0.1, 0.4, 0.0};

static const struct kind_calls *const benches[] = {
    &dataset_calls,   &model_calls,     &channel_calls,    &resource_calls,  &optimizer_calls,
    &quantizer_calls, &deletion_calls,  &aggregator_calls, &partition_calls, &drift_calls,
    &arrival_calls,   &selection_calls, &filter_calls,
};

const struct kind_calls *calls_of_kind(uint32_t kind)
{
    for (size_t i = 0; i < sizeof benches / sizeof benches[0]; i++) {
        if (benches[i]->kind == kind)
            return benches[i];
    }
    /* Kinds without a trial are created and described, and nothing more. */
    static const struct kind_calls none = {0};
    return &none;
}

bool workers_call(const osafl_plugin *p)
{
    const struct kind_calls *calls = calls_of_kind(p->kind);
    return calls->tasks > 0 &&
           (calls->worker_feature == NULL || plugin_has_feature(p, calls->worker_feature));
}

/* ---- calls --------------------------------------------------------------------------------- */

/* The caller whose call the thread is in: scratch memory comes from its buffers. */
static _Thread_local struct caller *current_caller;

/* The program's own scratch memory, but it can be refused, and be guarded. */
static void *trial_scratch(osafl_call *c, uint64_t bytes)
{
    if (!allocations_allow()) {
        core_host.fail(c, OSAFL_E_NOMEM, "out of memory (as the check wants it)");
        return NULL;
    }
    struct caller *t = current_caller;
    if (t == NULL || c != &t->call || !t->arena.guarded)
        return core_host.scratch(c, bytes);
    return arena_inout(&t->arena, "scratch memory", NULL, bytes, 1, 64);
}

osafl_call *caller_begin(struct caller *t, const char *operation, uint32_t client)
{
    snprintf(t->doing, sizeof t->doing, "%s", operation);
    conform_doing(operation);
    call_begin(&t->call, &t->tested->instance, client, t->round);
    current_caller = t;
    return &t->call;
}

osafl_status caller_end(struct caller *t, osafl_status status)
{
    current_caller = NULL;
    const osafl_status result = call_end(&t->call, status);
    memcpy(t->error.text, t->call.error.text, sizeof t->error.text);
    return result;
}

void caller_fail(const struct caller *t, const char *fmt, ...)
{
    char text[600];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    conform_fail(t->tested->conform, "in %s, round %u: %s", t->doing, (unsigned)t->round, text);
}

struct caller caller_open(struct instance_under_test *s)
{
    return (struct caller){.tested = s, .arena = {.guarded = s->guarded, .fill = s->fill}};
}

void caller_close(struct caller *t)
{
    arena_clear(&t->arena);
    transcript_free(&t->transcript);
}

void trial_floats(const struct instance_under_test *s, uint32_t a, uint32_t b, double scale,
                  float *x, uint64_t n)
{
    struct draws d = {
        .seed = s->conform->seed, .purpose = 2, .index = (uint64_t)a << 52 ^ (uint64_t)b << 40};
    for (uint64_t i = 0; i < n; i++)
        x[i] = (float)(scale * s->world.scale * draw_normal(&d));
}

/* ---- instances ----------------------------------------------------------------------------- */

/* "metric step_norm", of the one plugin that a process tries. */
static const char *metric_label(const osafl_plugin *p, uint32_t metric)
{
    static char label[64][80];
    if (metric >= sizeof label / sizeof label[0])
        return "a metric";
    snprintf(label[metric], sizeof label[metric], "metric %s",
             OSAFL_AT(osafl_metric, p->metrics, p->metric_size, metric)->name);
    return label[metric];
}

/* Metrics are answers too; one that is not a number stands for a value that is not known. */
static void note_metric(void *arg, uint32_t metric, uint32_t client, double value)
{
    (void)arg;
    struct caller *t = current_caller;
    if (t == NULL)
        return;
    if (t->in_task && client == OSAFL_NO_CLIENT)
        caller_fail(t, "%s is reported for the round, and workers report metrics per client only",
                    metric_label(t->tested->conform->plugin, metric));
    transcript_bytes(&t->transcript, "the client of a metric", t->round, metric, &client,
                     sizeof client);
    transcript_bytes(&t->transcript, metric_label(t->tested->conform->plugin, metric), t->round,
                     metric, &value, sizeof value);
}

static void ignore_log(void *arg, int32_t level, const char *line)
{
    (void)arg;
    (void)level;
    (void)line;
}

/* The largest divisor of n up to its root. */
static uint64_t divisor(uint64_t n)
{
    uint64_t best = 1;
    for (uint64_t d = 2; d * d <= n; d++) {
        if (n % d == 0)
            best = d;
    }
    return best;
}

/* Up to three tensors that tile dim parameters: a matrix, a bias, filters. */
static void make_model(struct instance_under_test *s)
{
    static const char *const names[] = {"first.weight", "first.bias", "second.weight"};
    static const uint32_t ranks[] = {2, 1, 4};
    const uint64_t dim = s->world.dim;
    const uint64_t size[3] = {dim < 3 ? dim : dim / 2, dim < 3 ? 0 : 1,
                              dim < 3 ? 0 : dim - dim / 2 - 1};
    uint64_t offset = 0;
    uint32_t n = 0;
    for (unsigned i = 0; i < 3 && size[i] > 0; i++) {
        const uint64_t rows = ranks[i] == 1 ? size[i] : divisor(size[i]);
        s->tensor[n++] = (osafl_tensor){.name = names[i],
                                        .offset = offset,
                                        .size = size[i],
                                        .shape = {rows, size[i] / rows, 1, 1},
                                        .rank = ranks[i]};
        offset += size[i];
    }
    s->model = (osafl_model_info){.struct_size = sizeof s->model,
                                  .n_tensors = n,
                                  .n_parameters = dim,
                                  .tensors = s->tensor,
                                  .tensor_size = sizeof(osafl_tensor)};
}

static void make_facts(struct instance_under_test *s)
{
    const uint32_t kind = s->conform->plugin->kind;
    make_model(s);
    s->facts = (osafl_facts){.struct_size = sizeof s->facts,
                             .clients = s->world.clients,
                             .rounds = TRIAL_ROUNDS,
                             .batch = 4,
                             .cost_steps = 8,
                             .max_local_rounds = 5,
                             .deadline_s = 10.0};
    if (kind != OSAFL_KIND_DATASET)
        s->facts.dataset = &s->world.data;
    if (kind != OSAFL_KIND_DATASET && s->world.data.labels == TRIAL_LABELS)
        s->facts.label_share = trial_share;
    if (kind != OSAFL_KIND_DATASET && kind != OSAFL_KIND_MODEL) {
        s->facts.model = &s->model;
        s->facts.dim = s->world.dim;
    }
}

static void fill_in(struct instance_under_test *s, struct conform *c,
                    const struct trial_world *world, const struct trial_settings *settings)
{
    *s = (struct instance_under_test){
        .conform = c,
        .calls = calls_of_kind(c->plugin->kind),
        .context = {.seed = world->seed, .log_level = OSAFL_LOG_ERROR, .log = ignore_log},
        .world = *world,
        .settings = *settings,
        .host = core_host};
    s->host.scratch = trial_scratch;
    s->instance = (struct instance){.plugin = c->plugin,
                                    .host = &s->host,
                                    .context = &s->context,
                                    .config = settings->config,
                                    .metric = note_metric};
    make_facts(s);
}

osafl_status under_test_create(struct instance_under_test *s, struct conform *c,
                               const struct trial_world *world,
                               const struct trial_settings *settings)
{
    fill_in(s, c, world, settings);
    snprintf(s->doing, sizeof s->doing, "create()");
    conform_doing(s->doing);
    return instance_create(&s->instance, &s->facts, &s->error);
}

/* Samples for models that refuse the usual ones. */
static const struct trial_samples usual_samples[] = {
    {3, {1, 28, 28}, OSAFL_X_FLOAT, OSAFL_TARGET_CLASS, TRIAL_LABELS},
    {3, {3, 32, 32}, OSAFL_X_FLOAT, OSAFL_TARGET_CLASS, TRIAL_LABELS},
    {1, {12}, OSAFL_X_FLOAT, OSAFL_TARGET_CLASS, TRIAL_LABELS},
    {3, {3, 224, 224}, OSAFL_X_FLOAT, OSAFL_TARGET_CLASS, TRIAL_LABELS},
    {1, {12}, OSAFL_X_FLOAT, OSAFL_TARGET_REAL, 2},
    {3, {1, 28, 28}, OSAFL_X_FLOAT, OSAFL_TARGET_REAL, 2},
    {1, {12}, OSAFL_X_INT32, OSAFL_TARGET_CLASS, TRIAL_LABELS},
};

static void take_samples(struct trial_world *world, const struct trial_samples *x)
{
    world->data.rank = x->rank;
    memcpy(world->data.shape, x->shape, sizeof world->data.shape);
    world->data.x_type = x->x_type;
    world->data.target_type = x->target_type;
    world->data.target_size = x->target_size;
    /* Of real targets, samples still have a label by which they can be dealt out. */
    world->data.labels =
        x->target_type == OSAFL_TARGET_CLASS ? x->target_size : usual_world.data.labels;
}

struct trial_world world_for(struct conform *c)
{
    struct trial_world world = usual_world;
    char why[ERROR_BYTES] = "";
    if (c->plugin->kind != OSAFL_KIND_MODEL)
        return world;
    const struct trial_settings settings = settings_default(c);
    const struct trial_samples *samples = c->samples != NULL ? c->samples : usual_samples;
    const size_t n = c->samples != NULL ? 1 : sizeof usual_samples / sizeof usual_samples[0];
    for (size_t i = 0; i < n; i++) {
        struct instance_under_test s;
        take_samples(&world, &samples[i]);
        const osafl_status status = under_test_create(&s, c, &world, &settings);
        under_test_close(&s);
        if (status == OSAFL_OK)
            return world;
        if (i == 0)
            memcpy(why, s.error.text, sizeof why);
    }
    conform_fail(c, "create() accepts no samples that are tried%s: %s",
                 c->samples != NULL ? "" : ", of which --shape and --target choose others", why);
}

/* What the host asks once. */
static osafl_status begin_use(struct instance_under_test *s, struct transcript *t)
{
    s->kept = calloc(1, s->calls->kept_bytes + 1);
    if (s->kept == NULL)
        _exit(70);
    if (s->calls->begin == NULL)
        return OSAFL_OK;
    struct caller caller = caller_open(s);
    const osafl_status begun = s->calls->begin(s, &caller);
    memcpy(s->doing, caller.doing, sizeof s->doing);
    memcpy(s->error.text, caller.error.text, sizeof s->error.text);
    transcript_append(t, &caller.transcript);
    caller_close(&caller);
    return begun;
}

static void end_use(struct instance_under_test *s)
{
    if (s->kept != NULL && s->calls->free_kept != NULL)
        s->calls->free_kept(s);
    free(s->kept);
    s->kept = NULL;
}

osafl_status under_test_begin_again(struct instance_under_test *s, struct transcript *t)
{
    end_use(s);
    return begin_use(s, t);
}

osafl_status under_test_open(struct instance_under_test *s, struct conform *c,
                             const struct trial_world *world, const struct trial_settings *settings,
                             bool guarded, unsigned char fill, struct transcript *t)
{
    fill_in(s, c, world, settings);
    s->guarded = guarded;
    s->fill = fill;
    s->config.guarded = guarded;
    if (guarded && settings->config != NULL) {
        s->instance.config =
            arena_inout(&s->config, "config", settings->config, c->plugin->config_size, 1, 64);
        arena_protect(&s->config, s->instance.config, true);
    }
    snprintf(s->doing, sizeof s->doing, "create()");
    conform_doing(s->doing);
    const osafl_status status = instance_create(&s->instance, &s->facts, &s->error);
    return status == OSAFL_OK ? begin_use(s, t) : status;
}

void under_test_close(struct instance_under_test *s)
{
    conform_doing("destroy()");
    instance_destroy(&s->instance);
    end_use(s);
    arena_clear(&s->config);
}

/* ---- playing ------------------------------------------------------------------------------- */

/* Work on one thread. */
struct shift {
    struct instance_under_test *tested;
    uint32_t round;
    unsigned first; /* does tasks first, first + stride, ... */
    unsigned stride;
    struct caller *takes;
    osafl_status *status;
};

static void do_task(struct instance_under_test *s, struct caller *t, osafl_status *status)
{
    *status = s->calls->task(s, t);
    const char *damage = arena_damage(&t->arena);
    if (damage != NULL)
        caller_fail(t, "%s", damage);
    arena_clear(&t->arena);
}

static void *work_shift(void *arg)
{
    struct shift *shift = arg;
    for (unsigned k = shift->first; k < shift->tested->calls->tasks; k += shift->stride)
        do_task(shift->tested, &shift->takes[k], &shift->status[k]);
    return NULL;
}

#define MOST_THREADS 16
#define MOST_TASKS 64

static void work_all(struct instance_under_test *s, uint32_t round, unsigned threads,
                     struct caller *takes, osafl_status *status)
{
    struct shift shift[MOST_THREADS];
    pthread_t thread[MOST_THREADS];
    const unsigned n = threads > 0 && threads < MOST_THREADS ? threads : 1;
    for (unsigned k = s->calls->tasks; threads == TRIAL_BACKWARDS && k-- > 0;)
        do_task(s, &takes[k], &status[k]);
    if (threads == TRIAL_BACKWARDS)
        return;
    for (unsigned i = 0; i < n; i++)
        shift[i] = (struct shift){s, round, i, n, takes, status};
    if (threads == 0) {
        work_shift(&shift[0]);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        if (pthread_create(&thread[i], NULL, work_shift, &shift[i]) != 0)
            _exit(70);
    }
    for (unsigned i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
}

/* Adds a caller's answers, and remembers how it failed. */
static osafl_status end_caller(struct instance_under_test *s, struct caller *caller,
                               osafl_status status, struct transcript *t)
{
    transcript_append(t, &caller->transcript);
    if (status != OSAFL_OK) {
        memcpy(s->doing, caller->doing, sizeof s->doing);
        memcpy(s->error.text, caller->error.text, sizeof s->error.text);
    }
    caller_close(caller);
    return status;
}

static osafl_status run_tasks(struct instance_under_test *s, uint32_t round, unsigned threads,
                              struct transcript *t)
{
    struct caller *takes = calloc(MOST_TASKS, sizeof *takes);
    osafl_status status[MOST_TASKS];
    osafl_status result = OSAFL_OK;
    if (takes == NULL)
        _exit(70);
    for (uint32_t k = 0; k < s->calls->tasks; k++) {
        takes[k] = caller_open(s);
        takes[k].round = round;
        takes[k].task = k;
        takes[k].in_task = workers_call(s->conform->plugin);
    }
    work_all(s, round, threads, takes, status);
    for (uint32_t k = 0; k < s->calls->tasks; k++) {
        const osafl_status one = end_caller(s, &takes[k], status[k], t);
        if (result == OSAFL_OK)
            result = one;
    }
    free(takes);
    return result;
}

osafl_status under_test_run(struct instance_under_test *s, uint32_t first, uint32_t end,
                            unsigned threads, struct transcript *t)
{
    for (uint32_t round = first; round < end; round++) {
        if (s->calls->round != NULL) {
            struct caller caller = caller_open(s);
            caller.round = round;
            const osafl_status status = s->calls->round(s, &caller);
            const char *damage = arena_damage(&caller.arena);
            if (damage != NULL)
                caller_fail(&caller, "%s", damage);
            OSAFL_TRY(end_caller(s, &caller, status, t));
        }
        if (s->calls->tasks > 0)
            OSAFL_TRY(run_tasks(s, round, threads, t));
    }
    return OSAFL_OK;
}

/* ---- verdicts ------------------------------------------------------------------------------ */

void under_test_fail(const struct instance_under_test *s, osafl_status status)
{
    const char *with = s->settings.text[0] != '\0' ? " with " : "";
    conform_fail(s->conform, "fails in %s%s%s with %s: %s", s->doing, with, s->settings.text,
                 status_name(status), s->error.text);
}

void under_test_must_open(struct instance_under_test *s, struct conform *c, struct transcript *t)
{
    if (c->plugin == NULL)
        conform_load(c);
    const struct trial_world world = world_for(c);
    const struct trial_settings settings = settings_default(c);
    const osafl_status status = under_test_open(s, c, &world, &settings, false, 0, t);
    if (status != OSAFL_OK)
        under_test_fail(s, status);
}

void under_test_must_run(struct instance_under_test *s, uint32_t first, uint32_t end,
                         struct transcript *t)
{
    const osafl_status status = under_test_run(s, first, end, 0, t);
    if (status != OSAFL_OK)
        under_test_fail(s, status);
}

void under_test_require_clean(const struct instance_under_test *s, osafl_status status,
                              const char *how)
{
    if (status == OSAFL_OK)
        return;
    if (status == OSAFL_E_BUG) /* either the plugin says that the host is wrong, or the other way */
        conform_fail(s->conform, "fails in %s %s with OSAFL_E_BUG: %s", s->doing, how,
                     s->error.text);
    if (strstr(s->error.text, "(the plugin gave no message)") != NULL)
        conform_fail(s->conform, "fails in %s %s with %s and without a message", s->doing, how,
                     status_name(status));
}
