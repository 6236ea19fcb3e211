/* pick.h - what selections share: how many clients are asked, and picking the best or some at
 * random. */
#ifndef OSAFL_SELECTION_PICK_H
#define OSAFL_SELECTION_PICK_H

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "osafl/random.h"
#include "osafl/selection.h"

/* Members and settings of a config struct S: the size of the asked set. */
#define PICK_SIZE_MEMBERS                                                                          \
    int64_t count;                                                                                 \
    double share;
#define PICK_SIZE_PARAMS(S)                                                                        \
    OSAFL_INT(S, count, 0, 0, INT32_MAX, "Clients that are asked in a round; 0: by the share",     \
              .unit = "clients"),                                                                  \
        OSAFL_REAL(S, share, 0.1, 0.0, 1.0, "Share of all clients that are asked, rounded up",     \
                   .flags = OSAFL_P_LO_OPEN)

static inline uint32_t pick_there(const osafl_selection_problem *p)
{
    uint32_t there = 0;
    for (uint32_t u = 0; u < p->clients; u++)
        there += p->present[u];
    return there;
}

/* ceil(n * share) as meant in decimal: 40 * 0.55 is 22, though its double is a little above. */
static inline uint32_t pick_ceil(uint32_t n, double share)
{
    const double exact = (double)n * share;
    const double nearest = nearbyint(exact);
    return (uint32_t)(fabs(exact - nearest) <= 2.0 * DBL_EPSILON * exact ? nearest : ceil(exact));
}

/* How many are asked: no more than are there. */
static inline uint32_t pick_size(const osafl_selection_problem *p, int64_t count, double share)
{
    const uint32_t there = pick_there(p);
    const uint32_t wanted = count > 0 ? (uint32_t)count : pick_ceil(p->clients, share);
    return wanted < there ? wanted : there;
}

/* A client with what it is picked by. */
struct pick {
    double key;
    uint32_t client;
    uint32_t reserved;
};

static inline int pick_compare(const void *a, const void *b)
{
    const struct pick *x = a;
    const struct pick *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return x->client < y->client ? -1 : x->client > y->client;
}

/* Sorts by falling key; of equal keys the lower client comes first.  No key is NaN. */
static inline void pick_sort(struct pick *list, uint32_t n)
{
    qsort(list, n, sizeof *list, pick_compare);
}

/* The key under which sorting makes a draw without replacement, each time in proportion to the
 * weights that are left: Efraimidis and Spirakis, Information Processing Letters 97(5), 2006, in
 * logarithms.  A weight of 0 comes last. */
static inline double pick_random_key(osafl_call *c, uint32_t purpose, uint32_t client,
                                     uint32_t round, double weight)
{
    uint32_t word[2];
    c->host->random_fill(c, purpose, client, round, 0, word, 2);
    return weight > 0.0 ? log(osafl_uniform(word) + 0x1p-54) / weight : -HUGE_VAL;
}

static inline void pick_ask(const struct pick *list, uint32_t n, uint8_t *asked)
{
    for (uint32_t k = 0; k < n; k++)
        asked[list[k].client] = 1;
}

#endif
