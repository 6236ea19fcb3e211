/* names.c - a list of names that grows. */
#include "names.h"

#include <stdlib.h>
#include <string.h>

bool names_add(struct names *list, const char *name)
{
    char *copy = strdup(name);
    char **grown = reallocarray(list->name, list->n + 1, sizeof *grown);
    if (grown != NULL)
        list->name = grown;
    if (copy == NULL || grown == NULL) {
        free(copy);
        return false;
    }
    list->name[list->n++] = copy;
    return true;
}

bool names_have(const struct names *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++) {
        if (strcmp(list->name[i], name) == 0)
            return true;
    }
    return false;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void names_sort(struct names *list)
{
    size_t kept = 0;
    if (list->n > 0)
        qsort(list->name, list->n, sizeof *list->name, compare_names);
    for (size_t i = 0; i < list->n; i++) {
        if (kept > 0 && strcmp(list->name[i], list->name[kept - 1]) == 0)
            free(list->name[i]);
        else
            list->name[kept++] = list->name[i];
    }
    list->n = kept;
}

char *names_join(const struct names *list)
{
    size_t size = 1;
    for (size_t i = 0; i < list->n; i++)
        size += strlen(list->name[i]) + 2;
    char *text = malloc(size);
    char *end = text;
    if (text == NULL)
        return NULL;
    *end = '\0';
    for (size_t i = 0; i < list->n; i++) {
        end = stpcpy(end, i > 0 ? ", " : "");
        end = stpcpy(end, list->name[i]);
    }
    return text;
}

void names_free(struct names *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->name[i]);
    free(list->name);
    *list = (struct names){0};
}
