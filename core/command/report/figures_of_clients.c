/* figures_of_clients.c - figures made from clients.csv. */
#include "figures_of_clients.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checked_alloc.h"

/* Of a run that enters the figure; results can be kept without clients.csv. */
static bool has_table(const struct grid_row *r, const struct result_cell *c)
{
    return figure_takes(r, c) && result_cell_has_clients(c);
}

/* One column of a cell's clients.csv; *table stays NULL for a cell that does not enter the row's
 * figures. */
static osafl_status read_column(const struct grid_row *r, const struct result_cell *c,
                                const char *column, struct csv_table **table, struct error *error)
{
    const char *const wanted[] = {"round", "client", column, NULL};
    *table = NULL;
    return has_table(r, c) ? result_cell_clients(c, wanted, table, error) : OSAFL_OK;
}

/* ---- CCDF ---- */

struct counts {
    size_t *of; /* [n]: how often each number of local rounds was met */
    size_t n;
    size_t all;
};

static void count(struct counts *c, double local_rounds, size_t times)
{
    if (!isfinite(local_rounds) || local_rounds < 0 || local_rounds > UINT32_MAX)
        return; /* a run without a link: nobody decides on local rounds */
    const size_t k = (size_t)local_rounds;
    while (c->n <= k) {
        c->of = checked_grow(c->of, c->n, sizeof *c->of);
        c->of[c->n++] = 0;
    }
    c->of[k] += times;
    c->all += times;
}

static void count_run(struct counts *c, const struct result_cell *cell, const struct csv_table *t)
{
    const size_t column = csv_table_column(t, "local_rounds");
    const size_t absent = result_cell_absent(cell, t);
    for (size_t i = 0; i < t->rows; i++)
        count(c, csv_table_value(t, i, column), 1);
    if (absent > 0)
        count(c, 0, absent);
}

static osafl_status ccdf_of_row(struct figure_series *s, const struct grid_row *r,
                                struct error *error)
{
    struct counts c = {.n = 0};
    osafl_status status = OSAFL_OK;
    for (size_t i = 0; i < r->cells && status == OSAFL_OK; i++) {
        struct csv_table *table = NULL;
        status = read_column(r, r->cell[i], "local_rounds", &table, error);
        if (table != NULL)
            count_run(&c, r->cell[i], table);
        csv_table_free(table);
    }
    size_t above = c.all;
    for (size_t k = 0; k < c.n; k++) {
        above -= c.of[k];
        figure_point_add(s, (double)k, (double)above / (double)c.all, (double)NAN, (double)NAN);
    }
    free(c.of);
    return status;
}

typedef osafl_status add_row(struct figure_series *s, const struct grid_row *r,
                             struct error *error);

/* A series for each row; an empty figure is dropped. */
static osafl_status add_rows(struct figure *f, const struct grid_table *t, add_row *add,
                             struct figure **out, struct error *error)
{
    osafl_status status = OSAFL_OK;
    *out = NULL;
    for (size_t i = 0; i < t->rows && status == OSAFL_OK; i++) {
        status = add(figure_series_add(f, figure_label(&t->row[i]), i), &t->row[i], error);
        figure_series_drop_empty(f);
        if (f->n_series > 1)
            figure_series_merge_equal(f);
    }
    if (status == OSAFL_OK && f->n_series > 0)
        *out = f;
    else
        figure_free(f);
    return status;
}

osafl_status figure_of_ccdf(const struct grid_experiment *e, const struct grid_table *t,
                            struct figure **out, struct error *error)
{
    struct figure *f = figure_create(
        FIGURE_STEPS, figure_stem(e, t, "ccdf"), figure_title(e, t, "CCDF of local rounds"),
        checked_copy("local rounds k"), checked_copy("P(local rounds > k)"));
    f->y_from = 0;
    f->y_to = 1;
    return add_rows(f, t, ccdf_of_row, out, error);
}

/* ---- drift ---- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of n > 0 sorted values, with linear interpolation between neighbours. */
static double quantile(const double *sorted, size_t n, double q)
{
    const double place = q * (double)(n - 1);
    const size_t below = (size_t)place;
    const size_t above = below + 1 < n ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

/* The tables of a row's runs. */
struct side_by_side {
    const struct grid_row *row;
    struct csv_table **table; /* [row->cells]; NULL: does not enter */
    size_t *next;             /* [row->cells]: the first row of the round in hand */
    double *room;             /* for one value of every client and run */
};

static void add_drift_round(struct figure_series *s, struct side_by_side *of, size_t round)
{
    size_t n = 0;
    double sum = 0;
    for (size_t i = 0; i < of->row->cells; i++) {
        const struct csv_table *t = of->table[i];
        if (t == NULL)
            continue;
        const size_t rounds = csv_table_column(t, "round");
        const size_t column = csv_table_column(t, "label_entropy");
        for (; of->next[i] < t->rows && csv_table_value(t, of->next[i], rounds) <= (double)round;
             of->next[i]++) {
            const double value = csv_table_value(t, of->next[i], column);
            if (isfinite(value)) {
                of->room[n++] = value;
                sum += value;
            }
        }
    }
    if (n == 0)
        return;
    qsort(of->room, n, sizeof *of->room, ascending);
    figure_point_add(s, (double)round + 1, sum / (double)n, quantile(of->room, n, 0.1),
                     quantile(of->room, n, 0.9));
}

static osafl_status drift_of_row(struct figure_series *s, const struct grid_row *r,
                                 struct error *error)
{
    struct side_by_side of = {.row = r,
                              .table = checked_alloc(r->cells, sizeof(struct csv_table *)),
                              .next = checked_alloc(r->cells, sizeof(size_t))};
    osafl_status status = OSAFL_OK;
    size_t rounds = 0;
    size_t clients = 0;
    for (size_t i = 0; i < r->cells && status == OSAFL_OK; i++) {
        status = read_column(r, r->cell[i], "label_entropy", &of.table[i], error);
        rounds = r->cell[i]->rounds->rows > rounds ? r->cell[i]->rounds->rows : rounds;
        clients += of.table[i] == NULL ? 0 : result_cell_count(r->cell[i]);
    }
    of.room = checked_alloc(clients, sizeof *of.room);
    for (size_t round = 0; round < rounds && status == OSAFL_OK; round++)
        add_drift_round(s, &of, round);
    for (size_t i = 0; i < r->cells; i++)
        csv_table_free(of.table[i]);
    free(of.table);
    free(of.next);
    free(of.room);
    return status;
}

osafl_status figure_of_drift(const struct grid_experiment *e, const struct grid_table *t,
                             struct figure **out, struct error *error)
{
    struct figure *f = figure_create(
        FIGURE_CURVES, figure_stem(e, t, "drift"),
        figure_title(e, t, "label entropy of the clients' stores (mean, 10 to 90 % of clients)"),
        checked_copy("round"), checked_copy("entropy of labels, nats"));
    f->y_from = 0;
    f->whole_x = true;
    return add_rows(f, t, drift_of_row, out, error);
}

/* ---- maps ---- */

static const struct result_cell *first_run(const struct grid_row *r)
{
    for (size_t i = 0; i < r->cells; i++) {
        if (has_table(r, r->cell[i]))
            return r->cell[i];
    }
    return NULL;
}

static osafl_status map_of_row(struct figure_series *s, const struct grid_row *r,
                               const char *column, struct error *error)
{
    const struct result_cell *c = first_run(r);
    struct csv_table *table = NULL;
    if (c == NULL)
        return OSAFL_OK;
    OSAFL_TRY(read_column(r, c, column, &table, error));
    const size_t value = csv_table_column(table, column);
    const size_t round = csv_table_column(table, "round");
    const size_t client = csv_table_column(table, "client");
    bool any = false;
    for (size_t i = 0; i < table->rows; i++)
        any = any || isfinite(csv_table_value(table, i, value));
    for (size_t i = 0; i < table->rows && any; i++) {
        const double here = csv_table_value(table, i, value);
        figure_point_add(s, csv_table_value(table, i, round) + 1, csv_table_value(table, i, client),
                         isfinite(here) ? here : (double)NAN, (double)NAN);
    }
    csv_table_free(table);
    return OSAFL_OK;
}

osafl_status figure_of_clients(const struct grid_experiment *e, const struct grid_table *t,
                               const char *column, struct figure **out, struct error *error)
{
    const bool participation = strcmp(column, "local_rounds") == 0;
    char *what = checked_format("%s%s", participation ? "local rounds (0: sits out)" : column,
                                e->seeds > 1 ? ", first seed" : "");
    for (char *at = what; *at != '\0'; at++)
        *at = *at == '_' ? ' ' : *at;
    struct figure *f =
        figure_create(FIGURE_MAPS, figure_stem(e, t, participation ? "participation" : column),
                      figure_title(e, t, what), checked_copy("round"), checked_copy("client"));
    free(what);
    f->whole_values = participation;
    osafl_status status = OSAFL_OK;
    *out = NULL;
    for (size_t i = 0; i < t->rows && status == OSAFL_OK; i++) {
        status = map_of_row(figure_series_add(f, figure_label(&t->row[i]), i), &t->row[i], column,
                            error);
        figure_series_drop_empty(f);
        if (f->n_series > 1)
            figure_series_merge_equal(f);
    }
    if (status == OSAFL_OK && f->n_series > 0)
        *out = f;
    else
        figure_free(f);
    return status;
}
