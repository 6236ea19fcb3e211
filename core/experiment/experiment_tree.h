/* experiment_tree.h - what an experiment file says, as a tree that knows where each value stands.
 *
 * libconfig parses; its settings are then copied into nodes of our own, because a value may also
 * come from a case of a grid or from the command line, and every message and the resolved file
 * name its place. */
#ifndef OSAFL_CORE_EXPERIMENT_TREE_H
#define OSAFL_CORE_EXPERIMENT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diagnostics;
struct experiment_tree; /* owns its nodes and all strings in them */

enum node_type {
    NODE_GROUP = 1,
    NODE_LIST, /* libconfig's lists and arrays; its elements have no name */
    NODE_BOOL,
    NODE_INT,
    NODE_REAL, /* finite */
    NODE_TEXT,
};

/* The place of values from the command line. */
#define PLACE_SET "--set"

struct node {
    const char *name; /* NULL: the root, or an element of a list */
    enum node_type type;
    union {
        bool boolean;
        int64_t integer;
        double real;
        const char *text; /* UTF-8 */
    } value;
    struct node *first; /* children of a group or list, in the order of the text */
    struct node *last;
    struct node *next;   /* sibling */
    struct node *under;  /* what this value replaced: it is still checked, and not applied */
    const char *file;    /* as the user would open it, or PLACE_SET */
    unsigned line;       /* 0 in PLACE_SET */
    const char *written; /* of a value from the command line: its characters; else NULL */
    const char *layer;   /* NULL: the file itself; "case \"osafl\"", "vary": part of a grid */
    struct experiment_tree *tree;
};

/* Reads a file and what it includes.  NULL when d got an error; all that can be
 * reported at once is. */
struct experiment_tree *tree_read_file(const char *file, struct diagnostics *d);

/* The same for a text of n bytes; file: the name for messages, and its folder the one of
 * @include. */
struct experiment_tree *tree_read_text(const char *text, size_t n, const char *file,
                                       struct diagnostics *d);

/* A copy that shares nothing with t.  NULL: out of memory. */
struct experiment_tree *tree_copy(const struct experiment_tree *t);

void tree_destroy(struct experiment_tree *t);

struct node *tree_root(const struct experiment_tree *t);

/* The child of that name; NULL when there is none or group is NULL or no group. */
struct node *node_child(const struct node *group, const char *name);

/* Lays the children of a group over t: groups merge, all else replaces.  Children whose names are
 * in `except` (ends with NULL; may be NULL) are left out.  layer: see struct node.  False: out of
 * memory. */
bool tree_overlay(struct experiment_tree *t, const struct node *group, const char *const *except,
                  const char *layer);

/* Lays "key.path=value" over t.  value: a libconfig scalar, array or list; anything else is a
 * string.  place: where it comes from, PLACE_SET or a name that outlives t; its values have it as
 * their file.  False when d got an error. */
bool tree_set(struct experiment_tree *t, const char *place, const char *assignment,
              struct diagnostics *d);

/* Lays a copy of a value at key path "a.b.c", with the value's own place. */
bool tree_put(struct experiment_tree *t, const char *key_path, const struct node *value,
              const char *layer, struct diagnostics *d);

/* Memory that lives as long as t, for whoever binds its values.  NULL: out of memory. */
void *tree_alloc(struct experiment_tree *t, size_t bytes);
char *tree_string(struct experiment_tree *t, const char *s);

/* A value without quotes and spaces, for the name of a case: 2, 0.5, true, osafl, 0.3,0.8.  Returns
 * what snprintf does. */
int node_text(const struct node *n, char *out, size_t size);

/* "a group", "a whole number", ... for messages. */
const char *node_type_words(enum node_type type);

#endif
