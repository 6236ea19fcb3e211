/* figures_of_rounds.c - figures made from rounds.csv. */
#include "figures_of_rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checked_alloc.h"
#include "row_summary.h"
#include "unit_scale.h"

/* ---- names ---- */

char *figure_stem(const struct grid_experiment *e, const struct grid_table *t, const char *what)
{
    return checked_format("%s%s%s%s%s", e->name, e->name[0] == '\0' ? "" : "-", t->title,
                          t->title[0] == '\0' ? "" : "-", what);
}

char *figure_title(const struct grid_experiment *e, const struct grid_table *t, const char *what)
{
    return checked_format("%s%s%s%s%s", e->name, t->title[0] == '\0' ? "" : ", ", t->title,
                          e->name[0] == '\0' ? "" : ": ", what);
}

static bool has_finished(const struct grid_row *r)
{
    for (size_t i = 0; i < r->cells; i++) {
        if (r->cell[i]->state == CELL_COMPLETE)
            return true;
    }
    return false;
}

bool figure_takes(const struct grid_row *r, const struct result_cell *c)
{
    return c->rounds->rows > 0 && (c->state == CELL_COMPLETE || !has_finished(r));
}

char *figure_label(const struct grid_row *r)
{
    return checked_format("%s%s", r->label, grid_row_state(r));
}

/* ---- spread ---- */

struct spread {
    double mean;
    double low;
    double high; /* NAN for fewer than two values */
};

static struct spread spread_of(const double *value, size_t n, enum figure_spread how)
{
    const struct statistic s = statistic_of(value, n);
    struct spread result = {s.n == 0 ? (double)NAN : s.mean, (double)NAN, (double)NAN};
    if (s.n < 2 || how == SPREAD_NONE)
        return result;
    if (how == SPREAD_DEVIATION) {
        result.low = s.mean - s.deviation;
        result.high = s.mean + s.deviation;
        return result;
    }
    for (size_t i = 0; i < n; i++) {
        if (isfinite(value[i])) {
            result.low = fmin(isnan(result.low) ? value[i] : result.low, value[i]);
            result.high = fmax(isnan(result.high) ? value[i] : result.high, value[i]);
        }
    }
    return result;
}

/* ---- curves ---- */

static size_t column_of(const struct result_cell *c, const char *name)
{
    const size_t measure = result_cell_measure_column(c, name);
    return measure != CSV_NO_COLUMN ? measure : csv_table_column(c->rounds, name);
}

/* Amounts of round `row` that add up on the axis. */
static double step_on(const struct result_cell *c, enum figure_axis axis, size_t row)
{
    static const char *const parts[4][3] = {
        [AGAINST_BITS] = {"uplink_payload_bits", NULL},
        [AGAINST_JOULES] = {"compute_j", "upload_j", "receive_j"},
    };
    double sum = 0;
    for (size_t i = 0; i < 3 && parts[axis][i] != NULL; i++) {
        const double value =
            csv_table_value(c->rounds, row, csv_table_column(c->rounds, parts[axis][i]));
        sum += isfinite(value) ? value : 0;
    }
    return sum;
}

/* The row's runs side by side while the rounds pass. */
struct curve {
    const struct grid_row *row;
    const char *column;
    enum figure_axis axis;
    double *passed; /* [cells]: bits or joules up to now */
    double *x;      /* [cells]; NAN: the run does not enter */
    double *y;
};

static size_t most_rounds(const struct grid_row *r)
{
    size_t most = 0;
    for (size_t i = 0; i < r->cells; i++) {
        if (figure_takes(r, r->cell[i]) && r->cell[i]->rounds->rows > most)
            most = r->cell[i]->rounds->rows;
    }
    return most;
}

static void curve_round(struct curve *v, size_t round)
{
    for (size_t i = 0; i < v->row->cells; i++) {
        const struct result_cell *c = v->row->cell[i];
        v->x[i] = v->y[i] = (double)NAN;
        if (!figure_takes(v->row, c) || round >= c->rounds->rows)
            continue;
        v->passed[i] += step_on(c, v->axis, round);
        v->y[i] = csv_table_value(c->rounds, round, column_of(c, v->column));
        if (!isfinite(v->y[i]))
            continue;
        if (v->axis == AGAINST_ROUND)
            v->x[i] = (double)round + 1; /* so many rounds have passed */
        else
            v->x[i] = v->axis == AGAINST_TIME ? csv_table_value(c->rounds, round, 1) : v->passed[i];
    }
}

static void add_curve(struct figure_series *s, const struct grid_row *r, const char *column,
                      enum figure_axis axis, enum figure_spread spread)
{
    struct curve v = {
        .row = r,
        .column = column,
        .axis = axis,
        .passed = checked_alloc(r->cells, sizeof *v.passed),
        .x = checked_alloc(r->cells, sizeof *v.x),
        .y = checked_alloc(r->cells, sizeof *v.y),
    };
    const size_t rounds = most_rounds(r);
    for (size_t round = 0; round < rounds; round++) {
        curve_round(&v, round);
        const struct statistic x = statistic_of(v.x, r->cells);
        const struct spread y = spread_of(v.y, r->cells, spread);
        /* A run without a link stays at zero bits: no curve. */
        if (x.n > 0 && !(axis >= AGAINST_BITS && x.mean == 0))
            figure_point_add(s, x.mean, y.mean, y.low, y.high);
    }
    free(v.passed);
    free(v.x);
    free(v.y);
}

/* Divides all x by the unit that suits the largest and names the axis. */
static void scale_axis(struct figure *f, enum figure_axis axis)
{
    double most = 0;
    for (size_t i = 0; i < f->n_series; i++) {
        for (size_t k = 0; k < f->series[i].n; k++)
            most = fmax(most, f->series[i].x[k]);
    }
    struct unit_scale scale = {1, NULL};
    const char *what = "rounds";
    if (axis == AGAINST_TIME) {
        scale = unit_scale_seconds(most);
        what = "simulated time";
    } else if (axis == AGAINST_BITS) {
        scale = unit_scale_bits(most);
        what = "uplink";
    } else if (axis == AGAINST_JOULES) {
        scale = unit_scale_joules(most);
        what = "energy of all clients";
    }
    for (size_t i = 0; i < f->n_series; i++) {
        for (size_t k = 0; k < f->series[i].n; k++)
            f->series[i].x[k] /= scale.divisor;
    }
    free(f->x_label);
    f->x_label =
        scale.unit == NULL ? checked_copy(what) : checked_format("%s, %s", what, scale.unit);
}

/* "test accuracy" of a measure; another column's name with blanks. */
static char *spoken(const struct grid_table *t, const char *column)
{
    const struct result_cell *c = t->row[0].cell[0];
    if (c->split != NULL && result_cell_measure_column(c, column) != CSV_NO_COLUMN)
        return checked_format("%s %s", c->split, column);
    char *text = checked_copy(column);
    for (char *at = text; *at != '\0'; at++)
        *at = *at == '_' ? ' ' : *at;
    return text;
}

/* Whether one curve would press the others onto the axis, as a run's that diverges does. */
static bool spans_decades(const struct figure *f)
{
    double most = 0;
    for (size_t i = 0; i < f->n_series; i++) {
        for (size_t k = 0; k < f->series[i].n; k++)
            most = fmax(most, f->series[i].y[k]);
    }
    return most > 1e4 * figure_least_positive(f);
}

struct figure *figure_of_column(const struct grid_experiment *e, const struct grid_table *t,
                                const char *column, enum figure_axis axis,
                                enum figure_spread spread)
{
    static const char *const axis_name[] = {"round", "time", "bits", "joules"};
    char *what = checked_format("%s-%s", column, axis_name[axis]);
    char *y_label = spoken(t, column);
    struct figure *f = figure_create(FIGURE_CURVES, figure_stem(e, t, what),
                                     figure_title(e, t, y_label), checked_copy(""), y_label);
    free(what);
    for (size_t i = 0; i < t->rows; i++) {
        struct figure_series *s = figure_series_add(f, figure_label(&t->row[i]), i);
        add_curve(s, &t->row[i], column, axis, spread);
        figure_series_drop_empty(f);
    }
    if (f->n_series == 0) {
        figure_free(f);
        return NULL;
    }
    scale_axis(f, axis);
    f->y_is_log = !measure_higher_is_better(column) && spans_decades(f);
    f->whole_x = axis == AGAINST_ROUND;
    f->x_from_zero = axis != AGAINST_ROUND;
    return f;
}

/* ---- best value against a setting ---- */

/* The runs [begin, end) of a row with one value of the setting, as a row of their own. */
static void add_best(struct figure_series *s, const struct grid_row *r, size_t begin, size_t end,
                     const char *measure, double x, enum figure_spread spread)
{
    const struct grid_row part = {.label = r->label, .cell = r->cell + begin, .cells = end - begin};
    const struct summary_question question = {.measure = measure, .target = (double)NAN};
    double *best = checked_alloc(part.cells, sizeof *best);
    for (size_t i = 0; i < part.cells; i++) {
        const struct grid_row one = {.label = r->label, .cell = part.cell + i, .cells = 1};
        struct row_summary of_run = row_summarize(&one, &question);
        const bool enters = figure_takes(&part, part.cell[i]) && of_run.best.n > 0;
        best[i] = enters ? of_run.best.mean : (double)NAN;
        row_summary_free(&of_run);
    }
    const struct spread y = spread_of(best, part.cells, spread);
    if (isfinite(y.mean))
        figure_point_add(s, x, y.mean, y.low, y.high);
    free(best);
}

struct figure *figure_of_setting(const struct grid_experiment *e, const struct grid_table *t,
                                 const char *measure, const char *setting,
                                 enum figure_spread spread)
{
    const struct result_cell *any = t->row[0].cell[0];
    const char *name = measure;
    if (name == NULL)
        name = any->n_measures > 0 ? result_cell_measure(any, 0) : "accuracy";
    const char *dot = strrchr(setting, '.');
    char *last = checked_copy(dot == NULL ? setting : dot + 1);
    char *what = checked_format("best-%s-%s", name, last);
    char *measure_text = spoken(t, name);
    char *y_label = checked_format("best %s", measure_text);
    free(measure_text);
    struct figure *f = figure_create(FIGURE_POINTS, figure_stem(e, t, what),
                                     figure_title(e, t, y_label), last, y_label);
    free(what);
    size_t most_values = 0;
    double least = HUGE_VAL;
    double most = -HUGE_VAL;
    for (size_t i = 0; i < t->rows; i++) {
        const struct grid_row *r = &t->row[i];
        struct figure_series *s = figure_series_add(f, checked_copy(r->label), i);
        for (size_t begin = 0, end; begin < r->cells; begin = end) {
            const double x = result_cell_number(r->cell[begin], setting, (double)NAN);
            for (end = begin + 1; end < r->cells; end++) {
                if (result_cell_number(r->cell[end], setting, (double)NAN) != x)
                    break;
            }
            if (isnan(x))
                continue;
            add_best(s, r, begin, end, name, x, spread);
            least = fmin(least, x);
            most = fmax(most, x);
        }
        most_values = s->n > most_values ? s->n : most_values;
        figure_series_drop_empty(f);
    }
    if (most_values < 2) {
        figure_free(f);
        return NULL;
    }
    /* Values such as 2, 4, 8, 16 are steps of the same kind. */
    f->x_log_base = least > 0 && most / least >= 4 ? 2 : 0;
    return f;
}
