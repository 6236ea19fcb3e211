/* cell_condition.h - conditions "KEY=VALUE" that pick cells of a grid: those of --only and of the
 * file's `where`.
 *
 * KEY is "case", "seed" or the path of a setting that the file gives.  A case "osafl" holds for
 * all of its cells, "osafl,quantizer.qsgd.levels=2" for those with that varied value alone.
 * Numbers are compared as numbers. */
#ifndef OSAFL_CORE_CELL_CONDITION_H
#define OSAFL_CORE_CELL_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

struct node;

/* What a cell says of itself; layers that win come first. */
struct cell_view {
    const char *case_name;  /* "osafl" */
    const char *full_name;  /* with the varied values */
    const char *const *set; /* of --set, [n_set] */
    size_t n_set;
    const struct node *overlay; /* root of the overlay; NULL: none */
    const struct node *root;    /* of the cell's tree */
};

enum condition_answer {
    CONDITION_FAILS,
    CONDITION_HOLDS,
    CONDITION_UNKNOWN,   /* the file gives no setting of that name */
    CONDITION_MALFORMED, /* not KEY=VALUE */
};

/* Conditions on one key are alternatives, those on different keys must all hold; none at all hold.
 * *culprit: the condition to blame for the last two answers. */
enum condition_answer conditions_check(const char *const *condition, size_t n,
                                       const struct cell_view *cell, const char **culprit);

/* The node at "a.b.c" below a group; NULL: there is none. */
const struct node *node_at_path(const struct node *group, const char *path);

/* What the last "KEY=VALUE" of a list gives the key; NULL: nothing. */
const char *set_value_of(const char *const *set, size_t n_set, const char *key);

#endif
