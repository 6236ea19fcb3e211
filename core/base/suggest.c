/* suggest.c - "did you mean": the closest of several names. */
#include "suggest.h"

#include <stdint.h>
#include <string.h>

/* Names are at most 48 bytes long; what is longer is no misspelling of one. */
enum { LONGEST = 64, MOST_EDITS = 4 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t suggest_edits(const char *a, const char *b)
{
    const size_t n = strlen(a);
    const size_t m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return SIZE_MAX;
    /* Three rows of the table of Damerau's distance (optimal string alignment). */
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *twice_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + change);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], twice_above[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

struct suggestion suggest_begin(const char *word)
{
    return (struct suggestion){.word = word};
}

void suggest_offer(struct suggestion *s, const char *candidate)
{
    const size_t n = strlen(s->word);
    const size_t m = strlen(candidate);
    const size_t most = s->best != NULL ? s->best_edits - 1 : least(MOST_EDITS, n / 2);
    /* Every edit changes the length by one at most, so that most candidates need no table. */
    if ((s->best != NULL && s->best_edits == 0) || (n > m ? n - m : m - n) > most)
        return;
    const size_t edits = suggest_edits(s->word, candidate);
    if (edits <= most) {
        s->best = candidate;
        s->best_edits = edits;
    }
}
