/* grid.c - the experiments of one file: cases, varied settings, seeds. */
#include "grid.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "experiment_tree.h"
#include "suggest.h"

#define MAIN_CASE "main"

/* Further cells would mostly repeat what is wrong with the first ones. */
enum { MAX_AXES = 16, NAME_BYTES = 200, ENOUGH_ERRORS = 100 };

/* A varied setting. */
struct axis {
    const char *key;
    const struct node *values; /* a list that is not empty */
    size_t n;
};

/* What a file says about its cells. */
struct plan {
    const struct experiment_tree *base;
    const struct experiment_options *o;
    struct diagnostics *d;
    const struct node *cases; /* list of groups; NULL: one case */
    size_t n_cases;
    struct axis axes[MAX_AXES];
    size_t n_axes;
    const struct node *seeds; /* list of integers; NULL: the one of the file */
    size_t n_seeds;
    const char *only_case;
};

OSAFL_PRINTF(4, 5)
static bool complain(const struct plan *p, const struct node *at, const char *key, const char *fmt,
                     ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
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

static const struct node *element(const struct node *list, size_t i)
{
    const struct node *n = list->first;
    while (i-- > 0)
        n = n->next;
    return n;
}

static bool is_grid_key(const char *name)
{
    return strcmp(name, "cases") == 0 || strcmp(name, "vary") == 0 || strcmp(name, "seeds") == 0;
}

/* ---- reading the plan ---- */

/* A list with at least one element; NULL with *wrong when it is given and is something else. */
static const struct node *find_list(const struct plan *p, const struct node *root, const char *key,
                                    const char *wanted, bool *wrong)
{
    const struct node *list = node_child(root, key);
    if (list == NULL || (list->type == NODE_LIST && list->first != NULL))
        return list;
    complain(p, list, key, "must be %s", wanted);
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

static const char *case_name(const struct plan *p, size_t i)
{
    return p->cases != NULL ? node_child(element(p->cases, i), "name")->value.text : "";
}

static bool read_case(const struct plan *p, const struct node *c)
{
    bool good = true;
    if (c->type != NODE_GROUP)
        return complain(p, c, "cases",
                        "must hold groups { name = \"...\"; ... }, but %s stands here",
                        node_type_words(c->type));
    const struct node *name = node_child(c, "name");
    if (name == NULL || name->type != NODE_TEXT || !is_case_name(name->value.text))
        good = complain(p, name != NULL ? name : c, "cases.name",
                        "every case needs a name of letters, digits, \".\", \"_\" and \"-\", at "
                        "most 64, that begins with a letter or digit");
    for (const struct node *n = c->first; n != NULL; n = n->next) {
        if (is_grid_key(n->name))
            good = complain(p, n, n->name, "cannot stand inside a case");
    }
    return good;
}

static bool read_cases(struct plan *p, const struct node *root)
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
            if (strcmp(case_name(p, i), case_name(p, k)) == 0)
                wrong = !complain(p, element(list, i), "cases.name", "\"%s\" is there twice",
                                  case_name(p, i));
        }
    }
    return !wrong;
}

/* True when --set gives the setting itself. */
static bool is_set(const struct plan *p, const char *key)
{
    const size_t n = strlen(key);
    for (size_t i = 0; i < p->o->n_set; i++) {
        if (strncmp(p->o->set[i], key, n) == 0 && p->o->set[i][n] == '=')
            return true;
    }
    return false;
}

static bool read_axis(struct plan *p, const struct node *v)
{
    bool good = true;
    if (v->type != NODE_GROUP)
        return complain(p, v, "vary",
                        "must hold groups { key = \"...\"; values = [...]; }, but %s stands here",
                        node_type_words(v->type));
    const struct node *key = node_child(v, "key");
    const struct node *values = node_child(v, "values");
    if (key == NULL || key->type != NODE_TEXT || is_grid_key(key->value.text))
        good = complain(p, key != NULL ? key : v, "vary.key",
                        "must name a setting, such as \"clients.count\"");
    if (values == NULL || values->type != NODE_LIST || values->first == NULL)
        good = complain(p, values != NULL ? values : v, "vary.values",
                        "must be a list of values, such as [2, 4]");
    for (const struct node *n = v->first; n != NULL; n = n->next) {
        if (n != key && n != values)
            good = complain(p, n, "vary", "unknown key \"%s\"; known are key and values", n->name);
    }
    if (!good)
        return false;
    for (const struct node *n = values->first; n != NULL; n = n->next) {
        if (n->type == NODE_GROUP)
            good = complain(p, n, "vary.values", "a group cannot be a value; use cases");
    }
    for (size_t i = 0; i < p->n_axes; i++) {
        if (strcmp(p->axes[i].key, key->value.text) == 0)
            good = complain(p, key, "vary.key", "\"%s\" is varied twice", key->value.text);
    }
    if (p->n_axes == MAX_AXES)
        return complain(p, v, "vary", "more than %d settings", MAX_AXES);
    if (good && !is_set(p, key->value.text))
        p->axes[p->n_axes++] = (struct axis){key->value.text, values, count_children(values)};
    return good;
}

static bool read_vary(struct plan *p, const struct node *root)
{
    bool wrong = false;
    const struct node *list =
        find_list(p, root, "vary", "a list ( { key = \"...\"; values = [...]; }, ... )", &wrong);
    for (const struct node *v = list != NULL ? list->first : NULL; v != NULL; v = v->next)
        wrong = !read_axis(p, v) || wrong;
    return !wrong;
}

static bool read_seeds(struct plan *p, const struct node *root)
{
    bool wrong = false;
    const struct node *list =
        find_list(p, root, "seeds", "a list of seeds, such as [1, 2, 3]", &wrong);
    p->n_seeds = 1;
    if (list == NULL)
        return !wrong;
    if (count_children(list) > GRID_MAX_CELLS)
        return complain(p, list, "seeds", "more than %d seeds", GRID_MAX_CELLS);
    for (const struct node *n = list->first; n != NULL; n = n->next) {
        if (n->type != NODE_INT || n->value.integer < 0)
            wrong = !complain(p, n, "seeds", "must hold whole numbers from 0 on");
        for (const struct node *k = list->first; k != n && !wrong; k = k->next) {
            if (k->value.integer == n->value.integer)
                wrong =
                    !complain(p, n, "seeds", "%lld is there twice", (long long)n->value.integer);
        }
    }
    if (wrong || is_set(p, "seed"))
        return !wrong;
    for (size_t i = 0; i < p->n_axes; i++) {
        if (strcmp(p->axes[i].key, "seed") == 0)
            return complain(p, list, "seeds", "\"seed\" is varied already");
    }
    p->seeds = list;
    p->n_seeds = count_children(list);
    return true;
}

/* ---- cells ---- */

/* Number of all cells; 0 with an error when there are too many. */
static size_t count_cells(const struct plan *p)
{
    size_t n = p->n_cases * p->n_seeds; /* both are bounded by the size of a file */
    for (size_t i = 0; i < p->n_axes && n <= GRID_MAX_CELLS; i++)
        n *= p->axes[i].n;
    if (n <= GRID_MAX_CELLS)
        return n;
    diagnostics_error(p->d, tree_root(p->base)->file, 0, "the grid has more than %d cells",
                      GRID_MAX_CELLS);
    return 0;
}

/* Appends "key=value" to the name of a case, with what no folder's name should hold replaced. */
static void append_value(char name[NAME_BYTES], const char *key, const struct node *value)
{
    const size_t n = strlen(name);
    char text[NAME_BYTES / 2];
    node_text(value, text, sizeof(text));
    snprintf(name + n, NAME_BYTES - n, "%s%s=%s", n > 0 ? "," : "", key, text);
    for (char *c = name + n; *c != '\0'; c++) {
        if (!isalnum((unsigned char)*c) && strchr("._+-=,", *c) == NULL)
            *c = '_';
    }
}

/* Where a cell stands in the plan. */
struct position {
    size_t in_cases;
    size_t in_axes[MAX_AXES];
    size_t in_seeds;
};

static struct position position_of(const struct plan *p, size_t cell)
{
    struct position at = {.in_seeds = cell % p->n_seeds};
    cell /= p->n_seeds;
    for (size_t i = p->n_axes; i-- > 0;) {
        at.in_axes[i] = cell % p->axes[i].n;
        cell /= p->axes[i].n;
    }
    at.in_cases = cell;
    return at;
}

static void name_cell(const struct plan *p, const struct position *at, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "%s", case_name(p, at->in_cases));
    for (size_t i = 0; i < p->n_axes; i++)
        append_value(name, p->axes[i].key, element(p->axes[i].values, at->in_axes[i]));
    if (name[0] == '\0')
        snprintf(name, NAME_BYTES, "%s", MAIN_CASE);
}

static bool lay_case(const struct plan *p, struct experiment_tree *tree, size_t i)
{
    char layer[NAME_BYTES];
    if (p->cases == NULL)
        return true;
    snprintf(layer, sizeof(layer), "case \"%s\"", case_name(p, i));
    if (tree_overlay(tree, element(p->cases, i), "name", layer))
        return true;
    diagnostics_error(p->d, NULL, 0, "out of memory");
    return false;
}

static struct experiment *make_cell(const struct plan *p, const struct position *at,
                                    const char *name)
{
    struct experiment_tree *tree = tree_copy(p->base);
    if (tree == NULL) {
        diagnostics_error(p->d, NULL, 0, "out of memory");
        return NULL;
    }
    bool good = lay_case(p, tree, at->in_cases);
    for (size_t i = 0; i < p->n_axes && good; i++)
        good = tree_put(tree, p->axes[i].key, element(p->axes[i].values, at->in_axes[i]), "vary",
                        p->d);
    if (good && p->seeds != NULL)
        good = tree_put(tree, "seed", element(p->seeds, at->in_seeds), "seeds", p->d);
    if (!good) {
        tree_destroy(tree);
        return NULL;
    }
    struct experiment *e = experiment_resolve(tree, name, p->o, p->d);
    if (e != NULL)
        e->case_index = (uint32_t)at->in_cases;
    return e;
}

static bool is_wanted(const struct plan *p, const struct position *at, const char *name)
{
    return p->only_case == NULL || strcmp(p->only_case, name) == 0 ||
           strcmp(p->only_case, case_name(p, at->in_cases)) == 0;
}

static void complain_unknown_case(const struct plan *p, size_t n)
{
    struct suggestion s = suggest_begin(p->only_case);
    char list[512] = "";
    size_t length = 0;
    for (size_t i = 0; i < p->n_cases && p->cases != NULL && length < sizeof(list); i++) {
        suggest_offer(&s, case_name(p, i));
        length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s", i > 0 ? ", " : "",
                                   case_name(p, i));
    }
    diagnostics_error(p->d, tree_root(p->base)->file, 0,
                      "no case is called \"%s\"%s%s%s; there are %zu cells%s%s", p->only_case,
                      s.best != NULL ? "; did you mean \"" : "", s.best != NULL ? s.best : "",
                      s.best != NULL ? "\"?" : "", n, length > 0 ? " of the cases " : "", list);
}

static struct grid *make_cells(const struct plan *p)
{
    const size_t n = count_cells(p);
    struct grid *g = n > 0 ? calloc(1, sizeof(*g)) : NULL;
    if (g != NULL)
        g->cells = calloc(n, sizeof(*g->cells));
    if (g == NULL || g->cells == NULL) {
        if (n > 0)
            diagnostics_error(p->d, NULL, 0, "out of memory");
        free(g);
        return NULL;
    }
    for (size_t i = 0; i < n && diagnostics_errors(p->d) < ENOUGH_ERRORS; i++) {
        const struct position at = position_of(p, i);
        char name[NAME_BYTES];
        name_cell(p, &at, name);
        if (!is_wanted(p, &at, name))
            continue;
        g->cells[g->n] = make_cell(p, &at, name);
        if (g->cells[g->n] != NULL)
            g->n++;
    }
    return g;
}

/* Cells of one seed must not meet in one folder: values can look alike in a name. */
static void check_names(const struct plan *p, const struct grid *g)
{
    for (size_t i = 0; i < g->n; i++) {
        for (size_t k = 0; k < i; k++) {
            if (g->cells[i]->general.seed == g->cells[k]->general.seed &&
                strcmp(g->cells[i]->case_name, g->cells[k]->case_name) == 0) {
                diagnostics_error(p->d, tree_root(p->base)->file, 0,
                                  "two cells of the grid are called \"%s\"",
                                  g->cells[i]->case_name);
                return;
            }
        }
    }
}

/* What is wrong with a file whose plan is wrong. */
static void check_base(const struct plan *p)
{
    struct experiment_tree *copy = tree_copy(p->base);
    if (copy == NULL)
        diagnostics_error(p->d, NULL, 0, "out of memory");
    else
        experiment_destroy(experiment_resolve(copy, MAIN_CASE, p->o, p->d));
}

static struct grid *follow(struct plan *p, const struct node *root)
{
    const size_t errors_before = diagnostics_errors(p->d);
    const bool cases = read_cases(p, root);
    const bool vary = read_vary(p, root);
    const bool seeds = read_seeds(p, root);
    if (!cases || !vary || !seeds) {
        check_base(p);
        return NULL;
    }
    struct grid *g = make_cells(p);
    if (g == NULL)
        return NULL;
    if (g->n == 0 && diagnostics_errors(p->d) == errors_before)
        complain_unknown_case(p, count_cells(p));
    check_names(p, g);
    if (diagnostics_errors(p->d) == errors_before)
        return g;
    grid_destroy(g);
    return NULL;
}

/* Takes base over. */
static struct grid *from_tree(struct experiment_tree *base, const char *only_case,
                              const struct experiment_options *o, struct diagnostics *d)
{
    if (base == NULL)
        return NULL;
    struct plan p = {.base = base, .o = o, .d = d, .only_case = only_case};
    struct grid *g = NULL;
    /* The keys of a grid may be given by --set too.  A wrong one is told when it is laid over the
     * cells. */
    struct experiment_tree *top = tree_copy(base);
    if (top == NULL) {
        diagnostics_error(d, NULL, 0, "out of memory");
    } else {
        for (size_t i = 0; i < o->n_set; i++)
            tree_set(top, o->set[i], d);
        g = follow(&p, tree_root(top));
    }
    tree_destroy(top);
    tree_destroy(base);
    return g;
}

struct grid *grid_load(const char *file, const char *only_case, const struct experiment_options *o,
                       struct diagnostics *d)
{
    return from_tree(tree_read_file(file, d), only_case, o, d);
}

struct grid *grid_load_text(const char *text, size_t n, const char *file, const char *only_case,
                            const struct experiment_options *o, struct diagnostics *d)
{
    return from_tree(tree_read_text(text, n, file, d), only_case, o, d);
}

void grid_destroy(struct grid *g)
{
    if (g == NULL)
        return;
    for (size_t i = 0; i < g->n; i++)
        experiment_destroy(g->cells[i]);
    free(g->cells);
    free(g);
}

/* ---- a single experiment ---- */

static struct experiment *only_cell(struct grid *g, const char *file, struct diagnostics *d)
{
    struct experiment *e = NULL;
    if (g == NULL)
        return NULL;
    if (g->n == 1) {
        e = g->cells[0];
        g->n = 0;
    } else {
        diagnostics_error(d, file, 0, "holds a grid of %zu cells where one experiment is wanted",
                          g->n);
    }
    grid_destroy(g);
    return e;
}

struct experiment *experiment_load(const char *file, const struct experiment_options *o,
                                   struct diagnostics *d)
{
    return only_cell(grid_load(file, NULL, o, d), file, d);
}

struct experiment *experiment_load_text(const char *text, size_t n, const char *file,
                                        const struct experiment_options *o, struct diagnostics *d)
{
    return only_cell(grid_load_text(text, n, file, NULL, o, d), file, d);
}
