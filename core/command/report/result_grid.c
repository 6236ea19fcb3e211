/* result_grid.c - result folders in the order of a table. */
#include "result_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checked_alloc.h"
#include "grid_absence.h"
#include "row_settings.h"

/* The settings in which an experiment's cells differ. */
struct axis {
    const char *key;
    bool makes_tables; /* several cases vary it: one table per value; else one row per value */
};

/* A cell with the texts by which it is arranged. */
struct placed_cell {
    struct result_cell *cell;
    char *title; /* of its table */
    char *label; /* of its row, without the case */
    char *row;   /* equal exactly for the cells of one row */
    double along;
    const char *along_text; /* the same as it was written: a plugin's name is not a number */
};

struct placing {
    const struct grid_layout *layout;
    struct placed_cell *cell; /* [cells], of one experiment */
    size_t cells;
    struct axis *axis; /* [axes] */
    size_t axes;
    bool moved_files; /* has_moved_files() */
};

/* The value by which cells are compared.  Where a file lies differs from machine to machine: of a
 * path, which is always absolute, the last part counts, unless the experiment file varies it. NULL:
 * the cell has no such setting. */
static const char *compared_value(const struct result_cell *c, const char *key)
{
    const char *value = result_cell_setting(c, key);
    if (value == NULL || value[0] != '/' || result_cell_varies(c, key))
        return value;
    return strrchr(value, '/') + 1;
}

/* Whether the cells name one file in two places: then its content tells whether it is the same. */
static bool has_moved_file(const struct result_cell *a, const struct result_cell *b)
{
    for (size_t k = 0; k < a->settings; k++) {
        const char *key = a->setting[k].key;
        const char *value = a->setting[k].value;
        const char *other = value[0] == '/' ? result_cell_setting(b, key) : NULL;
        if (other != NULL && strcmp(value, other) != 0 &&
            strcmp(compared_value(a, key), compared_value(b, key)) == 0)
            return true;
    }
    return false;
}

static bool has_moved_files(const struct placing *p)
{
    for (size_t i = 0; i < p->cells; i++) {
        for (size_t k = 0; k < i; k++) {
            if (has_moved_file(p->cell[i].cell, p->cell[k].cell))
                return true;
        }
    }
    return false;
}

/* ---- axes ---- */

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Every key of any cell, once, in order. */
static const char **all_keys(const struct placing *p, size_t *keys)
{
    const char **key = NULL;
    size_t n = 0;
    for (size_t i = 0; i < p->cells; i++) {
        const struct result_cell *c = p->cell[i].cell;
        for (size_t k = 0; k < c->settings; k++) {
            if (!setting_makes_row(c->setting[k].key, p->layout->along))
                continue;
            key = checked_grow(key, n, sizeof *key);
            key[n++] = c->setting[k].key;
        }
    }
    if (n > 0)
        qsort(key, n, sizeof *key, compare_text);
    *keys = 0;
    for (size_t i = 0; i < n; i++) {
        if (*keys == 0 || strcmp(key[*keys - 1], key[i]) != 0)
            key[(*keys)++] = key[i];
    }
    return key;
}

/* Whether the setting has more than one value among the cells of this one's case.  What changes
 * together with a setting that the file varies may follow from it (grid.h: where), and says
 * nothing.  So does a cell without the setting: another plugin was chosen there, which is an axis
 * of its own. */
static bool varies_in_case(const struct placing *p, const struct result_cell *of, const char *key)
{
    const char *mine = compared_value(of, key);
    const bool follows = !result_cell_varies(of, key);
    for (size_t i = 0; i < p->cells && mine != NULL; i++) {
        const struct result_cell *c = p->cell[i].cell;
        if (strcmp(c->case_name, of->case_name) != 0 ||
            (follows && strcmp(c->varied, of->varied) != 0))
            continue;
        const char *other = compared_value(c, key);
        if (other != NULL && strcmp(mine, other) != 0)
            return true;
    }
    return false;
}

/* In how many cases the setting varies: asked once a case, of the first cell that has it. */
static size_t cases_that_vary(const struct placing *p, const char *key)
{
    size_t cases = 0;
    for (size_t i = 0; i < p->cells; i++) {
        const struct result_cell *c = p->cell[i].cell;
        bool first = result_cell_setting(c, key) != NULL;
        for (size_t k = 0; k < i && first; k++)
            first = strcmp(p->cell[k].cell->case_name, c->case_name) != 0 ||
                    result_cell_setting(p->cell[k].cell, key) == NULL;
        cases += first && varies_in_case(p, c, key);
    }
    return cases;
}

static bool several_cases(const struct placing *p)
{
    for (size_t i = 1; i < p->cells; i++) {
        if (strcmp(p->cell[i].cell->case_name, p->cell[0].cell->case_name) != 0)
            return true;
    }
    return false;
}

/* Whether the experiment file varies the setting: then it is an axis although the runs of a grid
 * that has just begun may have one value of it. */
static bool is_varied(const struct placing *p, const char *key)
{
    for (size_t i = 0; i < p->cells; i++) {
        if (result_cell_varies(p->cell[i].cell, key))
            return true;
    }
    return false;
}

/* Whether the optimizer is the same wherever the aggregator is: then naming the one is enough. */
static bool optimizer_follows_aggregator(const struct placing *p)
{
    for (size_t i = 0; i < p->cells; i++) {
        const char *mine = result_cell_setting(p->cell[i].cell, "optimizer.plugin");
        const char *of = result_cell_setting(p->cell[i].cell, "aggregator.plugin");
        for (size_t k = 0; k < i; k++) {
            const char *other = result_cell_setting(p->cell[k].cell, "optimizer.plugin");
            const char *to = result_cell_setting(p->cell[k].cell, "aggregator.plugin");
            if (mine == NULL || of == NULL || other == NULL || to == NULL ||
                (strcmp(of, to) == 0 && strcmp(mine, other) != 0))
                return false;
        }
    }
    return true;
}

static void find_axes(struct placing *p)
{
    size_t keys;
    const char **key = all_keys(p, &keys);
    for (size_t k = 0; k < keys; k++) {
        const size_t cases = cases_that_vary(p, key[k]);
        const bool varied = is_varied(p, key[k]);
        if (cases == 0 && !varied)
            continue;
        if (!varied && strcmp(key[k], "optimizer.plugin") == 0 && optimizer_follows_aggregator(p))
            continue;
        const bool shared = cases > 1 || (varied && several_cases(p));
        p->axis = checked_grow(p->axis, p->axes, sizeof *p->axis);
        p->axis[p->axes++] =
            (struct axis){.key = key[k], .makes_tables = shared && !p->layout->one_table};
    }
    free(key);
}

static const char *last_part(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot == NULL ? key : dot + 1;
}

/* The cell's values on the axes of one sort: "squeezenet, levels = 2" of a table, and
 * "squeezenet / levels = 2" of a row, as legends put commas between rows. */
static char *values_text(const struct placing *p, const struct result_cell *c, bool of_tables)
{
    struct checked_stream text;
    checked_stream_open(&text);
    bool first = true;
    for (size_t i = 0; i < p->axes; i++) {
        const char *key = p->axis[i].key;
        const char *value = compared_value(c, key);
        if (p->axis[i].makes_tables != of_tables || value == NULL ||
            (!of_tables && !result_cell_varies(c, key) && !varies_in_case(p, c, key)))
            continue;
        fputs(first ? "" : of_tables ? ", " : " / ", text.file);
        first = false;
        if (strcmp(last_part(key), "plugin") == 0) {
            fputs(value, text.file);
            continue;
        }
        bool unique = true;
        for (size_t k = 0; k < p->axes; k++)
            unique = unique && (k == i || strcmp(last_part(p->axis[k].key), last_part(key)) != 0);
        fprintf(text.file, "%s = %s", unique ? last_part(key) : key, value);
    }
    return checked_stream_text(&text);
}

/* Everything in which a cell may not differ from the others of its row. */
static char *row_text(const struct placing *p, const struct result_cell *c)
{
    struct checked_stream text;
    checked_stream_open(&text);
    fprintf(text.file, "%s\n", c->case_name);
    for (size_t k = 0; k < c->settings; k++) {
        const char *key = c->setting[k].key;
        if (setting_makes_row(key, p->layout->along))
            fprintf(text.file, "%s=%s\n", key, compared_value(c, key));
    }
    const char *input;
    json_t *hash;
    json_object_foreach(json_object_get(c->manifest, "inputs_xxh3"), input, hash)
    {
        if (p->moved_files && json_is_string(hash))
            fprintf(text.file, "%s: %s\n", input, json_string_value(hash));
    }
    return checked_stream_text(&text);
}

/* ---- order ---- */

static int sign(double a, double b)
{
    return (a > b) - (a < b);
}

/* Tables by title, rows by the case's place, then by name, cells by the axis along and the seed.
 * strverscmp() puts "levels = 4" before "levels = 16". */
static int by_place(const void *left, const void *right)
{
    const struct placed_cell *a = left;
    const struct placed_cell *b = right;
    int order = strverscmp(a->title, b->title);
    if (order == 0)
        order = (a->cell->case_index > b->cell->case_index) -
                (a->cell->case_index < b->cell->case_index);
    if (order == 0)
        order = strverscmp(a->cell->case_name, b->cell->case_name);
    if (order == 0)
        order = strverscmp(a->label, b->label);
    if (order == 0)
        order = strcmp(a->row, b->row);
    if (order == 0)
        order = sign(a->along, b->along);
    if (order == 0)
        order = strverscmp(a->along_text, b->along_text);
    if (order == 0)
        order = (a->cell->seed > b->cell->seed) - (a->cell->seed < b->cell->seed);
    /* Of the copies of a run, the one that has come farthest is first, and kept. */
    if (order == 0)
        order = (a->cell->recorded_rounds < b->cell->recorded_rounds) -
                (a->cell->recorded_rounds > b->cell->recorded_rounds);
    return order != 0 ? order : strcmp(a->cell->folder, b->cell->folder);
}

static int by_experiment(const void *a, const void *b)
{
    return strverscmp((*(struct result_cell *const *)a)->experiment,
                      (*(struct result_cell *const *)b)->experiment);
}

/* ---- building ---- */

static char *row_label(const struct placing *p, const struct placed_cell *c)
{
    bool has_cases = false;
    for (size_t i = 0; i < p->cells; i++)
        has_cases = has_cases || strcmp(p->cell[i].cell->case_name, "main") != 0;
    if (has_cases)
        return checked_format("%s%s%s", c->cell->case_name, c->label[0] == '\0' ? "" : " / ",
                              c->label);
    if (c->label[0] != '\0')
        return checked_copy(c->label);
    /* Without cases the algorithm says most. */
    const char *algorithm = result_cell_setting(c->cell, "aggregator.plugin");
    return checked_copy(algorithm == NULL ? c->cell->case_name : algorithm);
}

static void add_note(struct result_grid *g, char *note)
{
    g->note = checked_grow(g->note, g->notes, sizeof *g->note);
    g->note[g->notes++] = note;
}

/* Whether two copies of a run differ in a round that both have. */
static bool copies_differ(const struct csv_table *a, const struct csv_table *b, size_t *round)
{
    const size_t rows = a->rows < b->rows ? a->rows : b->rows;
    for (*round = 0; *round < rows && a->columns == b->columns; ++*round) {
        for (size_t k = 0; k < a->columns; k++) {
            const double x = csv_table_value(a, *round, k);
            const double y = csv_table_value(b, *round, k);
            if (x != y && !(isnan(x) && isnan(y)))
                return true;
        }
    }
    return rows > 0 && a->columns != b->columns;
}

static char *copy_note(const struct result_cell *copy, const struct result_cell *of)
{
    size_t round;
    if (copies_differ(copy->rounds, of->rounds, &round))
        return checked_format("%s is the same run as %s, but their rounds.csv differ in round %zu; "
                              "the first is left out: find out which one to trust",
                              copy->folder, of->folder, round);
    return checked_format("%s is the same run as %s; it is left out", copy->folder, of->folder);
}

static struct grid_table *table_for(struct grid_experiment *e, const char *title)
{
    if (e->tables == 0 || strcmp(e->table[e->tables - 1].title, title) != 0) {
        e->table = checked_grow(e->table, e->tables, sizeof *e->table);
        e->table[e->tables++] = (struct grid_table){.title = checked_copy(title)};
    }
    return &e->table[e->tables - 1];
}

static struct grid_row *new_row(const struct placing *p, struct grid_table *t,
                                const struct placed_cell *c)
{
    char *label = row_label(p, c);
    /* Rows that no axis tells apart are told apart by the run's identity. */
    if (t->rows > 0 && strcmp(t->row[t->rows - 1].label, label) == 0) {
        char *longer = checked_format("%s [%.8s]", label, c->cell->identity);
        free(label);
        label = longer;
    }
    t->row = checked_grow(t->row, t->rows, sizeof *t->row);
    t->row[t->rows] = (struct grid_row){.label = label,
                                        .varied = varied_of_row(c->cell->varied, p->layout->along)};
    return &t->row[t->rows++];
}

static void lay_out(struct result_grid *g, struct grid_experiment *e, struct placing *p)
{
    find_axes(p);
    p->moved_files = has_moved_files(p);
    for (size_t i = 0; i < p->cells; i++) {
        struct placed_cell *c = &p->cell[i];
        c->title = values_text(p, c->cell, true);
        c->label = values_text(p, c->cell, false);
        c->row = row_text(p, c->cell);
        c->along = p->layout->along == NULL ? 0 : result_cell_number(c->cell, p->layout->along, 0);
        const char *along =
            p->layout->along == NULL ? NULL : result_cell_setting(c->cell, p->layout->along);
        c->along_text = along == NULL ? "" : along;
    }
    qsort(p->cell, p->cells, sizeof *p->cell, by_place);
    const struct placed_cell *before = NULL;
    struct grid_row *row = NULL;
    for (size_t i = 0; i < p->cells; i++) {
        const struct placed_cell *c = &p->cell[i];
        const size_t tables = e->tables;
        struct grid_table *t = table_for(e, c->title);
        const bool same_row = tables == e->tables && strcmp(before->row, c->row) == 0;
        if (same_row && before->cell->seed == c->cell->seed && sign(before->along, c->along) == 0 &&
            strcmp(before->along_text, c->along_text) == 0) {
            add_note(g, copy_note(c->cell, before->cell));
            continue;
        }
        if (!same_row)
            row = new_row(p, t, c);
        row->cell = checked_grow(row->cell, row->cells, sizeof(struct result_cell *));
        row->cell[row->cells++] = c->cell;
        seeds_add(&e->seed, &e->seeds, c->cell->seed);
        before = c;
    }
}

static void add_experiment(struct result_grid *g, const struct grid_layout *l,
                           struct result_cell *const *cell, size_t cells,
                           const struct planned_runs *plan)
{
    struct placing p = {.layout = l, .cells = cells};
    p.cell = checked_alloc(cells, sizeof *p.cell);
    for (size_t i = 0; i < cells; i++)
        p.cell[i].cell = cell[i];
    g->experiment = checked_grow(g->experiment, g->experiments, sizeof *g->experiment);
    struct grid_experiment *e = &g->experiment[g->experiments++];
    *e = (struct grid_experiment){.name = checked_copy(l->one_table ? "" : cell[0]->experiment)};
    lay_out(g, e, &p);
    e->axis = checked_alloc(p.axes, sizeof(char *));
    for (e->axes = 0; e->axes < p.axes; e->axes++)
        e->axis[e->axes] = checked_copy(p.axis[e->axes].key);
    size_t splits = 0;
    const char **split = checked_alloc(p.axes, sizeof(const char *));
    for (size_t i = 0; i < p.axes; i++) {
        if (p.axis[i].makes_tables)
            split[splits++] = p.axis[i].key;
    }
    compare_with_plan(e, l->along, &(struct laid_cells){cell, cells, split, splits}, plan);
    free(split);
    for (size_t i = 0; i < cells; i++) {
        free(p.cell[i].title);
        free(p.cell[i].label);
        free(p.cell[i].row);
    }
    free(p.cell);
    free(p.axis);
}

const char *grid_row_state(const struct grid_row *r)
{
    size_t failed = 0;
    for (size_t i = 0; i < r->cells; i++) {
        if (r->cell[i]->state == CELL_COMPLETE)
            return "";
        failed += r->cell[i]->state == CELL_FAILED;
    }
    return failed == r->cells ? " (failed)" : " (so far)";
}

struct result_grid *result_grid_create(const struct found_cells *f, const struct grid_layout *l)
{
    struct result_grid *g = checked_alloc(1, sizeof *g);
    struct result_cell **cell = checked_alloc(f->cells, sizeof(struct result_cell *));
    if (f->cells > 0) {
        memcpy(cell, f->cell, f->cells * sizeof(struct result_cell *));
        qsort(cell, f->cells, sizeof(struct result_cell *), by_experiment);
    }
    for (size_t begin = 0, end; begin < f->cells; begin = end) {
        end = begin + 1;
        while (end < f->cells &&
               (l->one_table || strcmp(cell[begin]->experiment, cell[end]->experiment) == 0))
            end++;
        add_experiment(g, l, cell + begin, end - begin, &f->planned);
    }
    free(cell);
    if (!l->one_table)
        find_absent_experiments(g, &f->planned);
    for (size_t i = 0; i < f->n_unreadable; i++)
        add_note(g, checked_copy(f->unreadable[i].message));
    return g;
}

static void free_texts(char **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

static void free_table(struct grid_table *t)
{
    for (size_t i = 0; i < t->rows; i++) {
        free(t->row[i].label);
        free(t->row[i].varied);
        free(t->row[i].cell);
        free(t->row[i].seed);
    }
    free(t->row);
    free_texts(t->absent, t->absents);
    free(t->title);
}

void result_grid_free(struct result_grid *g)
{
    if (g == NULL)
        return;
    for (size_t i = 0; i < g->experiments; i++) {
        for (size_t k = 0; k < g->experiment[i].tables; k++)
            free_table(&g->experiment[i].table[k]);
        free(g->experiment[i].table);
        free(g->experiment[i].name);
        free(g->experiment[i].seed);
        free_texts(g->experiment[i].absent, g->experiment[i].absents);
        free_texts(g->experiment[i].axis, g->experiment[i].axes);
    }
    free_texts(g->absent, g->absents);
    free_texts(g->note, g->notes);
    free(g->experiment);
    free(g);
}
