/* pool.c - a fixed set of threads that works through numbered chunks. */
#include "pool.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Every worker has the same stack, whatever `ulimit -s` says: a plugin that runs on one machine
 * must not overflow on another. */
#define WORKER_STACK_BYTES ((size_t)8 << 20)

struct pool_thread {
    struct pool *pool;
    unsigned index; /* 1 .. threads - 1; the caller of pool_run() is 0 */
    pthread_t thread;
    void *state; /* of the hooks */
};

struct job {
    pool_body *body;
    void *arg;
    uint64_t n;
    uint64_t grain;
    uint64_t chunks;
};

struct pool {
    unsigned threads;
    const struct pool_hooks *hooks; /* NULL: none */
    unsigned started; /* workers that exist: threads - 1, or fewer while creation fails */
    struct pool_thread *workers; /* [threads - 1] */
    atomic_bool running;         /* a job is in hand */

    pthread_mutex_t lock; /* guards what follows, down to quit */
    pthread_cond_t work;  /* a new generation, or quit */
    pthread_cond_t done;  /* busy reached 0 */
    uint64_t generation;  /* of the job; workers compare it with the last one they saw */
    unsigned busy;        /* workers that have not finished this generation */
    uint64_t failed_chunk;
    osafl_status status; /* of failed_chunk */
    bool quit;

    struct job job; /* written before, and read after, the lock is held for a generation */
    atomic_uint_fast64_t next;
    atomic_bool failed;
};

static void record_failure(struct pool *p, uint64_t chunk, osafl_status status)
{
    pthread_mutex_lock(&p->lock);
    if (p->status == OSAFL_OK || chunk < p->failed_chunk) {
        p->failed_chunk = chunk;
        p->status = status;
    }
    pthread_mutex_unlock(&p->lock);
    atomic_store(&p->failed, true);
}

/* Takes chunks in ascending order until none is left or one has failed.  `failed` is looked at
 * before a chunk is taken and never after: a chunk that was taken runs, so that every chunk below
 * a failed one has run and the lowest failure does not depend on timing. */
static void work_through(struct pool *p, unsigned worker)
{
    const struct job *job = &p->job;
    while (!atomic_load(&p->failed)) {
        const uint64_t chunk = atomic_fetch_add(&p->next, 1);
        if (chunk >= job->chunks)
            return;
        const uint64_t begin = chunk * job->grain;
        const uint64_t left = job->n - begin;
        const uint64_t end = left < job->grain ? job->n : begin + job->grain;
        const osafl_status status = job->body(job->arg, begin, end, worker);
        if (status != OSAFL_OK)
            record_failure(p, chunk, status);
    }
}

static void *worker_main(void *arg)
{
    struct pool_thread *w = arg;
    struct pool *p = w->pool;
    uint64_t seen = 0;
    if (p->hooks != NULL)
        p->hooks->begin(w->state);
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (p->generation == seen && !p->quit)
            pthread_cond_wait(&p->work, &p->lock);
        if (p->quit)
            break;
        seen = p->generation;
        pthread_mutex_unlock(&p->lock);
        work_through(p, w->index);
        pthread_mutex_lock(&p->lock);
        assert(p->busy > 0);
        if (--p->busy == 0)
            pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    if (p->hooks != NULL)
        p->hooks->end(w->state);
    return NULL;
}

/* Starts the workers.  They leave every signal that comes from outside to the main thread; those
 * that a fault of their own raises must stay open, or the kernel ends the process unheard. */
static bool start_workers(struct pool *p)
{
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0)
        return false;
    sigset_t blocked;
    sigset_t before;
    sigfillset(&blocked);
    static const int own_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    for (size_t i = 0; i < sizeof own_faults / sizeof own_faults[0]; i++)
        sigdelset(&blocked, own_faults[i]);

    bool ok = pthread_attr_setstacksize(&attr, WORKER_STACK_BYTES) == 0;
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    while (ok && p->started < p->threads - 1) {
        struct pool_thread *w = &p->workers[p->started];
        w->pool = p;
        w->index = p->started + 1;
        if (p->hooks != NULL)
            w->state = calloc(1, p->hooks->state_bytes);
        ok = (p->hooks == NULL || w->state != NULL) &&
             pthread_create(&w->thread, &attr, worker_main, w) == 0;
        if (!ok) {
            free(w->state);
            break;
        }
        char name[16]; /* the kernel's limit */
        snprintf(name, sizeof name, "osafl-%u", w->index);
        pthread_setname_np(w->thread, name);
        p->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return ok;
}

struct pool *pool_create(unsigned threads, const struct pool_hooks *hooks)
{
    assert(threads >= 1);
    struct pool *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->threads = threads;
    p->hooks = hooks;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    if (threads > 1) {
        p->workers = calloc(threads - 1, sizeof *p->workers);
        if (p->workers == NULL || !start_workers(p)) {
            pool_destroy(p);
            return NULL;
        }
    }
    return p;
}

static void end_worker(struct pool_thread *w)
{
    pthread_join(w->thread, NULL);
    free(w->state);
}

void pool_destroy(struct pool *p)
{
    if (p == NULL)
        return;
    assert(!atomic_load(&p->running));
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->started; i++)
        end_worker(&p->workers[i]);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    free(p->workers);
    free(p);
}

unsigned pool_threads(const struct pool *p)
{
    return p->threads;
}

osafl_status pool_run(struct pool *p, uint64_t n, uint64_t grain, pool_body *body, void *arg)
{
    if (grain == 0 || atomic_exchange(&p->running, true))
        return OSAFL_E_BUG;

    p->job = (struct job){
        .body = body, .arg = arg, .n = n, .grain = grain, .chunks = n / grain + (n % grain != 0)};
    p->status = OSAFL_OK;
    atomic_store(&p->next, 0);
    atomic_store(&p->failed, false);

    /* One chunk is not worth waking anybody for. */
    const bool alone = p->threads == 1 || p->job.chunks <= 1;
    if (!alone) {
        pthread_mutex_lock(&p->lock);
        p->busy = p->threads - 1;
        p->generation++;
        pthread_cond_broadcast(&p->work);
        pthread_mutex_unlock(&p->lock);
    }
    work_through(p, 0);
    pthread_mutex_lock(&p->lock);
    while (!alone && p->busy > 0)
        pthread_cond_wait(&p->done, &p->lock);
    const osafl_status status = p->status;
    pthread_mutex_unlock(&p->lock);

    atomic_store(&p->running, false);
    return status;
}
