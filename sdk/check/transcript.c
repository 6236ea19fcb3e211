/* transcript.c - what a plugin answered, item by item. */
#include "transcript.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static void add_item(struct transcript *t, const struct transcript_item *item)
{
    if (t->n == t->capacity) {
        t->capacity = t->capacity > 0 ? 2 * t->capacity : 64;
        struct transcript_item *grown = realloc(t->items, t->capacity * sizeof *grown);
        if (grown == NULL) {
            fputs("osafl: the check itself is out of memory\n", stderr);
            _exit(70);
        }
        t->items = grown;
    }
    t->items[t->n++] = *item;
}

void transcript_bytes(struct transcript *t, const char *what, uint32_t round, uint32_t task,
                      const void *data, uint64_t bytes)
{
    const struct transcript_item item = {.what = what,
                                         .round = round,
                                         .task = task,
                                         .hash = XXH3_64bits_withSeed(data, bytes, bytes)};
    add_item(t, &item);
}

static void note_number(struct transcript *t, const char *what, uint32_t round, uint64_t i,
                        double value)
{
    if (t->not_finite[0] == '\0') /* the sign of a NaN means nothing */
        snprintf(t->not_finite, sizeof t->not_finite, "%s, number %" PRIu64 ", in round %u is %g",
                 what, i, (unsigned)round, isnan(value) ? fabs(value) : value);
}

void transcript_floats(struct transcript *t, const char *what, uint32_t round, uint32_t task,
                       const float *x, uint64_t n)
{
    transcript_bytes(t, what, round, task, x, n * sizeof *x);
    for (uint64_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            note_number(t, what, round, i, (double)x[i]);
    }
}

void transcript_doubles(struct transcript *t, const char *what, uint32_t round, uint32_t task,
                        const double *x, uint64_t n)
{
    transcript_bytes(t, what, round, task, x, n * sizeof *x);
    for (uint64_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            note_number(t, what, round, i, x[i]);
    }
}

void transcript_append(struct transcript *t, const struct transcript *more)
{
    for (size_t i = 0; i < more->n; i++)
        add_item(t, &more->items[i]);
    if (t->not_finite[0] == '\0')
        memcpy(t->not_finite, more->not_finite, sizeof t->not_finite);
}

void transcript_free(struct transcript *t)
{
    free(t->items);
    *t = (struct transcript){0};
}

const char *transcript_difference(const struct transcript *a, const struct transcript *b)
{
    static char text[160];
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        const struct transcript_item *x = &a->items[i];
        const struct transcript_item *y = &b->items[i];
        if (strcmp(x->what, y->what) == 0 && x->round == y->round && x->task == y->task &&
            x->hash == y->hash)
            continue;
        snprintf(text, sizeof text, "%s in round %u, task %u", x->what, (unsigned)x->round,
                 (unsigned)x->task);
        return text;
    }
    if (a->n == b->n)
        return NULL;
    snprintf(text, sizeof text, "the number of answers");
    return text;
}
