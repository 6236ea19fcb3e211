/* grid_plan.h - what an experiment file says about its grid: cases, vary, seeds, where. */
#ifndef OSAFL_CORE_GRID_PLAN_H
#define OSAFL_CORE_GRID_PLAN_H

#include <stdbool.h>
#include <stddef.h>

struct diagnostics;
struct node;

/* A varied setting. */
struct grid_axis {
    const char *key;
    const struct node *values; /* a list that is not empty */
    size_t n;
};

enum { GRID_MAX_AXES = 16 };

/* Nodes belong to the trees that were read. */
struct grid_plan {
    const struct node *cases; /* list of groups; NULL: one case without a name */
    size_t n_cases;
    struct grid_axis axes[GRID_MAX_AXES];
    size_t n_axes;
    size_t n_own_axes;        /* the first ones, of the file; further ones win over where too */
    const struct node *seeds; /* list of integers; NULL: the one of the file */
    size_t n_seeds;
    const struct node *where; /* list of groups; NULL: none */

    /* Layers that win over the cells: what they fix is not varied. */
    const char *const *set;
    size_t n_set;
    const struct node *overlay; /* root; NULL: none */
    struct diagnostics *d;
};

/* Reads the plan from the root of a tree; p holds the layers and d.  False when d got errors; all
 * of the plan's errors are reported. */
bool grid_plan_read(struct grid_plan *p, const struct node *root);

/* Adds the axes of a further tree's `vary`. */
bool grid_plan_vary(struct grid_plan *p, const struct node *root);

/* Name of case i, "" without cases. */
const char *grid_plan_case_name(const struct grid_plan *p, size_t i);

/* The conditions of an entry of `where`: one text, or the texts of a list.  condition: room for
 * all, GRID_MAX_CONDITIONS. */
enum { GRID_MAX_CONDITIONS = 64 };
size_t grid_plan_conditions(const struct node *entry, const char *condition[GRID_MAX_CONDITIONS]);

/* Element i of a list that has it. */
const struct node *list_element(const struct node *list, size_t i);

/* Keys of the top level that make the grid; ends with NULL. */
extern const char *const grid_keys[];

#endif
