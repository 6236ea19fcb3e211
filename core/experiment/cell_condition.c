/* cell_condition.c - conditions "KEY=VALUE" that pick cells of a grid. */
#include "cell_condition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "experiment_tree.h"

/* The seed that an experiment has when nobody gives one; see schema.c. */
#define DEFAULT_SEED "1"

enum { VALUE_BYTES = 512 };

const struct node *node_at_path(const struct node *group, const char *path)
{
    char name[128];
    while (group != NULL) {
        const size_t n = strcspn(path, ".");
        if (n == 0 || n >= sizeof name)
            return NULL;
        memcpy(name, path, n);
        name[n] = '\0';
        group = node_child(group, name);
        if (path[n] == '\0')
            return group;
        path += n + 1;
    }
    return NULL;
}

const char *set_value_of(const char *const *set, size_t n_set, const char *key)
{
    const size_t n = strlen(key);
    for (size_t i = n_set; i-- > 0;) {
        if (strncmp(set[i], key, n) == 0 && set[i][n] == '=')
            return set[i] + n + 1;
    }
    return NULL;
}

/* The text of a cell's setting; false: it is given nowhere. */
static bool value_text(const struct cell_view *cell, const char *key, char out[VALUE_BYTES])
{
    const char *set = set_value_of(cell->set, cell->n_set, key);
    if (set != NULL) {
        snprintf(out, VALUE_BYTES, "%s", set);
        return true;
    }
    const struct node *n = node_at_path(cell->overlay, key);
    if (n == NULL)
        n = node_at_path(cell->root, key);
    if (n != NULL && n->type != NODE_GROUP) {
        node_text(n, out, VALUE_BYTES);
        return true;
    }
    snprintf(out, VALUE_BYTES, DEFAULT_SEED);
    return strcmp(key, "seed") == 0;
}

static bool equal(const char *a, const char *b)
{
    double x;
    double y;
    return strcmp(a, b) == 0 || (text_real(a, &x) && text_real(b, &y) && x == y);
}

static enum condition_answer check_one(const char *condition, size_t key_bytes,
                                       const struct cell_view *cell)
{
    char key[256];
    char value[VALUE_BYTES];
    const char *wanted = condition + key_bytes + 1;
    if (key_bytes >= sizeof key)
        return CONDITION_UNKNOWN;
    memcpy(key, condition, key_bytes);
    key[key_bytes] = '\0';
    if (strcmp(key, "case") == 0)
        return strcmp(wanted, cell->case_name) == 0 || strcmp(wanted, cell->full_name) == 0
                   ? CONDITION_HOLDS
                   : CONDITION_FAILS;
    if (!value_text(cell, key, value))
        return CONDITION_UNKNOWN;
    return equal(wanted, value) ? CONDITION_HOLDS : CONDITION_FAILS;
}

static size_t key_bytes_of(const char *condition)
{
    return strcspn(condition, "=");
}

enum condition_answer conditions_check(const char *const *condition, size_t n,
                                       const struct cell_view *cell, const char **culprit)
{
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        const size_t key_bytes = key_bytes_of(condition[i]);
        *culprit = condition[i];
        if (key_bytes == 0 || condition[i][key_bytes] == '\0')
            return CONDITION_MALFORMED;
        bool holds = false;
        for (size_t k = 0; k < n; k++) {
            if (strncmp(condition[k], condition[i], key_bytes + 1) != 0)
                continue;
            const enum condition_answer answer = check_one(condition[k], key_bytes, cell);
            if (answer == CONDITION_UNKNOWN)
                return answer;
            holds = holds || answer == CONDITION_HOLDS;
        }
        all = all && holds;
    }
    return all ? CONDITION_HOLDS : CONDITION_FAILS;
}
