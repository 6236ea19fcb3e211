/* vocabulary.h - numbers the distinct texts of a table's column. */
#ifndef OSAFL_DATASET_VOCABULARY_H
#define OSAFL_DATASET_VOCABULARY_H

#include "osafl/base.h"

struct word {
    char *text; /* owned */
    uint32_t id;
    uint32_t line; /* of its first occurrence */
};

/* Zero-initialised: empty. */
struct vocabulary {
    struct word *word; /* sorted by bytes */
    uint32_t n;
    uint32_t capacity;
};

void vocabulary_free(struct vocabulary *v);

/* The id of a text; a new text gets the next one, and the line in which it stands.  False: out of
 * memory. */
bool vocabulary_add(struct vocabulary *v, const char *text, uint32_t line, uint32_t *id);

/* False if the text is not there. */
bool vocabulary_find(const struct vocabulary *v, const char *text, uint32_t *id);

/* A text that is probably meant by this one, which is not there: it differs in capital letters
 * alone, or is the same number; NULL: there is none. */
const char *vocabulary_alike(const struct vocabulary *v, const char *text);

/* The first two texts that are alike in this sense, in some order that depends on the texts alone.
 * False: there are none, or there is no memory to find them. */
bool vocabulary_twins(const struct vocabulary *v, const char **a, const char **b);

/* Numbers the texts anew, in ascending order: of their values if all are numbers, else of their
 * bytes.  Returns new ids by old ones, from malloc(); NULL: out of memory. */
uint32_t *vocabulary_sort(struct vocabulary *v);

#endif
