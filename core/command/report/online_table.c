/* online_table.c - the online measures of a table's rows. */
#include "online_table.h"

#include <math.h>
#include <stdlib.h>

#include "checked_alloc.h"
#include "report_numbers.h"

/* What a run comes to; NAN: it has no value. */
static double value_of_run(const struct result_cell *c, const char *measure, bool last)
{
    const size_t column = csv_table_column(c->rounds, measure);
    double sum = 0.0;
    double newest = (double)NAN;
    size_t n = 0;
    for (size_t i = 0; i < c->rounds->rows; i++) {
        const double value = csv_table_value(c->rounds, i, column);
        if (!isfinite(value))
            continue;
        newest = value;
        sum += value;
        n++;
    }
    return last || n == 0 ? newest : sum / (double)n;
}

static struct statistic of_row(const struct summarized_table *s, size_t row, const char *measure,
                               bool last)
{
    const struct grid_row *r = &s->table->row[row];
    double *value = checked_alloc(r->cells, sizeof *value);
    size_t n = 0;
    for (size_t i = 0; i < r->cells; i++) {
        if (row_takes(&s->row[row], r->cell[i]))
            value[n++] = value_of_run(r->cell[i], measure, last);
    }
    const struct statistic of = statistic_of(value, n);
    free(value);
    return of;
}

static bool any_has(const struct summarized_table *s, const char *measure)
{
    for (size_t i = 0; i < s->table->rows; i++) {
        if (of_row(s, i, measure, true).n > 0)
            return true;
    }
    return false;
}

static void add_row(const struct summarized_table *s, struct text_table *t, size_t row, bool last,
                    const bool has[ONLINE_MEASURES])
{
    size_t column = 0;
    text_table_row(t);
    text_table_set(t, column++, MARK_NONE, row_name(s, row));
    for (size_t m = 0; m < ONLINE_MEASURES; m++) {
        if (!has[m])
            continue;
        const struct statistic of = of_row(s, row, online_measures[m].name, last);
        text_table_set(t, column++, MARK_NONE,
                       spread_text(s->percent && online_measures[m].is_share,
                                   of.n == 0 ? (double)NAN : of.mean,
                                   of.n < 2 ? (double)NAN : of.deviation));
    }
}

struct text_table *online_table(const struct summarized_table *s, bool last)
{
    bool has[ONLINE_MEASURES];
    size_t n = 0;
    for (size_t m = 0; m < ONLINE_MEASURES; m++) {
        has[m] = any_has(s, online_measures[m].name);
        n += has[m];
    }
    if (n == 0)
        return NULL;
    struct text_table *t = text_table_create(
        checked_format("Online measures, %s", last ? "last round" : "mean over the rounds"));
    text_table_column(t, checked_copy(""), true);
    for (size_t m = 0; m < ONLINE_MEASURES; m++) {
        if (has[m])
            text_table_column(
                t,
                checked_format("%s%s", online_measures[m].name,
                               s->percent && online_measures[m].is_share ? ", %" : ""),
                false);
    }
    for (size_t i = 0; i < s->table->rows; i++)
        add_row(s, t, i, last, has);
    if (!last)
        text_table_note(t, checked_copy("--measure NAME compares the rows by one of them."));
    return t;
}
