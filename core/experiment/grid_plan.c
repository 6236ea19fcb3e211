/* grid_plan.c - what an experiment file says about its grid: cases, vary, seeds, where. */
#include "grid_plan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/diagnostics.h"
#include "cell_condition.h"
#include "experiment_tree.h"
#include "grid.h"

const char *const grid_keys[] = {"cases", "vary", "seeds", "where", NULL};

OSAFL_PRINTF(4, 5)
static bool report_error(const struct grid_plan *p, const struct node *at, const char *key,
                         const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    diagnostics_error(p->d, at->file, at->line, "%s: %s", key, text);
    return false;
}

static size_t count_children(const struct node *n)
{
    size_t count = 0;
    for (const struct node *c = n->first; c != NULL; c = c->next)
        count++;
    return count;
}

const struct node *list_element(const struct node *list, size_t i)
{
    const struct node *n = list->first;
    while (i-- > 0)
        n = n->next;
    return n;
}

static bool is_grid_key(const char *name)
{
    size_t i = 0;
    while (grid_keys[i] != NULL && strcmp(grid_keys[i], name) != 0)
        i++;
    return grid_keys[i] != NULL;
}

/* ---- reading the plan ---- */

/* A list with at least one element; NULL with *wrong when it is given and is something else. */
static const struct node *find_list(const struct grid_plan *p, const struct node *root,
                                    const char *key, const char *wanted, bool *wrong)
{
    const struct node *list = node_child(root, key);
    if (list == NULL || (list->type == NODE_LIST && list->first != NULL))
        return list;
    report_error(p, list, key, "must be %s", wanted);
    *wrong = true;
    return NULL;
}

/* Names of cases become folders. */
static bool is_case_name(const char *name)
{
    size_t n = 0;
    while (isalnum((unsigned char)name[n]) ||
           (n > 0 && name[n] != '\0' && strchr("._-", name[n]) != NULL))
        n++;
    return n > 0 && n <= 64 && name[n] == '\0';
}

const char *grid_plan_case_name(const struct grid_plan *p, size_t i)
{
    return p->cases != NULL ? node_child(list_element(p->cases, i), "name")->value.text : "";
}

static bool read_case(const struct grid_plan *p, const struct node *c)
{
    bool good = true;
    if (c->type != NODE_GROUP)
        return report_error(p, c, "cases", "must hold groups { name = \"...\"; ... }, but it is %s",
                            node_type_words(c->type));
    const struct node *name = node_child(c, "name");
    if (name == NULL || name->type != NODE_TEXT || !is_case_name(name->value.text))
        good =
            report_error(p, name != NULL ? name : c, "cases.name",
                         "every case needs a name of letters, digits, \".\", \"_\" and \"-\", at "
                         "most 64, that begins with a letter or digit");
    for (const struct node *n = c->first; n != NULL; n = n->next) {
        if (is_grid_key(n->name))
            good = report_error(p, n, n->name, "is not allowed inside a case");
    }
    return good;
}

static bool read_cases(struct grid_plan *p, const struct node *root)
{
    bool wrong = false;
    const struct node *list =
        find_list(p, root, "cases", "a list ( { name = \"...\"; ... }, ... )", &wrong);
    if (list == NULL) {
        p->n_cases = 1;
        return !wrong;
    }
    for (const struct node *c = list->first; c != NULL; c = c->next)
        wrong = !read_case(p, c) || wrong;
    if (wrong)
        return false;
    p->cases = list;
    p->n_cases = count_children(list);
    for (size_t i = 0; i < p->n_cases; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(grid_plan_case_name(p, i), grid_plan_case_name(p, k)) == 0)
                wrong = !report_error(p, list_element(list, i), "cases.name",
                                      "\"%s\" is there twice", grid_plan_case_name(p, i));
        }
    }
    return !wrong;
}

/* True when a layer above the cells gives the setting itself. */
static bool is_fixed(const struct grid_plan *p, const char *key)
{
    const struct node *n = node_at_path(p->overlay, key);
    return set_value_of(p->set, p->n_set, key) != NULL || (n != NULL && n->type != NODE_GROUP);
}

static bool read_axis(struct grid_plan *p, const struct node *v)
{
    bool good = true;
    if (v->type != NODE_GROUP)
        return report_error(p, v, "vary",
                            "must hold groups { key = \"...\"; values = [...]; }, but it is %s",
                            node_type_words(v->type));
    const struct node *key = node_child(v, "key");
    const struct node *values = node_child(v, "values");
    if (key == NULL || key->type != NODE_TEXT || is_grid_key(key->value.text))
        good = report_error(p, key != NULL ? key : v, "vary.key",
                            "must name a setting, such as \"clients.count\"");
    if (values == NULL || values->type != NODE_LIST || values->first == NULL)
        good = report_error(p, values != NULL ? values : v, "vary.values",
                            "must be a list of values, such as [2, 4]");
    for (const struct node *n = v->first; n != NULL; n = n->next) {
        if (n != key && n != values)
            good = report_error(p, n, "vary",
                                "unknown key \"%s\"; the known keys are key and values", n->name);
    }
    if (!good)
        return false;
    for (const struct node *n = values->first; n != NULL; n = n->next) {
        if (n->type == NODE_GROUP)
            good = report_error(p, n, "vary.values", "a group cannot be a value; use cases");
    }
    for (size_t i = 0; i < p->n_axes; i++) {
        if (strcmp(p->axes[i].key, key->value.text) == 0)
            good = report_error(p, key, "vary.key", "\"%s\" is varied twice", key->value.text);
    }
    if (p->n_axes == GRID_MAX_AXES)
        return report_error(p, v, "vary", "more than %d settings", GRID_MAX_AXES);
    if (good && !is_fixed(p, key->value.text))
        p->axes[p->n_axes++] = (struct grid_axis){key->value.text, values, count_children(values)};
    return good;
}

bool grid_plan_vary(struct grid_plan *p, const struct node *root)
{
    bool wrong = false;
    const struct node *list =
        find_list(p, root, "vary", "a list ( { key = \"...\"; values = [...]; }, ... )", &wrong);
    for (const struct node *v = list != NULL ? list->first : NULL; v != NULL; v = v->next)
        wrong = !read_axis(p, v) || wrong;
    return !wrong;
}

static bool read_seeds(struct grid_plan *p, const struct node *root)
{
    bool wrong = false;
    const struct node *list =
        find_list(p, root, "seeds", "a list of seeds, such as [1, 2, 3]", &wrong);
    p->n_seeds = 1;
    if (list == NULL)
        return !wrong;
    if (count_children(list) > GRID_MAX_CELLS)
        return report_error(p, list, "seeds", "more than %d seeds", GRID_MAX_CELLS);
    for (const struct node *n = list->first; n != NULL; n = n->next) {
        if (n->type != NODE_INT || n->value.integer < 0)
            wrong = !report_error(p, n, "seeds", "must hold whole numbers from 0 on");
        for (const struct node *k = list->first; k != n && !wrong; k = k->next) {
            if (k->value.integer == n->value.integer)
                wrong = !report_error(p, n, "seeds", "%lld is there twice",
                                      (long long)n->value.integer);
        }
    }
    if (wrong || is_fixed(p, "seed"))
        return !wrong;
    for (size_t i = 0; i < p->n_axes; i++) {
        if (strcmp(p->axes[i].key, "seed") == 0)
            return report_error(p, list, "seeds", "\"seed\" is varied already");
    }
    p->seeds = list;
    p->n_seeds = count_children(list);
    return true;
}

/* ---- where ---- */

size_t grid_plan_conditions(const struct node *entry, const char *condition[GRID_MAX_CONDITIONS])
{
    const struct node *only = node_child(entry, "only");
    size_t n = 0;
    if (only->type == NODE_TEXT)
        condition[n++] = only->value.text;
    for (const struct node *c = only->type == NODE_LIST ? only->first : NULL; c != NULL;
         c = c->next)
        condition[n++] = c->value.text;
    return n;
}

static bool read_only(const struct grid_plan *p, const struct node *entry)
{
    static const char wanted[] =
        "must be a condition such as \"case=osafl\", or a list of conditions";
    const struct node *only = node_child(entry, "only");
    bool good = only != NULL && (only->type == NODE_TEXT || only->type == NODE_LIST);
    for (const struct node *c = good && only->type == NODE_LIST ? only->first : NULL; c != NULL;
         c = c->next)
        good = good && c->type == NODE_TEXT;
    if (!good)
        return report_error(p, only != NULL ? only : entry, "where.only", "%s", wanted);
    if (only->type == NODE_LIST && count_children(only) > GRID_MAX_CONDITIONS)
        return report_error(p, only, "where.only", "more than %d conditions", GRID_MAX_CONDITIONS);
    return true;
}

/* Entries may hold further entries, for the cells that meet both conditions. */
static bool read_where(const struct grid_plan *p, const struct node *list)
{
    bool good = true;
    if (list->type != NODE_LIST)
        return report_error(p, list, "where", "must be a list ( { only = \"...\"; ... }, ... )");
    for (const struct node *entry = list->first; entry != NULL; entry = entry->next) {
        if (entry->type != NODE_GROUP) {
            good = report_error(p, entry, "where",
                                "must hold groups { only = \"...\"; ... }, but it is %s",
                                node_type_words(entry->type));
            continue;
        }
        good = read_only(p, entry) && good;
        const struct node *omit = node_child(entry, "omit");
        if (omit != NULL && omit->type != NODE_BOOL)
            good = report_error(p, omit, "where.omit", "must be true or false");
        for (const struct node *n = entry->first; n != NULL; n = n->next) {
            if (strcmp(n->name, "where") == 0)
                good = read_where(p, n) && good;
            else if (is_grid_key(n->name))
                good = report_error(p, n, n->name, "is not allowed inside where");
        }
    }
    return good;
}

bool grid_plan_read(struct grid_plan *p, const struct node *root)
{
    const bool cases = read_cases(p, root);
    const bool vary = grid_plan_vary(p, root);
    p->n_own_axes = p->n_axes;
    const bool seeds = read_seeds(p, root);
    p->where = node_child(root, "where");
    const bool where = p->where == NULL || read_where(p, p->where);
    return cases && vary && seeds && where;
}
