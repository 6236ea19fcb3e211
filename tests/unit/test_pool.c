/* test_pool.c - every chunk runs once, failures do not depend on timing, nobody nests. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plugin/pool.h"

enum { MOST = 1000, MOST_THREADS = 7 };

struct seen {
    atomic_int visits[MOST];
    atomic_int chunks;
    atomic_uint workers; /* bit per worker */
    uint64_t n;
    uint64_t grain;
    atomic_bool wrong;
};

static osafl_status visit(void *arg, uint64_t begin, uint64_t end, unsigned worker)
{
    struct seen *s = arg;
    const uint64_t length = end - begin;
    if (begin % s->grain != 0 || begin >= end || end > s->n ||
        (length != s->grain && end != s->n) || worker >= MOST_THREADS)
        atomic_store(&s->wrong, true);
    for (uint64_t i = begin; i < end; i++)
        atomic_fetch_add(&s->visits[i], 1);
    atomic_fetch_add(&s->chunks, 1);
    atomic_fetch_or(&s->workers, 1u << worker);
    return OSAFL_OK;
}

static void test_every_element_once(void **state)
{
    (void)state;
    static const uint64_t sizes[][2] = {{0, 1},    {1, 1},    {1, 5},       {5, 5},         {6, 5},
                                        {999, 10}, {1000, 1}, {1000, 1000}, {7, UINT64_MAX}};
    for (unsigned threads = 1; threads <= MOST_THREADS; threads++) {
        struct pool *p = pool_create(threads, NULL);
        assert_non_null(p);
        assert_int_equal(pool_threads(p), threads);
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            static struct seen s;
            memset(&s, 0, sizeof s);
            s.n = sizes[k][0];
            s.grain = sizes[k][1];
            assert_int_equal(pool_run(p, s.n, s.grain, visit, &s), OSAFL_OK);
            assert_false(s.wrong);
            for (uint64_t i = 0; i < MOST; i++)
                assert_int_equal(s.visits[i], i < s.n ? 1 : 0);
            assert_int_equal(s.chunks, s.n / s.grain + (s.n % s.grain != 0 ? 1 : 0));
            assert_int_equal(s.workers >> threads, 0);
        }
        pool_destroy(p);
    }
    pool_destroy(NULL);
}

/* Many short jobs in a row: nothing is lost between sleeping and waking. */
static void test_many_jobs(void **state)
{
    (void)state;
    struct pool *p = pool_create(3, NULL);
    static struct seen s;
    memset(&s, 0, sizeof s);
    s.n = 6;
    s.grain = 1;
    for (int job = 0; job < 5000; job++)
        assert_int_equal(pool_run(p, s.n, s.grain, visit, &s), OSAFL_OK);
    assert_int_equal(s.chunks, 30000);
    pool_destroy(p);
}

struct failing {
    uint64_t first; /* chunks from here on fail */
    atomic_int ran;
};

static osafl_status fail_from(void *arg, uint64_t begin, uint64_t end, unsigned worker)
{
    (void)end;
    (void)worker;
    struct failing *f = arg;
    atomic_fetch_add(&f->ran, 1);
    /* The status tells which chunk failed. */
    return begin >= f->first ? -1 - (osafl_status)begin : OSAFL_OK;
}

static void test_lowest_failure_is_reported(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= MOST_THREADS; threads++) {
        struct pool *p = pool_create(threads, NULL);
        for (int repeat = 0; repeat < 200; repeat++) {
            struct failing f = {.first = (uint64_t)repeat % 50};
            assert_int_equal(pool_run(p, MOST, 1, fail_from, &f), -1 - (int)f.first);
            /* Those before ran; of the rest at most one for each thread. */
            assert_true(f.ran >= (int)f.first + 1);
            assert_true(f.ran <= (int)f.first + (int)threads);
        }
        /* A failed job leaves nothing behind. */
        struct failing none = {.first = MOST};
        assert_int_equal(pool_run(p, MOST, 1, fail_from, &none), OSAFL_OK);
        pool_destroy(p);
    }
}

static osafl_status nest(void *arg, uint64_t begin, uint64_t end, unsigned worker)
{
    (void)begin;
    (void)end;
    (void)worker;
    struct seen s = {.n = 1, .grain = 1};
    return pool_run(arg, 1, 1, visit, &s);
}

static void test_nesting_and_empty_chunks_are_refused(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct pool *p = pool_create(threads, NULL);
        assert_int_equal(pool_run(p, 10, 1, nest, p), OSAFL_E_BUG);
        struct seen s = {.n = 10, .grain = 1};
        assert_int_equal(pool_run(p, 10, 0, visit, &s), OSAFL_E_BUG);
        assert_int_equal(pool_run(p, 10, 1, visit, &s), OSAFL_OK);
        pool_destroy(p);
    }
}

struct meeting {
    pthread_barrier_t barrier;
    pthread_t thread[MOST_THREADS];
    int masked; /* of the workers: those that leave SIGINT to the main thread */
    pthread_mutex_t lock;
};

static osafl_status meet(void *arg, uint64_t begin, uint64_t end, unsigned worker)
{
    (void)end;
    struct meeting *m = arg;
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    pthread_mutex_lock(&m->lock);
    if (worker > 0)
        m->masked += sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGSEGV) == 0;
    pthread_mutex_unlock(&m->lock);
    m->thread[begin] = pthread_self();
    /* Passes only when all threads are here at once. */
    pthread_barrier_wait(&m->barrier);
    return OSAFL_OK;
}

static void test_threads_work_at_the_same_time(void **state)
{
    (void)state;
    struct pool *p = pool_create(4, NULL);
    struct meeting m = {.masked = 0};
    pthread_barrier_init(&m.barrier, NULL, 4);
    pthread_mutex_init(&m.lock, NULL);
    assert_int_equal(pool_run(p, 4, 1, meet, &m), OSAFL_OK);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < i; j++)
            assert_false(pthread_equal(m.thread[i], m.thread[j]));
    }
    assert_int_equal(m.masked, 3);
    sigset_t own;
    pthread_sigmask(SIG_BLOCK, NULL, &own);
    assert_int_equal(sigismember(&own, SIGINT), 0);
    pthread_mutex_destroy(&m.lock);
    pthread_barrier_destroy(&m.barrier);
    pool_destroy(p);
}

/* Uses most of a worker's stack; fails by crashing. */
static osafl_status use_stack(void *arg, uint64_t begin, uint64_t end, unsigned worker)
{
    (void)arg;
    (void)end;
    (void)worker;
    volatile char large[6 << 20];
    for (size_t i = 0; i < sizeof large; i += 4096)
        large[i] = (char)begin;
    return large[4096] == (char)begin ? OSAFL_OK : OSAFL_E_BUG;
}

static void test_stack_of_workers(void **state)
{
    (void)state;
    struct pool *p = pool_create(4, NULL);
    assert_int_equal(pool_run(p, 64, 1, use_stack, NULL), OSAFL_OK);
    pool_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_element_once),
        cmocka_unit_test(test_many_jobs),
        cmocka_unit_test(test_lowest_failure_is_reported),
        cmocka_unit_test(test_nesting_and_empty_chunks_are_refused),
        cmocka_unit_test(test_threads_work_at_the_same_time),
        cmocka_unit_test(test_stack_of_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
