/* transcript.h - what a plugin answered, item by item, so that two plays of the same calls can be
 * compared and the first difference named. */
#ifndef OSAFL_CONFORM_TRANSCRIPT_H
#define OSAFL_CONFORM_TRANSCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct transcript_item {
    const char *what; /* a literal: "gain of gains()" */
    uint32_t round;
    uint32_t task;
    uint64_t hash;
};

/* Zero when new. */
struct transcript {
    struct transcript_item *items;
    size_t n;
    size_t capacity;
    char not_finite[128]; /* the first number that was not finite, in words; "" when all were */
};

/* what: a literal.  The process ends where memory is short. */
void transcript_bytes(struct transcript *t, const char *what, uint32_t round, uint32_t task,
                      const void *data, uint64_t bytes);
void transcript_floats(struct transcript *t, const char *what, uint32_t round, uint32_t task,
                       const float *x, uint64_t n);
void transcript_doubles(struct transcript *t, const char *what, uint32_t round, uint32_t task,
                        const double *x, uint64_t n);
/* Adds all of `more` at the end. */
void transcript_append(struct transcript *t, const struct transcript *more);
void transcript_free(struct transcript *t);

/* The first difference in words, such as "gain of gains() in round 3"; NULL: there is none. */
const char *transcript_difference(const struct transcript *a, const struct transcript *b);

#endif
