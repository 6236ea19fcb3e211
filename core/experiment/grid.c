/* grid.c - the experiments of one file: its plan, cell by cell. */
#include "grid.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cell_condition.h"
#include "experiment_tree.h"
#include "grid_plan.h"

#define MAIN_CASE "main"

/* Further cells would mostly repeat what is wrong with the first ones. */
enum { NAME_BYTES = 200, ENOUGH_ERRORS = 1000 };

/* What cells are made from. */
struct layout {
    struct grid_plan plan;
    const struct experiment_tree *base;
    const struct grid_request *q;
    const struct experiment_options *o;
    struct diagnostics *d;
};

/* ---- cells ---- */

/* Number of all cells; 0 with an error when there are too many. */
static size_t count_cells(const struct grid_plan *p, const char *file)
{
    size_t n = p->n_cases * p->n_seeds; /* both are bounded by the size of a file */
    for (size_t i = 0; i < p->n_axes && n <= GRID_MAX_CELLS; i++)
        n *= p->axes[i].n;
    if (n <= GRID_MAX_CELLS)
        return n;
    diagnostics_error(p->d, file, 0, "the grid has more than %d cells", GRID_MAX_CELLS);
    return 0;
}

/* Appends "key=value" to the name of a case, with what no folder's name should hold replaced.  The
 * experiment's own name is a folder already. */
static void append_value(char name[NAME_BYTES], const char *key, const struct node *value)
{
    const size_t n = strlen(name);
    char text[NAME_BYTES / 2];
    node_text(value, text, sizeof text);
    snprintf(name + n, NAME_BYTES - n, "%s%s=%s", n > 0 ? "," : "", key, text);
    for (char *c = name + n; *c != '\0'; c++) {
        if (!isalnum((unsigned char)*c) && strchr("._+-=,", *c) == NULL)
            *c = '_';
    }
}

/* Where a cell stands in the plan. */
struct position {
    size_t in_cases;
    size_t in_axes[GRID_MAX_AXES];
    size_t in_seeds;
};

static struct position position_of(const struct grid_plan *p, size_t cell)
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

static void name_cell(const struct grid_plan *p, const struct position *at, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "%s", grid_plan_case_name(p, at->in_cases));
    for (size_t i = 0; i < p->n_axes; i++) {
        if (strcmp(p->axes[i].key, "name") != 0)
            append_value(name, p->axes[i].key, list_element(p->axes[i].values, at->in_axes[i]));
    }
    if (name[0] == '\0')
        snprintf(name, NAME_BYTES, "%s", MAIN_CASE);
}

static bool fail_for_memory(const struct layout *l)
{
    diagnostics_no_memory(l->d);
    return false;
}

static bool apply_case(const struct layout *l, struct experiment_tree *tree, size_t i)
{
    static const char *const except[] = {"name", NULL};
    char layer[NAME_BYTES];
    if (l->plan.cases == NULL)
        return true;
    snprintf(layer, sizeof layer, "case \"%s\"", grid_plan_case_name(&l->plan, i));
    return tree_overlay(tree, list_element(l->plan.cases, i), except, layer) || fail_for_memory(l);
}

static bool apply_axes(const struct layout *l, struct experiment_tree *tree,
                       const struct position *at, size_t begin, size_t end)
{
    const struct grid_axis *axis = l->plan.axes;
    bool good = true;
    for (size_t i = begin; i < end && good; i++)
        good =
            tree_put(tree, axis[i].key, list_element(axis[i].values, at->in_axes[i]), "vary", l->d);
    return good;
}

static const char *file_of(const struct layout *l)
{
    return tree_root(l->base)->file;
}

static bool report_condition(const struct layout *l, const struct node *at,
                             enum condition_answer answer, const char *condition)
{
    const char *file = at != NULL ? at->file : file_of(l);
    const unsigned line = at != NULL ? at->line : 0;
    const char *where = at != NULL ? "where.only" : "--only";
    const int key = (int)strcspn(condition, "=");
    if (answer == CONDITION_MALFORMED) {
        diagnostics_error(l->d, file, line,
                          "%s: \"%s\" is not of the form KEY=VALUE, such as case=osafl", where,
                          condition);
        return false;
    }
    char word[256];
    snprintf(word, sizeof word, "%.*s", key, condition);
    struct suggestion s = suggest_begin(word);
    suggest_offer(&s, "case");
    suggest_offer(&s, "seed");
    for (size_t i = 0; i < l->plan.n_axes; i++)
        suggest_offer(&s, l->plan.axes[i].key);
    diagnostics_error(l->d, file, line,
                      "%s: the experiment gives no setting \"%s\", by which cells could be "
                      "picked%s%s%s",
                      where, word, s.best != NULL ? "; did you mean \"" : "",
                      s.best != NULL ? s.best : "", s.best != NULL ? "\"?" : "");
    return false;
}

/* Lays the entries over the cell whose conditions it meets, each before the next is looked at.
 * *omitted: one of them leaves the cell out. */
static bool apply_where(const struct layout *l, struct experiment_tree *tree,
                        const struct cell_view *cell, const struct node *list, bool *omitted)
{
    static const char *const except[] = {"only", "where", "omit", NULL};
    for (const struct node *entry = list->first; entry != NULL; entry = entry->next) {
        const char *condition[GRID_MAX_CONDITIONS];
        const char *culprit = NULL;
        const size_t n = grid_plan_conditions(entry, condition);
        const enum condition_answer answer = conditions_check(condition, n, cell, &culprit);
        if (answer == CONDITION_FAILS)
            continue;
        if (answer != CONDITION_HOLDS)
            return report_condition(l, node_child(entry, "only"), answer, culprit);
        if (!tree_overlay(tree, entry, except, "where"))
            return fail_for_memory(l);
        const struct node *omit = node_child(entry, "omit");
        *omitted = *omitted || (omit != NULL && omit->value.boolean);
        const struct node *inner = node_child(entry, "where");
        if (inner != NULL && !apply_where(l, tree, cell, inner, omitted))
            return false;
    }
    return true;
}

/* The tree of a cell but for --set, which experiment_resolve() lays over it. */
static bool apply_cell(const struct layout *l, struct experiment_tree *tree,
                       const struct position *at, const struct cell_view *cell, bool *omitted)
{
    const struct grid_plan *p = &l->plan;
    bool good = apply_case(l, tree, at->in_cases) && apply_axes(l, tree, at, 0, p->n_own_axes);
    if (good && p->seeds != NULL)
        good = tree_put(tree, "seed", list_element(p->seeds, at->in_seeds), "seeds", l->d);
    if (good && p->where != NULL)
        good = apply_where(l, tree, cell, p->where, omitted);
    if (good && p->overlay != NULL && !tree_overlay(tree, p->overlay, grid_keys, NULL))
        good = fail_for_memory(l);
    return good && apply_axes(l, tree, at, p->n_own_axes, p->n_axes);
}

/* *out stays NULL for a cell that is not wanted; false: an error is reported. */
static bool make_cell(const struct layout *l, const struct position *at, struct experiment **out)
{
    char name[NAME_BYTES];
    name_cell(&l->plan, at, name);
    struct experiment_tree *tree = tree_copy(l->base);
    if (tree == NULL)
        return fail_for_memory(l);
    const struct cell_view cell = {
        .case_name =
            l->plan.cases != NULL ? grid_plan_case_name(&l->plan, at->in_cases) : MAIN_CASE,
        .full_name = name,
        .set = l->o->set,
        .n_set = l->o->n_set,
        .overlay = l->plan.overlay,
        .root = tree_root(tree),
    };
    const char *culprit = NULL;
    bool omitted = false;
    if (!apply_cell(l, tree, at, &cell, &omitted)) {
        tree_destroy(tree);
        return false;
    }
    const enum condition_answer wanted =
        conditions_check(l->q->only, l->q->n_only, &cell, &culprit);
    if (omitted || wanted != CONDITION_HOLDS) {
        tree_destroy(tree);
        return omitted || wanted == CONDITION_FAILS || report_condition(l, NULL, wanted, culprit);
    }
    *out = experiment_resolve(tree, name, l->o, l->d);
    if (*out != NULL)
        (*out)->case_index = (uint32_t)at->in_cases;
    return *out != NULL;
}

/* The conditions chose nothing.  A case that there is not is the likeliest reason. */
static void report_no_cell(const struct layout *l)
{
    const struct grid_plan *p = &l->plan;
    const char *missing = NULL;
    char all[512] = "";
    char list[1024] = "";
    for (size_t i = 0, n = 0; i < l->q->n_only && n < sizeof all; i++) {
        const char *only = l->q->only[i];
        if (strncmp(only, "case=", 5) == 0)
            missing = only + 5;
        n += (size_t)snprintf(all + n, sizeof all - n, "%s--only %s", i > 0 ? " " : "", only);
    }
    for (size_t i = 0; i < p->n_cases && p->cases != NULL; i++) {
        if (missing != NULL && strcmp(missing, grid_plan_case_name(p, i)) == 0)
            missing = NULL;
    }
    const size_t cells = count_cells(p, file_of(l));
    if (missing == NULL || (p->cases == NULL && p->n_axes == 0)) {
        diagnostics_error(l->d, file_of(l), 0, "no cell of the grid %s%s%s",
                          l->q->n_only > 0 ? "meets " : "is left: where omits them all", all,
                          missing != NULL ? "; the only case is " MAIN_CASE : "");
        return;
    }
    struct suggestion s = suggest_begin(missing);
    char name[NAME_BYTES];
    for (size_t i = 0; i < p->n_cases && p->cases != NULL; i++) {
        suggest_offer(&s, grid_plan_case_name(p, i));
        text_append_item(list, sizeof list, ", ", grid_plan_case_name(p, i));
    }
    /* A varied value is part of the full name, by which a cell can be picked as well. */
    for (size_t i = 0; i < cells && p->n_axes > 0; i += p->n_seeds) {
        const struct position at = position_of(p, i);
        name_cell(p, &at, name);
        text_append_item(list, sizeof list, ", ", name);
    }
    diagnostics_error(l->d, file_of(l), 0, "no case is called \"%s\"%s%s%s; there %s %s", missing,
                      s.best != NULL ? "; did you mean \"" : "", s.best != NULL ? s.best : "",
                      s.best != NULL ? "\"?" : "", strchr(list, ' ') != NULL ? "are" : "is only",
                      list);
}

static struct grid *create_grid(const struct grid_plan *p, size_t n)
{
    struct grid *g = calloc(1, sizeof *g);
    if (g == NULL)
        return NULL;
    g->has_cases = p->cases != NULL;
    g->cells = calloc(n, sizeof(struct experiment *));
    g->places = calloc(n, sizeof *g->places);
    g->own_keys = calloc(GRID_MAX_AXES, sizeof(char *));
    bool good = g->cells != NULL && g->places != NULL && g->own_keys != NULL;
    for (size_t i = 0; i < p->n_own_axes && good; i++) {
        g->own_keys[g->n_own_keys] = strdup(p->axes[i].key);
        good = g->own_keys[g->n_own_keys++] != NULL;
    }
    if (good)
        return g;
    grid_destroy(g);
    return NULL;
}

static struct grid_place place_of(const struct grid_plan *p, const struct position *at)
{
    struct grid_place place = {.problem = at->in_cases};
    for (size_t i = 0; i < p->n_own_axes; i++)
        place.problem = place.problem * p->axes[i].n + at->in_axes[i];
    for (size_t i = p->n_own_axes; i < p->n_axes; i++)
        place.setting = place.setting * p->axes[i].n + at->in_axes[i];
    return place;
}

static struct grid *make_cells(const struct layout *l)
{
    const size_t n = count_cells(&l->plan, file_of(l));
    struct grid *g = n > 0 ? create_grid(&l->plan, n) : NULL;
    if (g == NULL) {
        if (n > 0)
            fail_for_memory(l);
        return NULL;
    }
    for (size_t i = 0; i < n && diagnostics_errors(l->d) < ENOUGH_ERRORS; i++) {
        const struct position at = position_of(&l->plan, i);
        make_cell(l, &at, &g->cells[g->n]);
        if (g->cells[g->n] != NULL)
            g->places[g->n++] = place_of(&l->plan, &at);
    }
    return g;
}

/* Cells of one seed must not meet in one folder: values can look alike in a name. */
static bool share_folder(const struct experiment *a, const struct experiment *b)
{
    return a->general.seed == b->general.seed && strcmp(a->case_name, b->case_name) == 0 &&
           strcmp(a->general.name, b->general.name) == 0;
}

static void check_names(const struct layout *l, const struct grid *g)
{
    for (size_t i = 0; i < g->n; i++) {
        for (size_t k = 0; k < i; k++) {
            if (!share_folder(g->cells[i], g->cells[k]))
                continue;
            const char *name = g->cells[i]->case_name;
            diagnostics_error(l->d, file_of(l), 0, "two cells of the grid are called \"%s\"%s",
                              name,
                              strlen(name) + 1 < NAME_BYTES
                                  ? ""
                                  : ", since their names are cut there; vary fewer settings, or "
                                    "choose shorter names of cases");
            return;
        }
    }
}

/* What is wrong with a file whose plan is wrong. */
static void check_base(const struct layout *l)
{
    struct experiment_tree *copy = tree_copy(l->base);
    if (copy == NULL)
        fail_for_memory(l);
    else
        experiment_destroy(experiment_resolve(copy, MAIN_CASE, l->o, l->d));
}

static bool report_fixed(const struct layout *l, const char *axis)
{
    diagnostics_error(l->d, file_of(l), 0,
                      "%.*s: --set or --overlay fixes it, so it cannot be varied as well",
                      (int)strcspn(axis, "="), axis);
    return false;
}

/* top: the tree that says what the grid is. */
static struct grid *lay_out(struct layout *l, const struct node *top,
                            struct experiment_tree *const *also)
{
    const size_t errors_before = diagnostics_errors(l->d);
    bool good = grid_plan_read(&l->plan, top);
    for (size_t i = 0; i < l->q->n_also; i++) {
        const size_t n = l->plan.n_axes;
        good = grid_plan_vary(&l->plan, tree_root(also[i])) && good;
        if (good && l->plan.n_axes == n)
            good = report_fixed(l, l->q->also[i]);
    }
    if (!good) {
        check_base(l);
        return NULL;
    }
    struct grid *g = make_cells(l);
    if (g == NULL)
        return NULL;
    if (g->n == 0 && diagnostics_errors(l->d) == errors_before)
        report_no_cell(l);
    check_names(l, g);
    if (diagnostics_errors(l->d) == errors_before)
        return g;
    grid_destroy(g);
    return NULL;
}

/* The grid's keys may be given by overlay and --set too.  What is wrong with other values of theirs
 * is reported when they are applied to the cells. */
static struct grid *with_layers(struct layout *l, struct experiment_tree *const *also)
{
    struct experiment_tree *top = tree_copy(l->base);
    struct grid *g = NULL;
    if (top == NULL ||
        (l->plan.overlay != NULL && !tree_overlay(top, l->plan.overlay, NULL, NULL))) {
        fail_for_memory(l);
    } else {
        for (size_t i = 0; i < l->o->n_set; i++)
            tree_set(top, PLACE_SET, l->o->set[i], l->d);
        g = lay_out(l, tree_root(top), also);
    }
    tree_destroy(top);
    return g;
}

/* One more `vary`, of "KEY=LIST". */
static struct experiment_tree *read_also(const struct layout *l, const char *axis)
{
    char *text = NULL;
    const int key = (int)strcspn(axis, "=");
    const int n = asprintf(&text, "vary = ( { key = \"%.*s\"; values = %s; } );", key, axis,
                           axis[key] != '\0' ? axis + key + 1 : "[]");
    struct experiment_tree *t = NULL;
    if (n < 0)
        fail_for_memory(l);
    else
        t = tree_read_text(text, (size_t)n, "--over", l->d);
    if (n >= 0)
        free(text);
    return t;
}

struct grid *grid_resolve(struct experiment_tree *base, const struct grid_request *q,
                          const struct experiment_options *o, struct diagnostics *d)
{
    static const struct grid_request everything = {.n_only = 0};
    struct layout l = {.base = base, .q = q != NULL ? q : &everything, .o = o, .d = d};
    struct experiment_tree *overlay = NULL;
    struct experiment_tree **also = NULL;
    struct grid *g = NULL;
    bool good = base != NULL;
    l.plan = (struct grid_plan){.set = o->set, .n_set = o->n_set, .d = d};
    if (good && l.q->overlay != NULL) {
        overlay = tree_read_file(l.q->overlay, d);
        good = overlay != NULL;
        l.plan.overlay = good ? tree_root(overlay) : NULL;
    }
    if (good) {
        also = calloc(l.q->n_also + 1, sizeof(struct experiment_tree *));
        good = also != NULL || fail_for_memory(&l);
    }
    for (size_t i = 0; i < l.q->n_also && good; i++) {
        also[i] = read_also(&l, l.q->also[i]);
        good = also[i] != NULL;
    }
    if (good)
        g = with_layers(&l, also);
    for (size_t i = 0; also != NULL && i < l.q->n_also; i++)
        tree_destroy(also[i]);
    free(also);
    tree_destroy(overlay);
    tree_destroy(base);
    return g;
}

struct grid *grid_load(const char *file, const struct grid_request *q,
                       const struct experiment_options *o, struct diagnostics *d)
{
    return grid_resolve(tree_read_file(file, d), q, o, d);
}

void grid_destroy(struct grid *g)
{
    if (g == NULL)
        return;
    for (size_t i = 0; i < g->n; i++)
        experiment_destroy(g->cells[i]);
    for (size_t i = 0; i < g->n_own_keys; i++)
        free(g->own_keys[i]);
    free(g->own_keys);
    free(g->places);
    free(g->cells);
    free(g);
}
