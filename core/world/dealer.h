/* dealer.h - hands out training samples from pools, each pool in a fixed order: shuffled, or by the
 * samples' times.
 *
 * No sample of a pool is dealt twice before all of the pool's have been dealt; then the pool starts
 * over in the same order, ALGORITHMS.md 1.  The pools are the labels, or the clients where the data
 * set says to whom each sample belongs. */
#ifndef OSAFL_CORE_DEALER_H
#define OSAFL_CORE_DEALER_H

#include <stdbool.h>

#include "osafl/dataset.h"

struct dealer;

/* Pool of sample i, or DEALER_NO_POOL. */
typedef uint32_t dealer_pool_of(void *arg, uint64_t i);
#define DEALER_NO_POOL UINT32_MAX

/* Pools of a finite set of n samples, n <= UINT32_MAX, shuffled by STREAM_POOL_ORDER.  NULL: out of
 * memory. */
struct dealer *dealer_create(uint64_t seed, uint32_t pools, uint64_t n, dealer_pool_of *pool_of,
                             void *arg);
/* Pools of an endless set, one a label: what is dealt are numbers within the label, 0, 1, 2, ... */
struct dealer *dealer_create_endless(uint32_t labels);
void dealer_destroy(struct dealer *d); /* NULL is allowed */

/* Puts each pool in order of time[i] of its samples i, those of one time by number; before any is
 * dealt.  time[] becomes the times in that order, pool after pool from dealer_first() on.  False:
 * out of memory. */
bool dealer_sort(struct dealer *d, double *time);
/* [pools + 1]: samples in all pools before each; NULL: endless. */
const uint64_t *dealer_first(const struct dealer *d);

/* Samples in a pool, or OSAFL_ENDLESS. */
uint64_t dealer_size(const struct dealer *d, uint32_t pool);
/* The next sample of a pool that is not empty. */
uint64_t dealer_deal(struct dealer *d, uint32_t pool);
/* Passes over the next n samples of a pool. */
void dealer_skip(struct dealer *d, uint32_t pool, uint64_t n);
/* How often a pool was used up and then asked again. */
uint64_t dealer_restarts(const struct dealer *d, uint32_t pool);

/* [pools]: samples dealt from each pool so far, the dealer's whole state. */
const uint64_t *dealer_dealt(const struct dealer *d);
void dealer_set_dealt(struct dealer *d, const uint64_t *dealt);
uint32_t dealer_pools(const struct dealer *d);
uint64_t dealer_bytes(const struct dealer *d);

#endif
