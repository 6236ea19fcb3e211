/* grid_absence.c - what a grid of results lacks of what experiment files ask for. */
#include "grid_absence.h"

#include <stdlib.h>
#include <string.h>

#include "checked_alloc.h"

static int compare_seeds(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void seeds_add(int64_t **list, size_t *n, int64_t seed)
{
    for (size_t i = 0; i < *n; ++i) {
        if ((*list)[i] == seed)
            return;
    }
    *list = checked_grow(*list, *n, sizeof **list);
    (*list)[(*n)++] = seed;
    qsort(*list, *n, sizeof **list, compare_seeds);
}

/* Adds a text of the list's own; one that is there is not added again. */
static void add_text(char ***list, size_t *n, char *text)
{
    for (size_t i = 0; i < *n; ++i) {
        if (strcmp((*list)[i], text) == 0) {
            free(text);
            return;
        }
    }
    *list = checked_grow(*list, *n, sizeof **list);
    (*list)[(*n)++] = text;
}

/* Gives the run's seed to the rows that it belongs to; false: there are none. */
static bool plan_rows(struct grid_experiment *e, const struct planned_run *r, const char *varied)
{
    bool found = false;
    for (size_t k = 0; k < e->tables; ++k) {
        for (size_t i = 0; i < e->table[k].rows; ++i) {
            struct grid_row *const row = &e->table[k].row[i];
            if (strcmp(row->cell[0]->case_name, r->case_name) != 0 ||
                strcmp(row->varied, varied) != 0)
                continue;
            seeds_add(&row->seed, &row->seeds, r->seed);
            e->table[k].is_planned = found = true;
        }
    }
    return found;
}

/* Whether the run has results, in whatever row: settings that change nothing make one row of two
 * runs. */
static bool has_begun(const struct planned_run *r, struct result_cell *const *cell, size_t cells)
{
    for (size_t i = 0; i < cells; ++i) {
        if (cell[i]->seed == r->seed && strcmp(cell[i]->case_name, r->case_name) == 0 &&
            strcmp(cell[i]->varied, r->varied) == 0)
            return true;
    }
    return false;
}

/* "KEY=VALUE, KEY=VALUE" */
static char *spaced(const char *varied)
{
    struct checked_stream text;
    checked_stream_open(&text);
    for (const char *c = varied; *c != '\0'; ++c) {
        fputc(*c, text.file);
        if (*c == ',')
            fputc(' ', text.file);
    }
    return checked_stream_text(&text);
}

/* The first table with such varied settings; NULL: none. */
static struct grid_table *table_of(struct grid_experiment *e, const char *varied)
{
    for (size_t k = 0; k < e->tables; ++k) {
        for (size_t i = 0; i < e->table[k].rows; ++i) {
            if (strcmp(e->table[k].row[i].varied, varied) == 0)
                return &e->table[k];
        }
    }
    return NULL;
}

/* A row that should be there. */
static void plan_row(struct grid_table *t, const struct planned_run *r, const char *varied)
{
    bool has_case = false;
    for (size_t i = 0; i < t->rows && !has_case; ++i)
        has_case = strcmp(t->row[i].cell[0]->case_name, r->case_name) == 0;
    char *const values = spaced(varied);
    t->is_planned = true;
    add_text(&t->absent, &t->absents,
             has_case ? checked_format("%s with %s", r->case_name,
                                       varied[0] == '\0' ? "nothing varied" : values)
                      : checked_copy(r->case_name));
    free(values);
}

/* Runs of which no table has any, counted. */
struct absent_runs {
    char *what;
    size_t runs;
};

static void count_absent(struct absent_runs **list, size_t *n, char *what)
{
    size_t i = 0;
    while (i < *n && strcmp((*list)[i].what, what) != 0)
        ++i;
    if (i == *n) {
        *list = checked_grow(*list, *n, sizeof **list);
        (*list)[(*n)++] = (struct absent_runs){.what = checked_copy(what)};
    }
    ++(*list)[i].runs;
    free(what);
}

/* As sentences; takes the list. */
static char **tell_absent(struct absent_runs *list, size_t n)
{
    char **const sentence = checked_alloc(n, sizeof(char *));
    for (size_t i = 0; i < n; ++i) {
        sentence[i] = checked_format("%s: %zu run%s", list[i].what, list[i].runs,
                                     list[i].runs == 1 ? "" : "s");
        free(list[i].what);
    }
    free(list);
    return sentence;
}

/* The seeds that a row should have: the plan's are there already. */
static void complete_seeds(struct grid_experiment *e)
{
    for (size_t k = 0; k < e->tables; ++k) {
        for (size_t i = 0; i < e->table[k].rows; ++i) {
            struct grid_row *const row = &e->table[k].row[i];
            const bool is_planned = row->seeds > 0;
            for (size_t s = 0; s < row->cells; ++s)
                seeds_add(&row->seed, &row->seeds, row->cell[s]->seed);
            for (size_t s = 0; s < e->seeds && !is_planned; ++s)
                seeds_add(&row->seed, &row->seeds, e->seed[s]);
        }
    }
}

void compare_with_plan(struct grid_experiment *e, const struct grid_layout *l,
                       struct result_cell *const *cell, size_t cells,
                       const struct planned_runs *plan)
{
    struct absent_runs *absent = NULL;
    size_t n = 0;
    for (size_t i = 0; i < plan->n; ++i) {
        const struct planned_run *const r = &plan->run[i];
        if (strcmp(r->experiment, e->name) != 0)
            continue;
        char *const varied = varied_of_row(l, r->varied);
        if (!plan_rows(e, r, varied) && !has_begun(r, cell, cells)) {
            struct grid_table *const t = table_of(e, varied);
            if (t != NULL)
                plan_row(t, r, varied);
            else
                count_absent(&absent, &n,
                             varied[0] == '\0' ? checked_copy(r->case_name) : spaced(varied));
        }
        free(varied);
    }
    e->absent = tell_absent(absent, n);
    e->absents = n;
    complete_seeds(e);
}

void find_absent_experiments(struct result_grid *g, const struct planned_runs *plan)
{
    struct absent_runs *absent = NULL;
    for (size_t i = 0; i < plan->n; ++i) {
        bool there = false;
        for (size_t k = 0; k < g->experiments && !there; ++k)
            there = strcmp(g->experiment[k].name, plan->run[i].experiment) == 0;
        if (!there)
            count_absent(&absent, &g->absents, checked_copy(plan->run[i].experiment));
    }
    g->absent = tell_absent(absent, g->absents);
}
