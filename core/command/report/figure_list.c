/* figure_list.c - which figures a table of results can have. */
#include "figure_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "checked_alloc.h"
#include "figures_of_clients.h"

static void keep(struct figure_list *l, struct figure *f)
{
    if (f == NULL)
        return;
    /* Two tables may ask for one file name once it is made of plain characters. */
    for (size_t i = 0, copies = 1; i < l->n; i++) {
        if (strcmp(l->figure[i]->stem, f->stem) != 0)
            continue;
        char *other = checked_format("%s-%zu", f->stem, ++copies);
        free(f->stem);
        f->stem = other;
        i = 0;
    }
    l->figure = checked_grow(l->figure, l->n, sizeof(struct figure *));
    l->figure[l->n++] = f;
}

void figure_list_free(struct figure_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        figure_free(l->figure[i]);
    free(l->figure);
    *l = (struct figure_list){NULL, 0};
}

/* ---- names ---- */

static osafl_status find_axis(const struct figure_request *r, enum figure_axis *axis,
                              struct error *error)
{
    static const char *const names[] = {"round", "time", "bits", "joules"};
    *axis = AGAINST_ROUND;
    if (r->against == NULL)
        return OSAFL_OK;
    for (int i = 0; i < 4; i++) {
        if (strcmp(names[i], r->against) == 0) {
            *axis = (enum figure_axis)i;
            return OSAFL_OK;
        }
    }
    return error_set(error, OSAFL_E_CONFIG,
                     "--against %s: a curve can stand against round, time, bits or joules",
                     r->against);
}

/* Whether any cell has this measure or this column of rounds.csv. */
static bool has_column(const struct found_cells *f, const char *name, struct suggestion *close)
{
    for (size_t i = 0; i < f->cells; i++) {
        const struct result_cell *c = f->cell[i];
        if (c->n_measures == 0)
            continue;
        if (result_cell_measure_column(c, name) != CSV_NO_COLUMN ||
            csv_table_column(c->rounds, name) != CSV_NO_COLUMN)
            return true;
        for (size_t k = 0; k < c->rounds->columns; k++)
            suggest_offer(close, c->rounds->name[k]);
        for (size_t m = 0; m < c->n_measures; m++)
            suggest_offer(close, result_cell_measure(c, m));
    }
    return false;
}

/* ---- requests ---- */

/* "quantization": the levels of whichever quantizer the runs name. */
static char *levels_setting(const struct found_cells *f)
{
    for (size_t i = 0; i < f->cells; i++) {
        const char *plugin = result_cell_setting(f->cell[i], "quantizer.plugin");
        char *key = checked_format("quantizer.%s.levels", plugin == NULL ? "" : plugin);
        if (plugin != NULL && result_cell_setting(f->cell[i], key) != NULL)
            return key;
        free(key);
    }
    return NULL;
}

static osafl_status add_best(struct figure_list *l, const struct found_cells *f, const char *name,
                             enum figure_spread spread, struct error *error)
{
    const char *setting = NULL;
    OSAFL_TRY(find_setting(f, "--against", name, &setting, error));
    const struct grid_layout layout = {.along = setting, .one_table = true};
    struct result_grid *g = result_grid_create(f, &layout);
    struct figure *made =
        figure_of_setting(&g->experiment[0], &g->experiment[0].table[0], NULL, setting, spread);
    keep(l, made);
    result_grid_free(g);
    return made != NULL
               ? OSAFL_OK
               : error_set(error, OSAFL_E_CONFIG,
                           "--against %s: no case here was run with two values of it", setting);
}

/* One of the figures made from clients.csv, for each table. */
static osafl_status add_of_clients(struct figure_list *l, const struct result_grid *g,
                                   const char *name, struct error *error)
{
    for (size_t i = 0; i < g->experiments; i++) {
        const struct grid_experiment *e = &g->experiment[i];
        for (size_t k = 0; k < e->tables; k++) {
            struct figure *made = NULL;
            if (strcmp(name, "ccdf") == 0)
                OSAFL_TRY(figure_of_ccdf(e, &e->table[k], &made, error));
            else if (strcmp(name, "drift") == 0)
                OSAFL_TRY(figure_of_drift(e, &e->table[k], &made, error));
            else if (strcmp(name, "participation") == 0)
                OSAFL_TRY(figure_of_clients(e, &e->table[k], "local_rounds", &made, error));
            else
                OSAFL_TRY(figure_of_clients(e, &e->table[k], name, &made, error));
            keep(l, made);
        }
    }
    return OSAFL_OK;
}

static void add_curves(struct figure_list *l, const struct result_grid *g, const char *column,
                       enum figure_axis axis, enum figure_spread spread)
{
    for (size_t i = 0; i < g->experiments; i++) {
        const struct grid_experiment *e = &g->experiment[i];
        for (size_t k = 0; k < e->tables; k++)
            keep(l, figure_of_column(e, &e->table[k], column, axis, spread));
    }
}

static osafl_status unknown_figure(const char *name, struct suggestion *close, struct error *error)
{
    static const char *const names[] = {"ccdf", "drift",        "participation", "score",
                                        "best", "quantization", "accuracy",      "loss"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        suggest_offer(close, names[i]);
    if (close->best != NULL && strcmp(close->best, name) == 0)
        close->best = NULL; /* it is known, and has no values here */
    return error_set(error, OSAFL_E_CONFIG,
                     "--figure %s: no run here has values for it%s%s%s; there are ccdf, drift, "
                     "participation, best, quantization, every measure (accuracy, loss) and "
                     "every column of rounds.csv and clients.csv",
                     name, close->best == NULL ? "" : "; did you mean \"",
                     close->best == NULL ? "" : close->best, close->best == NULL ? "" : "\"?");
}

osafl_status figure_list_add(struct figure_list *l, const struct found_cells *f,
                             const struct result_grid *g, const struct figure_request *r,
                             struct error *error)
{
    const size_t before = l->n;
    struct suggestion close = suggest_begin(r->name);
    if (strcmp(r->name, "best") == 0 || strcmp(r->name, "quantization") == 0) {
        char *levels = levels_setting(f);
        const char *setting = r->name[0] == 'b' && r->against != NULL ? r->against : levels;
        const osafl_status status =
            setting == NULL ? error_set(error, OSAFL_E_CONFIG,
                                        "--figure %s: no run here has a quantizer with levels; "
                                        "name a setting with --figure best --against KEY",
                                        r->name)
                            : add_best(l, f, setting, r->spread, error);
        free(levels);
        return status;
    }
    if (has_column(f, r->name, &close)) {
        enum figure_axis axis;
        OSAFL_TRY(find_axis(r, &axis, error));
        add_curves(l, g, r->name, axis, r->spread);
    } else if (strcmp(r->name, "reason") != 0) { /* words have no place on an axis */
        OSAFL_TRY(add_of_clients(l, g, r->name, error));
    }
    return l->n > before ? OSAFL_OK : unknown_figure(r->name, &close, error);
}

/* The measure by which the runs are compared. */
static const char *first_measure(const struct result_grid *g)
{
    for (size_t i = 0; i < g->experiments; i++) {
        const struct grid_experiment *e = &g->experiment[i];
        for (size_t k = 0; k < e->tables; k++) {
            for (size_t r = 0; r < e->table[k].rows; r++) {
                const struct result_cell *c = e->table[k].row[r].cell[0];
                if (c->n_measures > 0)
                    return result_cell_measure(c, 0);
            }
        }
    }
    return NULL;
}

osafl_status figure_list_add_all(struct figure_list *l, const struct result_grid *g,
                                 enum figure_spread spread, struct error *error)
{
    static const char *const of_clients[] = {"ccdf", "participation", "score", "drift"};
    const char *measure = first_measure(g);
    for (int axis = AGAINST_ROUND; measure != NULL && axis <= AGAINST_JOULES; axis++) {
        add_curves(l, g, measure, (enum figure_axis)axis, spread);
        if (axis == AGAINST_ROUND && strcmp(measure, "loss") != 0)
            add_curves(l, g, "loss", AGAINST_ROUND, spread);
    }
    for (size_t i = 0; i < sizeof of_clients / sizeof of_clients[0]; i++)
        OSAFL_TRY(add_of_clients(l, g, of_clients[i], error));
    return OSAFL_OK;
}

osafl_status figure_list_add_quantization(struct figure_list *l, const struct found_cells *f,
                                          enum figure_spread spread, struct error *error)
{
    char *levels = levels_setting(f);
    if (levels == NULL)
        return OSAFL_OK;
    /* That no case has two numbers of levels is no error here. */
    const osafl_status status = add_best(l, f, levels, spread, error);
    free(levels);
    return status == OSAFL_E_CONFIG ? OSAFL_OK : status;
}
