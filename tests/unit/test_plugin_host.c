/* test_plugin_host.c - what a plugin sees through osafl/host.h.
 *
 * The plugins here are tables in this file; calls go through the host as a real one's would. */
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#undef fail /* a macro of cmocka in the way of host->fail */

#include "base/streams.h"
#include "osafl/deletion.h"
#include "plugin/plugin_host.h"
#include "plugin/plugin_state.h"
#include "plugin/pool.h"

static const osafl_metric metrics[] = {
    {.name = "speed", .doc = "How fast", .scope = OSAFL_PER_ROUND},
    {.name = "share", .doc = "How much", .scope = OSAFL_PER_CLIENT},
};

static int created;
static uint64_t memory; /* the plugin's state */
static osafl_status create_status;
static osafl_status check_status;

static osafl_status check(const osafl_host *h, osafl_call *c, const void *config)
{
    (void)config;
    return check_status == OSAFL_OK ? OSAFL_OK : h->fail(c, check_status, "check says no");
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)facts;
    (void)config;
    if (create_status != OSAFL_OK)
        return h->fail(c, create_status, "no luck with %d of %s", 3, "them");
    *self = &created;
    created++;
    return OSAFL_OK;
}

static void destroy(void *self)
{
    assert_ptr_equal(self, &created);
    created--;
}

static const char *save_key;

static osafl_status save(void *self, osafl_call *c, osafl_writer *w)
{
    (void)self;
    (void)c;
    (void)w->u64(w, save_key, &memory,
                 1); /* its answer is passed over, as a careless plugin does */
    return OSAFL_OK;
}

static osafl_status load(void *self, osafl_call *c, osafl_reader *r)
{
    (void)self;
    (void)c;
    return r->u64(r, "memory", &memory, 1);
}

static osafl_deletion_vt vtable = {
    .life = {.struct_size = sizeof(osafl_deletion_vt),
             .state_version = 1,
             .check = check,
             .create = create,
             .destroy = destroy,
             .save = save,
             .load = load},
};
static const char *const features[] = {"keeps_arrivals", NULL};
static const osafl_plugin plugin = {
    .kind = OSAFL_KIND_DELETION,
    .name = "sample",
    .features = features,
    .metrics = metrics,
    .n_metrics = 2,
    .metric_size = sizeof(osafl_metric),
    .vtable = &vtable.life,
};

/* ---- an instance, and what it reports ------------------------------------------------------ */

static char log_text[8192];
static struct {
    uint32_t metric, client;
    double value;
    int n;
} heard;

static void keep_log(void *arg, int32_t level, const char *line)
{
    (void)arg;
    (void)level;
    strncat(log_text, line, sizeof log_text - strlen(log_text) - 2);
    strcat(log_text, "\n");
}

static void keep_metric(void *arg, uint32_t metric, uint32_t client, double value)
{
    (void)arg;
    heard.metric = metric;
    heard.client = client;
    heard.value = value;
    heard.n++;
}

static struct host_context context;
static struct instance instance;

static int set_up(void **state)
{
    (void)state;
    context = (struct host_context){.seed = 77, .log_level = OSAFL_LOG_INFO, .log = keep_log};
    instance = (struct instance){
        .plugin = &plugin, .host = &core_host, .context = &context, .metric = keep_metric};
    log_text[0] = '\0';
    memset(&heard, 0, sizeof heard);
    created = 0;
    create_status = OSAFL_OK;
    check_status = OSAFL_OK;
    return 0;
}

/* ---- messages ------------------------------------------------------------------------------ */

static void test_first_message_is_kept(void **state)
{
    (void)state;
    osafl_call c;
    call_begin(&c, &instance, 5, 3);
    assert_ptr_equal(call_current(), &c);
    assert_int_equal(core_host.fail(&c, OSAFL_E_DATA, "bad byte %d", 7), OSAFL_E_DATA);
    assert_int_equal(core_host.fail(&c, OSAFL_E_IO, "second\nmessage"), OSAFL_E_IO);
    assert_int_equal(call_end(&c, OSAFL_E_IO), OSAFL_E_IO);
    assert_null(call_current());
    assert_string_equal(c.error.text, "bad byte 7");
    assert_int_equal(c.status, OSAFL_E_DATA);
    assert_non_null(strstr(log_text, " error: deletion/sample, round 3, client 5: second message"));
}

static void test_missing_and_odd_statuses(void **state)
{
    (void)state;
    osafl_call c;
    call_begin(&c, &instance, OSAFL_NO_CLIENT, NO_ROUND);
    assert_int_equal(call_end(&c, OSAFL_E_NUMERIC), OSAFL_E_NUMERIC);
    assert_string_equal(c.error.text,
                        "a value that must be finite was not (the plugin gave no message)");
    call_begin(&c, &instance, OSAFL_NO_CLIENT, NO_ROUND);
    assert_int_equal(call_end(&c, 12), OSAFL_E_BUG);
    assert_non_null(strstr(c.error.text, "unknown status 12"));
    call_begin(&c, &instance, OSAFL_NO_CLIENT, NO_ROUND);
    assert_int_equal(core_host.fail(&c, OSAFL_OK, "fine"), OSAFL_E_BUG);
    assert_int_equal(call_end(&c, OSAFL_OK), OSAFL_OK);
    call_begin(&c, &instance, OSAFL_NO_CLIENT, NO_ROUND);
    assert_int_equal(call_end(&c, OSAFL_OK), OSAFL_OK);
    assert_string_equal(c.error.text, "");
}

static void test_long_messages_are_cut(void **state)
{
    (void)state;
    char text[3 * ERROR_BYTES];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    osafl_call c;
    call_begin(&c, &instance, OSAFL_NO_CLIENT, NO_ROUND);
    core_host.fail(&c, OSAFL_E_DATA, "%s", text);
    call_end(&c, OSAFL_E_DATA);
    assert_int_equal(strlen(c.error.text), ERROR_BYTES - 1);
    assert_string_equal(c.error.text + ERROR_BYTES - 5, "x...");
}

static void test_log_levels(void **state)
{
    (void)state;
    osafl_call c;
    call_begin(&c, &instance, OSAFL_NO_CLIENT, NO_ROUND);
    core_host.log(&c, OSAFL_LOG_DEBUG, "not seen");
    core_host.log(&c, OSAFL_LOG_INFO, "seen %d", 1);
    core_host.log(&c, 99, "of a later interface");
    call_end(&c, OSAFL_OK);
    assert_null(strstr(log_text, "not seen"));
    assert_non_null(strstr(log_text, " info: deletion/sample: seen 1\n"));
    assert_non_null(strstr(log_text, " warning: deletion/sample: of a later interface\n"));
}

/* ---- metrics ------------------------------------------------------------------------------- */

static osafl_status report(uint32_t metric, uint32_t client, double value)
{
    osafl_call c;
    call_begin(&c, &instance, OSAFL_NO_CLIENT, 1);
    core_host.metric(&c, metric, client, value);
    return call_end(&c, OSAFL_OK);
}

static void test_metrics(void **state)
{
    (void)state;
    assert_int_equal(report(0, OSAFL_NO_CLIENT, 2.5), OSAFL_OK);
    assert_int_equal(heard.metric, 0);
    assert_true(heard.value == 2.5);
    assert_int_equal(report(1, 9, -1.0), OSAFL_OK);
    assert_int_equal(heard.client, 9);
    assert_int_equal(heard.n, 2);
    /* Wrong numbers and scopes fail the call, although metric() has no status. */
    assert_int_equal(report(2, OSAFL_NO_CLIENT, 0.0), OSAFL_E_BUG);
    assert_int_equal(report(0, 4, 0.0), OSAFL_E_BUG);
    assert_int_equal(report(1, OSAFL_NO_CLIENT, 0.0), OSAFL_E_BUG);
    assert_int_equal(heard.n, 2);
    instance.metric = NULL;
    assert_int_equal(report(0, OSAFL_NO_CLIENT, 2.5), OSAFL_OK);
}

/* ---- memory and randomness ----------------------------------------------------------------- */

static void test_scratch(void **state)
{
    (void)state;
    osafl_call c;
    call_begin(&c, &instance, OSAFL_NO_CLIENT, 0);
    unsigned char *blocks[20];
    for (size_t i = 0; i < 20; i++) {
        const uint64_t bytes = i * i * i;
        blocks[i] = core_host.scratch(&c, bytes);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 64, 0);
        for (uint64_t b = 0; b < bytes; b++)
            assert_int_equal(blocks[i][b], 0);
        memset(blocks[i], 0xff, bytes);
    }
    assert_null(core_host.scratch(&c, UINT64_MAX));
    assert_null(core_host.scratch(&c, UINT64_C(1) << 62));
    assert_int_equal(c.status, OSAFL_E_NOMEM);
    assert_non_null(strstr(c.error.text, "out of memory"));
    call_end(&c, OSAFL_E_NOMEM);
}

/* One byte too far is told, in whichever block, and outranks what the plugin answers. */
static void test_scratch_overrun(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        osafl_call c;
        call_begin(&c, &instance, OSAFL_NO_CLIENT, 0);
        unsigned char *block[3];
        for (unsigned i = 0; i < 3; i++) {
            block[i] = core_host.scratch(&c, 100 + i);
            memset(block[i], 0xff, 100 + i);
        }
        block[k][100 + k] = 0;
        void *kept = c.scratch;
        assert_int_equal(call_end(&c, OSAFL_OK), OSAFL_E_BUG);
        char expected[80];
        snprintf(expected, sizeof expected, "wrote beyond the end of scratch memory of %u bytes",
                 100 + k);
        assert_non_null(strstr(c.error.text, expected));
        /* Mended, they can be given back. */
        block[k][100 + k] = block[k][101 + k];
        call_begin(&c, &instance, OSAFL_NO_CLIENT, 0);
        c.scratch = kept;
        assert_int_equal(call_end(&c, OSAFL_OK), OSAFL_OK);
    }
}

static void test_random_fill(void **state)
{
    (void)state;
    uint32_t words[9];
    uint32_t expected[9];
    osafl_call c;
    call_begin(&c, &instance, 3, 4); /* the call's own client and round do not matter */
    core_host.random_fill(&c, 1, 2, 3, 4, words, 9);
    call_end(&c, OSAFL_OK);
    streams_fill(77, OSAFL_KIND_DELETION, 1, 2, 3, 4, expected, 9);
    assert_memory_equal(words, expected, sizeof words);
}

static void test_the_rest(void **state)
{
    (void)state;
    osafl_call c;
    call_begin(&c, &instance, 0, 0);
    assert_false(core_host.cancelled(&c));
    atomic_int flag = 0;
    context.cancelled = &flag;
    assert_false(core_host.cancelled(&c));
    flag = 1;
    assert_true(core_host.cancelled(&c));
    call_end(&c, OSAFL_OK);
    assert_null(core_host.extension(&core_host, "osafl.something/1"));
    assert_int_equal(core_host.struct_size, sizeof(osafl_host));
    assert_string_equal(core_host.version, OSAFL_VERSION);
    assert_true(plugin_has_feature(&plugin, "keeps_arrivals"));
    assert_false(plugin_has_feature(&plugin, "mean"));
}

/* ---- parallel loops ------------------------------------------------------------------------ */

struct sums {
    double part[64]; /* by chunk */
    uint64_t grain;
    const osafl_call *outer;
};

static osafl_status sum_chunk(void *arg, uint64_t begin, uint64_t end, osafl_call *sub)
{
    struct sums *s = arg;
    if (sub == s->outer || sub->client != 11 || sub->round != 22)
        return core_host.fail(sub, OSAFL_E_BUG, "wrong call");
    double *copy = core_host.scratch(sub, (end - begin) * sizeof *copy);
    for (uint64_t i = begin; i < end; i++) {
        uint32_t word[2];
        core_host.random_fill(sub, 1, 0, 0, i, word, 2);
        copy[i - begin] = (double)word[0] * 1e-3;
    }
    for (uint64_t i = begin; i < end; i++)
        s->part[begin / s->grain] += copy[i - begin];
    return OSAFL_OK;
}

static double sum_with(struct pool *pool)
{
    context.pool = pool;
    osafl_call c;
    call_begin(&c, &instance, 11, 22);
    struct sums s = {.grain = 17, .outer = &c};
    assert_int_equal(core_host.parallel(&c, 1000, s.grain, sum_chunk, &s), OSAFL_OK);
    assert_int_equal(call_end(&c, OSAFL_OK), OSAFL_OK);
    double sum = 0.0;
    for (size_t i = 0; i < 64; i++)
        sum += s.part[i];
    return sum;
}

static void test_same_bytes_for_any_number_of_threads(void **state)
{
    (void)state;
    const double alone = sum_with(NULL);
    for (unsigned threads = 1; threads <= 7; threads++) {
        struct pool *pool = pool_create(threads, NULL);
        const double sum = sum_with(pool);
        assert_memory_equal(&sum, &alone, sizeof sum);
        pool_destroy(pool);
    }
}

static osafl_status fail_chunk(void *arg, uint64_t begin, uint64_t end, osafl_call *sub)
{
    const uint64_t *first = arg;
    (void)end;
    if (begin < *first)
        return OSAFL_OK;
    return core_host.fail(sub, OSAFL_E_DATA, "chunk at %u", (unsigned)begin);
}

static osafl_status nest_chunk(void *arg, uint64_t begin, uint64_t end, osafl_call *sub)
{
    (void)begin;
    (void)end;
    return core_host.parallel(sub, 1, 1, fail_chunk, arg);
}

static osafl_status metric_chunk(void *arg, uint64_t begin, uint64_t end, osafl_call *sub)
{
    (void)arg;
    (void)begin;
    (void)end;
    core_host.metric(sub, 0, OSAFL_NO_CLIENT, 1.0);
    return OSAFL_OK;
}

static osafl_status rounding_chunk(void *arg, uint64_t begin, uint64_t end, osafl_call *sub)
{
    (void)arg;
    (void)end;
    (void)sub;
    if (begin == 7)
        fesetround(FE_DOWNWARD);
    return OSAFL_OK;
}

static osafl_status run_parallel(uint64_t grain, osafl_body *body, void *arg, struct error *error)
{
    osafl_call c;
    call_begin(&c, &instance, 11, 22);
    const osafl_status status = call_end(&c, core_host.parallel(&c, 100, grain, body, arg));
    strcpy(error->text, c.error.text);
    return status;
}

static void test_failures_in_parallel(void **state)
{
    (void)state;
    struct error error;
    for (unsigned threads = 0; threads <= 4; threads++) {
        struct pool *pool = threads > 0 ? pool_create(threads, NULL) : NULL;
        context.pool = pool;
        for (uint64_t first = 0; first < 100; first += 9) {
            assert_int_equal(run_parallel(1, fail_chunk, &first, &error), OSAFL_E_DATA);
            char expected[64];
            snprintf(expected, sizeof expected, "chunk at %u", (unsigned)first);
            assert_string_equal(error.text, expected);
        }
        uint64_t never = 100;
        assert_int_equal(run_parallel(1, fail_chunk, &never, &error), OSAFL_OK);
        assert_string_equal(error.text, "");
        assert_int_equal(run_parallel(0, fail_chunk, &never, &error), OSAFL_E_BUG);
        assert_non_null(strstr(error.text, "chunks of 0 elements"));
        assert_int_equal(run_parallel(1, nest_chunk, &never, &error), OSAFL_E_BUG);
        assert_non_null(strstr(error.text, "from inside parallel()"));
        assert_int_equal(run_parallel(1, metric_chunk, NULL, &error), OSAFL_E_BUG);
        assert_non_null(strstr(error.text, "metric speed was reported from inside parallel()"));
        assert_int_equal(run_parallel(1, rounding_chunk, NULL, &error), OSAFL_E_BUG);
        assert_non_null(strstr(error.text, "changed the floating-point environment"));
        assert_int_equal(fegetround(), FE_TONEAREST);
        pool_destroy(pool);
    }
}

/* A [worker] function that calls parallel(): the pool is busy with the very loop that called it. */
static osafl_status work(void *arg, uint64_t begin, uint64_t end, unsigned worker)
{
    (void)begin;
    (void)end;
    (void)worker;
    osafl_call c;
    call_begin(&c, &instance, 0, 0);
    const osafl_status status = call_end(&c, core_host.parallel(&c, 4, 1, fail_chunk, arg));
    if (status != OSAFL_E_BUG || strstr(c.error.text, "from a worker of the pool") == NULL)
        return OSAFL_E_DATA;
    return OSAFL_OK;
}

static void test_parallel_on_a_worker(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        context.pool = pool_create(threads, NULL);
        uint64_t never = 100;
        assert_int_equal(pool_run(context.pool, 8, 1, work, &never), OSAFL_OK);
        pool_destroy(context.pool);
    }
}

/* ---- calls inside calls, instances --------------------------------------------------------- */

static void test_calls_nest(void **state)
{
    (void)state;
    osafl_call outer;
    osafl_call inner;
    call_begin(&outer, &instance, 1, 0);
    call_begin(&inner, &instance, 2, 0);
    assert_ptr_equal(call_current(), &inner);
    fesetround(FE_UPWARD);
    assert_int_equal(call_end(&inner, OSAFL_OK), OSAFL_E_BUG);
    assert_ptr_equal(call_current(), &outer);
    /* The blame stays with the inner one. */
    assert_int_equal(call_end(&outer, OSAFL_OK), OSAFL_OK);
    assert_int_equal(fegetround(), FE_TONEAREST);
}

static void test_instances(void **state)
{
    (void)state;
    struct error error;
    assert_int_equal(instance_create(&instance, NULL, &error), OSAFL_OK);
    assert_int_equal(created, 1);
    assert_true(instance.created);
    instance_destroy(&instance);
    instance_destroy(&instance);
    assert_int_equal(created, 0);

    create_status = OSAFL_E_CONFIG;
    assert_int_equal(instance_create(&instance, NULL, &error), OSAFL_E_CONFIG);
    assert_string_equal(error.text, "no luck with 3 of them");
    instance_destroy(&instance);

    check_status = OSAFL_E_CONFIG;
    create_status = OSAFL_OK;
    assert_int_equal(instance_check(&instance, &error), OSAFL_E_CONFIG);
    assert_string_equal(error.text, "check says no");
    assert_int_equal(instance_create(&instance, NULL, &error), OSAFL_E_CONFIG);
    assert_int_equal(created, 0);
}

/* ---- state --------------------------------------------------------------------------------- */

/* Saves the instance under a state version, with the record's key, into a set of a new writer's
 * block. */
static struct record_set *save_with(struct record_writer **w, uint32_t state_version,
                                    const char *key)
{
    struct error error;
    const void *data = NULL;
    size_t size = 0;
    struct record_set *set = NULL;
    save_key = key;
    vtable.life.state_version = state_version;
    record_writer_destroy(*w);
    *w = record_writer_create();
    assert_int_equal(instance_save(&instance, *w, "deletion/sample", &error), OSAFL_OK);
    assert_int_equal(record_writer_finish(*w, &data, &size, &error), OSAFL_OK);
    assert_int_equal(record_set_open(data, size, &set, &error), OSAFL_OK);
    vtable.life.state_version = 1;
    return set;
}

static void test_state_of_instances(void **state)
{
    (void)state;
    struct error error;
    struct record_writer *w = NULL;
    memory = 42;
    struct record_set *set = save_with(&w, 1, "memory");
    memory = 0;
    assert_int_equal(instance_load(&instance, set, "deletion/sample", &error), OSAFL_OK);
    assert_int_equal(memory, 42);
    assert_int_equal(instance_load(&instance, set, "deletion/other", &error), OSAFL_E_STATE);
    assert_string_equal(error.text, "saved state has no section deletion/other");
    record_set_destroy(set);

    set = save_with(&w, 2, "memory");
    assert_int_equal(instance_load(&instance, set, "deletion/sample", &error), OSAFL_E_STATE);
    assert_non_null(strstr(error.text, "state version 2 of sample, this one reads up to 1"));
    record_set_destroy(set);

    /* What did not fit is said although the plugin gave no message of its own. */
    set = save_with(&w, 1, "something_else");
    assert_int_equal(instance_load(&instance, set, "deletion/sample", &error), OSAFL_E_STATE);
    assert_string_equal(error.text, "saved state has no record memory in section deletion/sample");

    /* State for a plugin that keeps none, and none at all. */
    osafl_status (*own_save)(void *, osafl_call *, osafl_writer *) = vtable.life.save;
    osafl_status (*own_load)(void *, osafl_call *, osafl_reader *) = vtable.life.load;
    vtable.life.save = NULL;
    vtable.life.load = NULL;
    assert_int_equal(instance_load(&instance, set, "deletion/sample", &error), OSAFL_E_STATE);
    assert_non_null(strstr(error.text, "holds state, but sample keeps none"));
    record_set_destroy(set);
    set = save_with(&w, 1, "memory");
    assert_int_equal(instance_load(&instance, set, "deletion/sample", &error), OSAFL_OK);
    record_set_destroy(set);
    vtable.life.save = own_save;
    vtable.life.load = own_load;

    /* A refused record fails the save, whatever the plugin returns. */
    save_key = "Not A Key";
    record_writer_destroy(w);
    w = record_writer_create();
    assert_int_equal(instance_save(&instance, w, "deletion/sample", &error), OSAFL_E_BUG);
    assert_non_null(strstr(error.text, "is not a record key"));
    record_writer_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_first_message_is_kept, set_up),
        cmocka_unit_test_setup(test_missing_and_odd_statuses, set_up),
        cmocka_unit_test_setup(test_long_messages_are_cut, set_up),
        cmocka_unit_test_setup(test_log_levels, set_up),
        cmocka_unit_test_setup(test_metrics, set_up),
        cmocka_unit_test_setup(test_scratch, set_up),
        cmocka_unit_test_setup(test_scratch_overrun, set_up),
        cmocka_unit_test_setup(test_random_fill, set_up),
        cmocka_unit_test_setup(test_the_rest, set_up),
        cmocka_unit_test_setup(test_same_bytes_for_any_number_of_threads, set_up),
        cmocka_unit_test_setup(test_failures_in_parallel, set_up),
        cmocka_unit_test_setup(test_parallel_on_a_worker, set_up),
        cmocka_unit_test_setup(test_calls_nest, set_up),
        cmocka_unit_test_setup(test_instances, set_up),
        cmocka_unit_test_setup(test_state_of_instances, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
