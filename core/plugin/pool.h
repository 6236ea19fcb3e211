/* pool.h - a fixed set of threads that works through numbered chunks.
 *
 * Which thread runs which chunk is not determined; chunk boundaries are, and callers combine
 * results in chunk order, so nothing depends on the number of threads. */
#ifndef OSAFL_CORE_POOL_H
#define OSAFL_CORE_POOL_H

#include "osafl/base.h"

struct pool;

/* worker: 0 .. pool_threads() - 1, the index of the running thread's own resources. */
typedef osafl_status pool_body(void *arg, uint64_t begin, uint64_t end, unsigned worker);

/* What each further thread does when it begins and before it ends, in that thread.  state: zeroed
 * memory of state_bytes of its own, which outlives the thread. */
struct pool_hooks {
    size_t state_bytes;
    void (*begin)(void *state);
    void (*end)(void *state);
};

/* threads >= 1; the caller of pool_run() is one of them.  hooks: NULL, or valid until the pool is
 * destroyed.  NULL: out of memory or threads. */
struct pool *pool_create(unsigned threads, const struct pool_hooks *hooks);
void pool_destroy(struct pool *p);
unsigned pool_threads(const struct pool *p);

/* Runs body over [0, n) in chunks of grain.  On failure the remaining chunks may be skipped and
 * the status of the failed chunk with the lowest index that ran is returned: chunks start in
 * ascending order, so that is deterministic for failures that are.  Coordinator only; a nested
 * call is OSAFL_E_BUG. */
osafl_status pool_run(struct pool *p, uint64_t n, uint64_t grain, pool_body *body, void *arg);

#endif
