/* suggest.h - "did you mean": the closest of several names. */
#ifndef OSAFL_CORE_SUGGEST_H
#define OSAFL_CORE_SUGGEST_H

#include <stddef.h>

/* Collects candidates for a misspelt word; made on the stack by suggest_begin(). */
struct suggestion {
    const char *word;
    const char *best; /* NULL: nothing is close enough */
    size_t best_edits;
};

struct suggestion suggest_begin(const char *word);
/* candidate: kept by reference while it is the best so far; the first of equals stays. */
void suggest_offer(struct suggestion *s, const char *candidate);

/* Insertions, deletions, substitutions and swaps of neighbours that turn a into b. */
size_t suggest_edits(const char *a, const char *b);

#endif
