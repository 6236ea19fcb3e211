/* plugin_host.c - the core's side of osafl/host.h. */
#include "plugin_host.h"

#include <assert.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/streams.h"
#include "cpu.h"
#include "kinds.h"
#include "pool.h"
#include "process_watch.h"

#define SCRATCH_ALIGNMENT 64

static _Thread_local struct osafl_call *current_call;
static _Thread_local const struct instance *current_operation;
static _Thread_local atomic_uint_fast64_t counter;

/* ---- what a plugin must leave alone ------------------------------------------------------- */

void process_state_read(struct process_state *s)
{
    s->fp_mode = cpu_fp_mode();
    s->thread_locale = uselocale((locale_t)0);
    s->numeric_locale = setlocale(LC_NUMERIC, NULL);
}

const char *process_state_restore(const struct process_state *before)
{
    struct process_state now;
    process_state_read(&now);
    if (now.fp_mode != before->fp_mode) {
        fesetenv(FE_DFL_ENV);
        return "the floating-point environment (rounding, exceptions or flush-to-zero)";
    }
    if (now.thread_locale != before->thread_locale ||
        now.numeric_locale != before->numeric_locale) {
        uselocale(LC_GLOBAL_LOCALE);
        setlocale(LC_ALL, "C");
        return "the locale";
    }
    return NULL;
}

/* ---- messages ------------------------------------------------------------------------------ */

int call_describe(const struct osafl_call *c, char *out, size_t size)
{
    const osafl_plugin *p = c->instance->plugin;
    const char *kind = kind_name(p->kind);
    char round[32] = "";
    char client[32] = "";
    if (c->round != NO_ROUND)
        snprintf(round, sizeof round, ", round %u", (unsigned)c->round);
    if (c->client != OSAFL_NO_CLIENT)
        snprintf(client, sizeof client, ", client %u", (unsigned)c->client);
    return snprintf(out, size, "%s/%s%s%s", kind != NULL ? kind : "plugin", p->name, round, client);
}

/* Makes a text from a plugin fit for one line of a terminal, in place. */
static void make_one_line(char *text)
{
    for (char *at = text; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
    }
}

/* Formats into text, and marks what did not fit. */
static OSAFL_PRINTF(3, 0) void format_text(char *text, size_t size, const char *fmt, va_list args)
{
    static const char mark[] = "...";
    const int length = vsnprintf(text, size, fmt, args);
    if (length < 0)
        snprintf(text, size, "(a message that could not be formatted)");
    else if ((size_t)length >= size)
        memcpy(text + size - sizeof mark, mark, sizeof mark);
    make_one_line(text);
}

static void log_line(const struct osafl_call *c, int32_t level, const char *text)
{
    static const char *const names[] = {
        [OSAFL_LOG_DEBUG] = "debug",
        [OSAFL_LOG_INFO] = "info",
        [OSAFL_LOG_WARN] = "warning",
        [OSAFL_LOG_ERROR] = "error",
    };
    const struct host_context *context = c->instance->context;
    if (level < OSAFL_LOG_DEBUG || level > OSAFL_LOG_ERROR)
        level = OSAFL_LOG_WARN; /* a level of a newer interface: rather seen than lost */
    if (level < context->log_level)
        return;
    char where[256];
    char line[ERROR_BYTES + 512];
    call_describe(c, where, sizeof where);
    const time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    snprintf(line, sizeof line, "%02d:%02d:%02d %s: %s: %s", local.tm_hour, local.tm_min,
             local.tm_sec, names[level], where, text);
    if (context->log != NULL)
        context->log(context->log_arg, level, line);
    else
        fprintf(stderr, "%s\n", line);
}

static OSAFL_PRINTF(3, 4) osafl_status
    host_fail(osafl_call *c, osafl_status code, const char *fmt, ...)
{
    char text[ERROR_BYTES];
    va_list args;
    va_start(args, fmt);
    format_text(text, sizeof text, fmt, args);
    va_end(args);
    /* fail(OSAFL_OK) or a code of a newer interface is the plugin's mistake, and no success. */
    if (code >= OSAFL_OK || code < OSAFL_E_BUG)
        code = OSAFL_E_BUG;
    if (c->status == OSAFL_OK) {
        c->status = code;
        memcpy(c->error.text, text, sizeof text);
    } else {
        log_line(c, OSAFL_LOG_ERROR, text);
    }
    return code;
}

static OSAFL_PRINTF(3, 4) void host_log(osafl_call *c, int32_t level, const char *fmt, ...)
{
    if (level < c->instance->context->log_level)
        return;
    char text[ERROR_BYTES];
    va_list args;
    va_start(args, fmt);
    format_text(text, sizeof text, fmt, args);
    va_end(args);
    log_line(c, level, text);
}

/* A breach that has no status to report it by: the whole call fails. */
static OSAFL_PRINTF(2, 3) void report_misuse(osafl_call *c, const char *fmt, ...)
{
    char text[ERROR_BYTES];
    va_list args;
    va_start(args, fmt);
    format_text(text, sizeof text, fmt, args);
    va_end(args);
    host_fail(c, OSAFL_E_BUG, "%s", text);
    c->misused = true;
}

static void host_metric(osafl_call *c, uint32_t metric, uint32_t client, double value)
{
    const struct instance *i = c->instance;
    if (metric >= i->plugin->n_metrics) {
        report_misuse(c, "metric number %u does not exist: the plugin declares %u",
                      (unsigned)metric, (unsigned)i->plugin->n_metrics);
        return;
    }
    const osafl_metric *declared =
        OSAFL_AT(osafl_metric, i->plugin->metrics, i->plugin->metric_size, metric);
    if ((declared->scope == OSAFL_PER_CLIENT) != (client != OSAFL_NO_CLIENT)) {
        report_misuse(c, "metric %s is declared per %s and was reported %s a client",
                      declared->name, declared->scope == OSAFL_PER_CLIENT ? "client" : "round",
                      client != OSAFL_NO_CLIENT ? "for" : "without");
        return;
    }
    if (c->in_parallel) {
        report_misuse(c, "metric %s was reported from inside parallel()", declared->name);
        return;
    }
    if (i->metric != NULL)
        i->metric(i->metric_arg, metric, client, value);
}

/* ---- memory, randomness ------------------------------------------------------------------- */

/* Head of a block of scratch memory; the aligned part follows somewhere behind it, and ends with a
 * guard, so that a plugin that writes too far is named before somebody else falls over it. */
struct scratch_block {
    uint64_t mark; /* SCRATCH_MARK: nobody has written over this head */
    struct scratch_block *next;
    unsigned char *data;
    size_t bytes; /* of data, without the guard */
};
#define SCRATCH_MARK UINT64_C(0x6f7361666c736372)
#define SCRATCH_GUARD 0xc9
#define SCRATCH_GUARD_BYTES 64

static void *host_scratch(osafl_call *c, uint64_t bytes)
{
    const size_t overhead = sizeof(struct scratch_block) + SCRATCH_ALIGNMENT + SCRATCH_GUARD_BYTES;
    /* calloc() and not memset(): large blocks come as pages that the kernel zeroes on first use. */
    struct scratch_block *block = NULL;
    if (bytes <= (uint64_t)PTRDIFF_MAX - overhead)
        block = calloc(1, (size_t)bytes + overhead);
    if (block == NULL) {
        host_fail(c, OSAFL_E_NOMEM, "out of memory: %llu bytes of scratch memory were asked for",
                  (unsigned long long)bytes);
        return NULL;
    }
    unsigned char *behind = (unsigned char *)(block + 1);
    const uintptr_t excess = (uintptr_t)behind % SCRATCH_ALIGNMENT;
    *block =
        (struct scratch_block){.mark = SCRATCH_MARK,
                               .next = c->scratch,
                               .data = behind + (SCRATCH_ALIGNMENT - excess) % SCRATCH_ALIGNMENT,
                               .bytes = (size_t)bytes};
    memset(block->data + block->bytes, SCRATCH_GUARD, SCRATCH_GUARD_BYTES);
    c->scratch = block;
    return block->data;
}

/* False: somebody wrote beyond the end of a block, and the call has failed. */
static bool scratch_is_whole(osafl_call *c)
{
    unsigned char guard[SCRATCH_GUARD_BYTES];
    memset(guard, SCRATCH_GUARD, sizeof guard);
    for (const struct scratch_block *b = c->scratch; b != NULL; b = b->next) {
        if (b->mark != SCRATCH_MARK) {
            report_misuse(c, "the plugin wrote outside its scratch memory (rule R17)");
            return false;
        }
        if (memcmp(b->data + b->bytes, guard, sizeof guard) != 0) {
            report_misuse(
                c, "the plugin wrote beyond the end of scratch memory of %zu bytes (rule R17)",
                b->bytes);
            return false;
        }
    }
    return true;
}

static void host_random_fill(osafl_call *c, uint32_t purpose, uint32_t client, uint32_t round,
                             uint64_t index, uint32_t *out, uint64_t n)
{
    const struct instance *i = c->instance;
    uint32_t stream_kind;
    uint32_t stream_purpose;
    kind_stream(i->plugin->kind, purpose, &stream_kind, &stream_purpose);
    streams_fill(i->context->seed, stream_kind, stream_purpose, client, round, index, out, n);
}

/* ---- parallel loops ----------------------------------------------------------------------- */

struct parallel_loop {
    osafl_call *call;
    osafl_body *body;
    void *arg;
    pthread_mutex_t lock;  /* guards what follows */
    uint64_t failed_begin; /* of the failed chunk with the lowest index so far */
    osafl_status status;
    bool misused;
    struct error error;
};

static osafl_status run_chunk(void *arg, uint64_t begin, uint64_t end, unsigned worker)
{
    (void)worker;
    struct parallel_loop *loop = arg;
    osafl_call sub;
    call_begin(&sub, loop->call->instance, loop->call->client, loop->call->round);
    sub.in_parallel = true;
    const osafl_status status = call_end(&sub, loop->body(loop->arg, begin, end, &sub));
    if (status != OSAFL_OK) {
        pthread_mutex_lock(&loop->lock);
        if (loop->status == OSAFL_OK || begin < loop->failed_begin) {
            loop->failed_begin = begin;
            loop->status = status;
            loop->misused = sub.misused;
            loop->error = sub.error;
        }
        pthread_mutex_unlock(&loop->lock);
    }
    return status;
}

static osafl_status host_parallel(osafl_call *c, uint64_t n, uint64_t grain, osafl_body *body,
                                  void *arg)
{
    if (c->in_parallel)
        return host_fail(c, OSAFL_E_BUG, "parallel() was called from inside parallel()");
    if (grain == 0)
        return host_fail(c, OSAFL_E_BUG, "parallel() was called with chunks of 0 elements");
    struct parallel_loop loop = {.call = c, .body = body, .arg = arg};
    pthread_mutex_init(&loop.lock, NULL);
    struct pool *pool = c->instance->context->pool;
    osafl_status status = OSAFL_OK;
    if (pool != NULL) {
        status = pool_run(pool, n, grain, run_chunk, &loop);
    } else {
        for (uint64_t begin = 0; begin < n && status == OSAFL_OK;) {
            const uint64_t end = n - begin < grain ? n : begin + grain;
            status = run_chunk(&loop, begin, end, 0);
            begin = end;
        }
    }
    pthread_mutex_destroy(&loop.lock);
    if (loop.status != OSAFL_OK) {
        c->misused = c->misused || loop.misused;
        return host_fail(c, loop.status, "%s", loop.error.text);
    }
    if (status != OSAFL_OK) /* the pool itself refused */
        return host_fail(c, OSAFL_E_BUG, "parallel() was called from a worker of the pool");
    return OSAFL_OK;
}

static bool host_cancelled(osafl_call *c)
{
    const atomic_int *cancelled = c->instance->context->cancelled;
    return cancelled != NULL && atomic_load_explicit(cancelled, memory_order_relaxed) != 0;
}

static void record_layer(osafl_call *c, const osafl_layer *layer)
{
    const struct host_context *context = c->instance->context;
    if (context->layer != NULL)
        context->layer(context->layer_arg, layer);
}

static const osafl_layers layers = {.struct_size = sizeof layers, .record = record_layer};

static void record_fact(osafl_call *c, const osafl_fact *fact)
{
    const struct host_context *context = c->instance->context;
    if (context->fact != NULL)
        context->fact(context->fact_arg, fact);
}

static const osafl_preparation preparation = {.struct_size = sizeof preparation,
                                              .record = record_fact};

static const void *host_extension(const struct osafl_host *h, const char *id)
{
    (void)h;
    if (strcmp(id, OSAFL_LAYERS_ID) == 0)
        return &layers;
    return strcmp(id, OSAFL_PREPARATION_ID) == 0 ? &preparation : NULL;
}

const osafl_host core_host = {
    .struct_size = sizeof(osafl_host),
    .abi_major = OSAFL_ABI_MAJOR,
    .abi_minor = OSAFL_ABI_MINOR,
    .name = "osafl",
    .version = OSAFL_VERSION,
    .fail = host_fail,
    .log = host_log,
    .metric = host_metric,
    .scratch = host_scratch,
    .random_fill = host_random_fill,
    .parallel = host_parallel,
    .cancelled = host_cancelled,
    .extension = host_extension,
};

/* ---- calls and instances ------------------------------------------------------------------ */

/* Only the thread itself writes its counter; the watchdog reads it. */
static void count_passage(void)
{
    const uint_fast64_t n = atomic_load_explicit(&counter, memory_order_relaxed);
    atomic_store_explicit(&counter, n + 1, memory_order_relaxed);
}

const atomic_uint_fast64_t *call_counter(void)
{
    return &counter;
}

const struct instance *operation_begin(const struct instance *i)
{
    const struct instance *before = current_operation;
    if (before == NULL && current_call == NULL)
        count_passage();
    if (current_call != NULL)
        current_call->helper = i;
    current_operation = i;
    return before;
}

void operation_end(const struct instance *before)
{
    current_operation = before;
    if (before == NULL && current_call == NULL)
        count_passage();
}

const struct instance *operation_current(void)
{
    return current_operation;
}

void call_begin(struct osafl_call *c, const struct instance *i, uint32_t client, uint32_t round)
{
    if (current_call == NULL && current_operation == NULL)
        count_passage();
    c->outer_operation = current_operation;
    c->helper = NULL;
    current_operation = NULL;
    /* Member by member: clearing the whole text would cost more than most calls. */
    c->host = &core_host;
    c->instance = i;
    c->client = client;
    c->round = round;
    c->status = OSAFL_OK;
    c->in_parallel = false;
    c->misused = false;
    c->scratch = NULL;
    c->error.text[0] = '\0';
    process_state_read(&c->state);
    c->outer = current_call;
    current_call = c;
}

static const char *status_text(osafl_status status)
{
    switch (status) {
#define OSAFL_X(name, code, text)                                                                  \
    case name:                                                                                     \
        return text;
        OSAFL_STATUS_LIST(OSAFL_X)
#undef OSAFL_X
    default:
        return "a status that this program does not know";
    }
}

const char *status_name(osafl_status status)
{
    switch (status) {
#define OSAFL_X(name, code, text)                                                                  \
    case name:                                                                                     \
        return #name;
        OSAFL_STATUS_LIST(OSAFL_X)
#undef OSAFL_X
    default:
        return "an unknown status";
    }
}

/* Releases the scratch memory of the call.  Returns its status, which has a message if it is a
 * failure. */
static osafl_status conclude(struct osafl_call *c, osafl_status status)
{
    /* What was overwritten may be anybody's: such blocks are not given back. */
    struct scratch_block *block = scratch_is_whole(c) ? c->scratch : NULL;
    if (c->misused)
        status = OSAFL_E_BUG;
    if (status > OSAFL_OK || status < OSAFL_E_BUG) {
        host_fail(c, OSAFL_E_BUG, "the plugin returned the unknown status %d", (int)status);
        status = OSAFL_E_BUG;
    }
    if (status != OSAFL_OK && c->error.text[0] == '\0')
        snprintf(c->error.text, sizeof c->error.text, "%s (the plugin gave no message)",
                 status_text(status));
    while (block != NULL) {
        struct scratch_block *next = block->next;
        free(block);
        block = next;
    }
    c->scratch = NULL;
    return status;
}

struct loan call_lend(struct osafl_call *c, const struct instance *borrower)
{
    const struct loan loan = {.lender = c->instance,
                              .operation = operation_begin(borrower),
                              .scratch = c->scratch,
                              .had_failed = c->error.text[0] != '\0'};
    c->instance = borrower;
    c->scratch = NULL;
    return loan;
}

osafl_status call_take_back(struct osafl_call *c, const struct loan *loan, osafl_status status)
{
    const osafl_plugin *p = c->instance->plugin;
    if (status != OSAFL_OK || c->scratch != NULL || c->misused)
        status = conclude(c, status);
    if (status != OSAFL_OK && !loan->had_failed && c->instance != loan->lender) {
        const struct error inner = c->error;
        error_set(&c->error, status, "%s/%s: %s", kind_name(p->kind), p->name, inner.text);
    }
    c->instance = loan->lender;
    c->scratch = loan->scratch;
    operation_end(loan->operation);
    return status;
}

osafl_status call_end(struct osafl_call *c, osafl_status status)
{
    assert(current_call == c);
    const char *changed = process_state_restore(&c->state);
    if (changed != NULL && c->helper == NULL)
        report_misuse(c, "the plugin changed %s, which belongs to the whole program (rule R9)",
                      changed);
    else if (changed != NULL)
        report_misuse(c,
                      "the plugin, or %s/%s that worked for it, changed %s, which belongs to the "
                      "whole program (rule R9)",
                      kind_name(c->helper->plugin->kind), c->helper->plugin->name, changed);
    status = conclude(c, status);
    current_call = c->outer;
    current_operation = c->outer_operation;
    if (current_call == NULL && current_operation == NULL)
        count_passage();
    return status;
}

void call_pause(const struct osafl_call *c)
{
    assert(current_call == c && current_operation == NULL);
    current_call = c->outer;
    current_operation = c->outer_operation;
    if (current_call == NULL && current_operation == NULL)
        count_passage();
}

void call_resume(struct osafl_call *c)
{
    assert(current_call == c->outer && current_operation == c->outer_operation);
    if (current_call == NULL && current_operation == NULL)
        count_passage();
    current_operation = NULL;
    current_call = c;
}

const struct osafl_call *call_current(void)
{
    return current_call;
}

osafl_status instance_check(struct instance *i, struct error *error)
{
    error->text[0] = '\0';
    const osafl_lifecycle *life = i->plugin->vtable;
    if (life->check == NULL)
        return OSAFL_OK;
    osafl_call c;
    call_begin(&c, i, OSAFL_NO_CLIENT, NO_ROUND);
    const osafl_status status = call_end(&c, life->check(i->host, &c, i->config));
    *error = c.error;
    return status;
}

osafl_status instance_create(struct instance *i, const osafl_facts *facts, struct error *error)
{
    i->self = NULL;
    i->created = false;
    OSAFL_TRY(instance_check(i, error));
    const osafl_lifecycle *life = i->plugin->vtable;
    if (life->create == NULL) {
        i->self = i->config;
        return OSAFL_OK;
    }
    osafl_call c;
    void *self = NULL;
    struct process_watch watch;
    call_begin(&c, i, OSAFL_NO_CLIENT, NO_ROUND);
    process_watch_begin(&watch);
    const osafl_status returned = life->create(i->host, &c, facts, i->config, &self);
    const char *changed = process_watch_end(&watch);
    if (changed != NULL)
        report_misuse(&c, "the plugin changed %s, which belongs to the whole program (rule R9)",
                      changed);
    const osafl_status status = call_end(&c, returned);
    *error = c.error;
    if (status != OSAFL_OK) {
        /* create() itself succeeded and was refused afterwards: it still gets its destroy(). */
        if (returned == OSAFL_OK)
            life->destroy(self);
        return status;
    }
    i->self = self;
    i->created = true;
    return OSAFL_OK;
}

void instance_destroy(struct instance *i)
{
    if (!i->created)
        return;
    const osafl_lifecycle *life = i->plugin->vtable;
    /* destroy() has no call of its own; this one only names the plugin if it crashes. */
    osafl_call c;
    call_begin(&c, i, OSAFL_NO_CLIENT, NO_ROUND);
    life->destroy(i->self);
    (void)call_end(&c, OSAFL_OK);
    i->self = NULL;
    i->created = false;
}

const void *instance_extension(const struct instance *i, const char *id)
{
    if (i->plugin->vtable->extension == NULL)
        return NULL;
    const struct instance *before = operation_begin(i);
    const void *table = i->plugin->vtable->extension(i->self, id);
    operation_end(before);
    return table;
}

bool plugin_has_feature(const osafl_plugin *p, const char *feature)
{
    if (p->features == NULL)
        return false;
    for (const char *const *at = p->features; *at != NULL; at++) {
        if (strcmp(*at, feature) == 0)
            return true;
    }
    return false;
}

osafl_status call_end_named(struct osafl_call *c, osafl_status status, struct error *error)
{
    char where[256];
    status = call_end(c, status);
    if (status == OSAFL_OK)
        return OSAFL_OK;
    call_describe(c, where, sizeof where);
    return error_set(error, status, "%s: %s", where, c->error.text);
}
