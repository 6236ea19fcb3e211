/* experiment_set.c - values from the command line, laid over a tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "diagnostics.h"
#include "experiment_tree.h"
#include "number_text.h"
#include "source_text.h"

/* What is not written like a value of libconfig is a text, so that no shell needs to pass quotes:
 * aggregator.plugin=fedavg, dataset.idx.path=../data. */
static bool is_plain_text(const char *value)
{
    return strchr("\"[({", value[0]) == NULL && strcasecmp(value, "true") != 0 &&
           strcasecmp(value, "false") != 0 && number_kind(value) == NOT_A_NUMBER;
}

/* A tree whose root has one child, the value. */
static struct experiment_tree *parse_value(const char *value, const char *place,
                                           struct diagnostics *d)
{
    char *text = NULL;
    const int n = asprintf(&text, "value = %s", value);
    if (n < 0) {
        diagnostics_error(d, NULL, 0, "out of memory");
        return NULL;
    }
    struct experiment_tree *t = tree_read_text(text, (size_t)n, place, d);
    free(text);
    if (t != NULL && tree_root(t)->first != tree_root(t)->last) {
        diagnostics_error(d, place, 0, "more than one value stands here");
        tree_destroy(t);
        t = NULL;
    }
    return t;
}

/* value: what stands after the equals sign. */
static bool set_value(struct experiment_tree *t, const char *key_path, const char *value,
                      struct diagnostics *d)
{
    struct node text = {.type = NODE_TEXT, .file = PLACE_SET, .value.text = value};
    if (value[0] == '\0') {
        diagnostics_error(d, PLACE_SET, 0, "%s: a value is missing; an empty text is \"\"",
                          key_path);
        return false;
    }
    if (is_plain_text(value)) {
        if (utf8_valid_bytes(value, strlen(value)) != strlen(value)) {
            diagnostics_error(d, PLACE_SET, 0, "%s: the value is not UTF-8", key_path);
            return false;
        }
        return tree_put(t, key_path, &text, NULL, d);
    }
    char *place = NULL;
    if (asprintf(&place, "%s %s", PLACE_SET, key_path) < 0) {
        diagnostics_error(d, NULL, 0, "out of memory");
        return false;
    }
    bool done = false;
    struct experiment_tree *parsed = parse_value(value, place, d);
    if (parsed != NULL && tree_root(parsed)->first->type == NODE_GROUP) {
        diagnostics_error(d, PLACE_SET, 0, "%s: set the settings of a group one by one", key_path);
    } else if (parsed != NULL) {
        struct node *n = tree_root(parsed)->first;
        /* The place is the option, not line 1 of the text that was made up for libconfig. */
        n->file = PLACE_SET;
        n->line = 0;
        for (struct node *c = n->first; c != NULL; c = c->next) {
            c->file = PLACE_SET;
            c->line = 0;
        }
        done = tree_put(t, key_path, n, NULL, d);
    }
    tree_destroy(parsed);
    free(place);
    return done;
}

/* The first equals sign ends the key, so that a value may hold others. */
bool tree_set(struct experiment_tree *t, const char *assignment, struct diagnostics *d)
{
    const char *equals = strchr(assignment, '=');
    if (equals == NULL || !tree_is_key_path(assignment, (size_t)(equals - assignment))) {
        diagnostics_error(d, PLACE_SET, 0,
                          "\"%s\" is not of the form key.path=value, such as clients.count=25",
                          assignment);
        return false;
    }
    char *key_path = strndup(assignment, (size_t)(equals - assignment));
    if (key_path == NULL) {
        diagnostics_error(d, NULL, 0, "out of memory");
        return false;
    }
    const bool done = set_value(t, key_path, equals + 1, d);
    free(key_path);
    return done;
}
