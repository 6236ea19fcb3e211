/* tune_trial.c - one setting that `osafl tune` tries, and how the results are printed. */
#include "tune_trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "experiment/cell_condition.h"
#include "experiment/experiment_tree.h"
#include "results/measures.h"

enum { VALUE_BYTES = 128, PATH_BYTES = 512 };

/* ---- order ----------------------------------------------------------------------------------- */

static bool is_better(const struct trial *a, const struct trial *b)
{
    if (a->rounds != b->rounds)
        return a->rounds > b->rounds;
    if (a->rounds == 0 || a->value == b->value)
        return a->setting < b->setting;
    return measure_higher_is_better(a->measure) ? a->value > b->value : a->value < b->value;
}

size_t trial_rank(const struct trial *t, size_t n, size_t i)
{
    size_t rank = 0;
    for (size_t k = 0; k < n; k++)
        rank += k != i && is_better(&t[k], &t[i]);
    return rank;
}

static const struct trial *ranked(const struct trial *t, size_t n, size_t rank)
{
    size_t i = 0;
    while (i + 1 < n && trial_rank(t, n, i) != rank)
        i++;
    return &t[i];
}

/* ---- values ---------------------------------------------------------------------------------- */

static const struct node *value_of(const struct trial *t, const char *key)
{
    return node_at_path(tree_root(t->cell[0]->tree), key);
}

static void value_text(const struct trial *t, const char *key, char out[VALUE_BYTES])
{
    const struct node *n = value_of(t, key);
    out[0] = '\0';
    if (n != NULL)
        node_text(n, out, VALUE_BYTES);
}

/* "osafl" of "osafl,quantizer.qsgd.levels=2". */
static int case_length(const struct trial *t)
{
    return (int)strcspn(t->cell[0]->case_name, ",");
}

void trial_print_problem(const struct grid *g, const struct trial *t, FILE *to)
{
    char value[VALUE_BYTES];
    fputs(t->cell[0]->general.name, to);
    if (g->has_cases)
        fprintf(to, ", %.*s", case_length(t), t->cell[0]->case_name);
    for (size_t i = 0; i < g->n_own_keys; i++) {
        const char *key = g->own_keys[i];
        const char *dot = strrchr(key, '.');
        const char *last = dot != NULL ? dot + 1 : key;
        if (strcmp(key, "name") == 0)
            continue;
        value_text(t, key, value);
        if (strcmp(last, "plugin") == 0)
            fprintf(to, ", %s", value);
        else
            fprintf(to, ", %s %s", last, value);
    }
}

/* ---- the block to paste ---------------------------------------------------------------------- */

static void print_value(const struct node *n, FILE *to)
{
    char text[VALUE_BYTES];
    if (n->type == NODE_TEXT) {
        fputc('"', to);
        for (const char *c = n->value.text; *c != '\0'; c++)
            fprintf(to, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        fputc('"', to);
        return;
    }
    node_text(n, text, sizeof text);
    fprintf(to, n->type == NODE_LIST ? "[%s]" : "%s", text);
}

/* Which settings of a trial's tree are printed. */
struct selection {
    const char *const *key; /* [n_keys] */
    size_t n_keys;
    bool of_case; /* what the case gives, too */
};

/* n: what stands at a path of the tree. */
static bool is_selected(const struct selection *s, const struct node *n, const char *path)
{
    for (size_t i = 0; i < s->n_keys; i++) {
        if (strcmp(s->key[i], path) == 0)
            return true;
    }
    return s->of_case && n->layer != NULL && strncmp(n->layer, "case ", 5) == 0;
}

static void extend_path(char out[PATH_BYTES], const char *path, const char *name)
{
    snprintf(out, PATH_BYTES, "%s%s%s", path, path[0] != '\0' ? "." : "", name);
}

static bool holds_selected(const struct selection *s, const struct node *n, const char *path)
{
    char inside[PATH_BYTES];
    if (n->type != NODE_GROUP)
        return is_selected(s, n, path);
    bool any = false;
    for (const struct node *c = n->first; c != NULL && !any; c = c->next) {
        extend_path(inside, path, c->name);
        any = holds_selected(s, c, inside);
    }
    return any;
}

/* The selected settings of a group as libconfig text, on one line. */
static void print_group(const struct selection *s, const struct node *group, const char *path,
                        FILE *to)
{
    bool first = true;
    for (const struct node *c = group->first; c != NULL; c = c->next) {
        char inside[PATH_BYTES];
        extend_path(inside, path, c->name);
        if (!holds_selected(s, c, inside))
            continue;
        fprintf(to, "%s%s", first ? "" : " ", c->name);
        first = false;
        if (c->type == NODE_GROUP) {
            fputs(": { ", to);
            print_group(s, c, inside, to);
            fputs(" };", to);
        } else {
            fputs(" = ", to);
            print_value(c, to);
            fputc(';', to);
        }
    }
}

/* An entry of `where` when the file varies something, a whole case when it has cases, else
 * settings. */
static void print_block(const struct grid *g, const struct trial *t, const char *const *key,
                        size_t n_keys, FILE *to)
{
    char value[VALUE_BYTES];
    const struct experiment *e = t->cell[0];
    if (g->n_own_keys > 0) {
        fputs("    { only = [", to);
        if (g->has_cases)
            fprintf(to, "\"case=%.*s\", ", case_length(t), e->case_name);
        for (size_t i = 0; i < g->n_own_keys; i++) {
            value_text(t, g->own_keys[i], value);
            fprintf(to, "%s\"%s=%s\"", i > 0 ? ", " : "", g->own_keys[i], value);
        }
        fputs("];\n      ", to);
    } else if (g->has_cases) {
        fprintf(to, "    { name = \"%.*s\";\n      ", case_length(t), e->case_name);
    } else {
        fputs("    ", to);
    }
    const struct selection selected = {.key = key, .n_keys = n_keys, .of_case = g->n_own_keys == 0};
    print_group(&selected, tree_root(e->tree), "", to);
    fputs(g->n_own_keys > 0 || g->has_cases ? " },\n" : "\n", to);
}

/* ---- the table ------------------------------------------------------------------------------- */

static size_t column_width(const struct trial *t, size_t n, const char *key)
{
    char value[VALUE_BYTES];
    size_t width = strlen(key);
    for (size_t i = 0; i < n; i++) {
        value_text(&t[i], key, value);
        width = strlen(value) > width ? strlen(value) : width;
    }
    return width;
}

static void print_table(const struct trial *t, size_t n, const char *const *key, size_t n_keys,
                        FILE *to)
{
    char value[VALUE_BYTES];
    const struct trial *best = ranked(t, n, 0);
    for (size_t k = 0; k < n_keys; k++)
        fprintf(to, "%*s  ", (int)column_width(t, n, key[k]), key[k]);
    /* Nobody knows the measure where every setting failed. */
    fprintf(to, "rounds  best validation %s\n", best->measure[0] != '\0' ? best->measure : "value");
    for (size_t rank = 0; rank < n; rank++) {
        const struct trial *r = ranked(t, n, rank);
        for (size_t k = 0; k < n_keys; k++) {
            value_text(r, key[k], value);
            fprintf(to, "%*s  ", (int)column_width(t, n, key[k]), value);
        }
        if (r->rounds > 0)
            fprintf(to, "%6" PRIu32 "  %.5g", r->rounds, r->value);
        if (r->failure.text[0] != '\0')
            fprintf(to, "%sfailed: %s", r->rounds > 0 ? ", then " : "        ", r->failure.text);
        fputc('\n', to);
    }
}

/* A best value at the end of its range may have a better neighbour outside. */
static void warn_of_ends(const struct trial *t, size_t n, const char *const *key, size_t n_keys,
                         FILE *to)
{
    const struct trial *best = ranked(t, n, 0);
    for (size_t k = 0; k < n_keys; k++) {
        char text[VALUE_BYTES];
        size_t below = 0;
        size_t above = 0;
        value_text(best, key[k], text);
        const double v = strtod(text, NULL);
        for (size_t i = 0; i < n; i++) {
            char other[VALUE_BYTES];
            value_text(&t[i], key[k], other);
            below += strtod(other, NULL) < v;
            above += strtod(other, NULL) > v;
        }
        if ((below == 0) != (above == 0))
            fprintf(to, "%s = %s is the %s value that was tried; try %s ones too\n", key[k], text,
                    below == 0 ? "smallest" : "greatest", below == 0 ? "smaller" : "greater");
    }
}

bool trial_print_results(const struct grid *g, const struct trial *t, size_t n,
                         const char *const *key, size_t n_keys, FILE *to)
{
    const struct trial *best = ranked(t, n, 0);
    trial_print_problem(g, t, to);
    fprintf(to, ": %zu setting%s, %zu seed%s, %" PRId64 " round%s\n", n, text_plural(n), t->cells,
            text_plural(t->cells), t->cell[0]->general.rounds,
            text_plural((uint64_t)t->cell[0]->general.rounds));
    print_table(t, n, key, n_keys, to);
    if (best->rounds == 0 || best->failure.text[0] != '\0') {
        fputs("every setting failed\n", to);
        return false;
    }
    warn_of_ends(t, n, key, n_keys, to);
    fputs("the best, to paste:\n", to);
    print_block(g, best, key, n_keys, to);
    return true;
}
