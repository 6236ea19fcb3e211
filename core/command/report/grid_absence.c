/* grid_absence.c - what a grid of results lacks of what experiment files ask for. */
#include "grid_absence.h"

#include <stdlib.h>
#include <string.h>

#include "checked_alloc.h"
#include "result_text.h"
#include "row_settings.h"

static int compare_seeds(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void seeds_add(int64_t **list, size_t *n, int64_t seed)
{
    for (size_t i = 0; i < *n; i++) {
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
    for (size_t i = 0; i < *n; i++) {
        if (strcmp((*list)[i], text) == 0) {
            free(text);
            return;
        }
    }
    *list = checked_grow(*list, *n, sizeof **list);
    (*list)[(*n)++] = text;
}

/* Whether the cell has the values of "KEY=VALUE,...". */
static bool has_values(const struct result_cell *c, const char *varied)
{
    bool has = true;
    for (const char *at = varied; *at != '\0' && has;) {
        const size_t length = strcspn(at, ",");
        const size_t key_length = strcspn(at, "=,");
        char *key = checked_format("%.*s", (int)key_length, at);
        char *text = checked_format("%.*s", (int)(length - key_length - (key_length < length)),
                                    at + key_length + 1);
        char *value = result_plain_value(text);
        const char *found = result_cell_setting(c, key);
        has = found != NULL && strcmp(found, value) == 0;
        free(value);
        free(text);
        free(key);
        at += length + (at[length] == ',');
    }
    return has;
}

/* Whether the cell is the planned run, or was when its settings were others. */
static bool is_run(const struct result_cell *c, const struct planned_run *r)
{
    return c->seed == r->seed && strcmp(c->case_name, r->case_name) == 0 &&
           strcmp(c->varied, r->varied) == 0;
}

/* Whether the cell differs from those of the table in what makes tables.  What a cell has not is no
 * difference: settings that change nothing make one row of two runs. */
static bool differs_from_table(const struct result_cell *c, const struct grid_table *t,
                               const struct laid_cells *of)
{
    for (size_t i = 0; i < of->splits; i++) {
        const char *mine = result_cell_setting(c, of->split[i]);
        const char *others = result_cell_setting(t->row[0].cell[0], of->split[i]);
        if (mine != NULL && others != NULL && strcmp(mine, others) != 0)
            return true;
    }
    return false;
}

/* Whether the run has results that the table, or t NULL: any table, has or could have. */
static bool has_begun(const struct planned_run *r, const struct laid_cells *of,
                      const struct grid_table *t)
{
    for (size_t i = 0; i < of->cells; i++) {
        if (is_run(of->cell[i], r) && (t == NULL || !differs_from_table(of->cell[i], t, of)))
            return true;
    }
    return false;
}

/* "KEY=VALUE, KEY=VALUE" */
static char *spaced(const char *varied)
{
    struct checked_stream text;
    checked_stream_open(&text);
    for (const char *c = varied; *c != '\0'; c++) {
        fputc(*c, text.file);
        if (*c == ',')
            fputc(' ', text.file);
    }
    return checked_stream_text(&text);
}

/* A row that should be there. */
static void add_absent_row(struct grid_table *t, const struct planned_run *r, const char *varied)
{
    bool has_case = false;
    for (size_t i = 0; i < t->rows && !has_case; i++)
        has_case = strcmp(t->row[i].cell[0]->case_name, r->case_name) == 0;
    char *values = spaced(varied);
    add_text(&t->absent, &t->absents,
             has_case ? checked_format("%s with %s", r->case_name,
                                       varied[0] == '\0' ? "nothing varied" : values)
                      : checked_copy(r->case_name));
    free(values);
}

/* Gives the run's seed to the rows of its case and varied settings, or its row to the table that
 * has others of these settings; false: the table has none. */
static bool plan_table(struct grid_table *t, const struct planned_run *r, const char *varied,
                       const struct laid_cells *of)
{
    bool has_settings = false;
    bool has_row = false;
    for (size_t i = 0; i < t->rows; i++) {
        struct grid_row *row = &t->row[i];
        /* --set may have fixed what the file varies. */
        if (strcmp(row->varied, varied) != 0 &&
            !(row->varied[0] == '\0' && has_values(row->cell[0], varied)))
            continue;
        has_settings = true;
        if (strcmp(row->cell[0]->case_name, r->case_name) == 0) {
            seeds_add(&row->seed, &row->seeds, r->seed);
            row->is_planned = has_row = true;
        }
    }
    if (has_settings && !has_row && !has_begun(r, of, t))
        add_absent_row(t, r, varied);
    t->is_planned = t->is_planned || has_settings;
    return has_settings;
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
        i++;
    if (i == *n) {
        *list = checked_grow(*list, *n, sizeof **list);
        (*list)[(*n)++] = (struct absent_runs){.what = checked_copy(what)};
    }
    (*list)[i].runs++;
    free(what);
}

/* As sentences; takes the list. */
static char **tell_absent(struct absent_runs *list, size_t n)
{
    char **sentence = checked_alloc(n, sizeof(char *));
    for (size_t i = 0; i < n; i++) {
        sentence[i] = checked_format("%s: %zu run%s", list[i].what, list[i].runs,
                                     list[i].runs == 1 ? "" : "s");
        free(list[i].what);
    }
    free(list);
    return sentence;
}

static void add_seeds_of_runs(int64_t **list, size_t *n, const struct grid_row *r)
{
    for (size_t i = 0; i < r->cells; i++)
        seeds_add(list, n, r->cell[i]->seed);
}

/* All rows should have the seeds that they have; those that no record names, the seeds of each
 * other too. */
static void infer_seeds(struct grid_experiment *e)
{
    int64_t *seed = NULL;
    size_t seeds = 0;
    for (size_t k = 0; k < e->tables; k++) {
        for (size_t i = 0; i < e->table[k].rows; i++) {
            if (!e->table[k].row[i].is_planned)
                add_seeds_of_runs(&seed, &seeds, &e->table[k].row[i]);
        }
    }
    for (size_t k = 0; k < e->tables; k++) {
        for (size_t i = 0; i < e->table[k].rows; i++) {
            struct grid_row *row = &e->table[k].row[i];
            add_seeds_of_runs(&row->seed, &row->seeds, row);
            for (size_t s = 0; s < seeds && !row->is_planned; s++)
                seeds_add(&row->seed, &row->seeds, seed[s]);
        }
    }
    free(seed);
}

void compare_with_plan(struct grid_experiment *e, const char *along, const struct laid_cells *of,
                       const struct planned_runs *plan)
{
    struct absent_runs *absent = NULL;
    size_t n = 0;
    for (size_t i = 0; i < plan->n; i++) {
        const struct planned_run *r = &plan->run[i];
        if (strcmp(r->experiment, e->name) != 0)
            continue;
        char *varied = varied_of_row(r->varied, along);
        bool has_table = false;
        for (size_t k = 0; k < e->tables; k++)
            has_table = plan_table(&e->table[k], r, varied, of) || has_table;
        if (!has_table && !has_begun(r, of, NULL))
            count_absent(&absent, &n,
                         varied[0] == '\0' ? checked_copy(r->case_name) : spaced(varied));
        free(varied);
    }
    e->absent = tell_absent(absent, n);
    e->absents = n;
    infer_seeds(e);
}

void find_absent_experiments(struct result_grid *g, const struct planned_runs *plan)
{
    struct absent_runs *absent = NULL;
    size_t n = 0;
    for (size_t i = 0; i < plan->n; i++) {
        bool there = false;
        for (size_t k = 0; k < g->experiments && !there; k++)
            there = strcmp(g->experiment[k].name, plan->run[i].experiment) == 0;
        if (!there)
            count_absent(&absent, &n, checked_copy(plan->run[i].experiment));
    }
    g->absent = tell_absent(absent, n);
    g->absents = n;
}
