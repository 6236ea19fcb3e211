/* recovery_table.c - how many rounds a measure needs to recover from a change. */
#include "recovery_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "checked_alloc.h"
#include "report_numbers.h"

/* The mean over the rounds before a change. */
static double mean_before(const struct recovery_question *q, uint32_t change, const double *value,
                          size_t rounds)
{
    double sum = 0.0;
    size_t n = 0;
    for (size_t t = change > q->before ? change - q->before : 0; t < change && t < rounds; t++) {
        if (isnan(value[t]))
            continue;
        sum += value[t];
        n++;
    }
    return n > 0 ? sum / (double)n : (double)NAN;
}

double rounds_to_recover(const struct recovery_question *q, size_t change, bool higher_is_better,
                         const double *value, size_t rounds)
{
    const uint32_t from = q->change[change];
    const size_t end =
        change + 1 < q->changes && q->change[change + 1] < rounds ? q->change[change + 1] : rounds;
    const double sign = higher_is_better ? 1.0 : -1.0;
    const double mean = mean_before(q, from, value, rounds);
    if (!isfinite(mean) || from >= end)
        return (double)NAN;
    bool fallen = false;
    for (size_t t = from; t < end; t++) {
        if (isnan(value[t]))
            continue;
        const bool worse = isinf(value[t]) || sign * (value[t] - mean) < -q->margin;
        if (fallen && !worse)
            return (double)(t - from);
        fallen = fallen || worse;
    }
    return fallen ? (double)INFINITY : 0.0;
}

/* "4 of 5", and the mean of those that recovered. */
static void add_change(const struct summarized_table *s, struct text_table *t, size_t row,
                       size_t change)
{
    const struct grid_row *r = &s->table->row[row];
    const bool higher = measure_higher_is_better(s->measure);
    double *rounds = checked_alloc(r->cells, sizeof *rounds);
    size_t n = 0;
    for (size_t i = 0; i < r->cells; i++) {
        if (!row_takes(&s->row[row], r->cell[i]))
            continue;
        double *value = run_series(r->cell[i], s->measure);
        rounds[n] = rounds_to_recover(s->recovery, change, higher, value, r->cell[i]->rounds->rows);
        n += isnan(rounds[n]) ? 0 : 1;
        free(value);
    }
    const struct statistic of = statistic_of(rounds, n);
    free(rounds);
    text_table_set(t, 1 + 2 * change, MARK_NONE,
                   n == 0 ? checked_copy("-") : checked_format("%zu of %zu", of.n, n));
    text_table_set(t, 2 + 2 * change, MARK_NONE,
                   of.n == 0  ? checked_copy("-")
                   : of.n < 2 ? checked_format("%.1f", of.mean)
                              : checked_format("%.1f \xc2\xb1 %.1f", of.mean, of.deviation));
}

struct text_table *recovery_table(const struct summarized_table *s)
{
    const struct recovery_question *q = s->recovery;
    if (q == NULL)
        return NULL;
    char *title = measure_title(s);
    struct text_table *t = text_table_create(checked_format("Rounds to recover: %s", title));
    free(title);
    text_table_column(t, checked_copy(""), true);
    for (size_t k = 0; k < q->changes; k++) {
        text_table_column(t, checked_format("after round %" PRIu32, q->change[k]), false);
        text_table_column(t, checked_copy("rounds"), false);
    }
    for (size_t i = 0; i < s->table->rows; i++) {
        text_table_row(t);
        text_table_set(t, 0, MARK_NONE, row_name(s, i));
        for (size_t k = 0; k < q->changes; k++)
            add_change(s, t, i, k);
    }
    text_table_note(t, checked_format("recovered: back within %g of the mean over up to %" PRIu32
                                      " round%s before the change, once it has fallen below; 0 "
                                      "rounds if it never does; mean over the runs that recovered.",
                                      q->margin, q->before, text_plural(q->before)));
    return t;
}
