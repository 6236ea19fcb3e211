/* names.h - a list of names that grows. */
#ifndef OSAFL_CORE_NAMES_H
#define OSAFL_CORE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct names {
    char **name; /* [n], each owned by the list */
    size_t n;
};

/* Appends a copy.  False: out of memory, and the list is as it was. */
bool names_add(struct names *list, const char *name);
bool names_have(const struct names *list, const char *name);
/* Sorts by bytes and keeps one of equal names. */
void names_sort(struct names *list);
/* "a, b, c"; free() it.  NULL: out of memory. */
char *names_join(const struct names *list);
/* Frees the names and empties the list. */
void names_free(struct names *list);

#endif
