/* against_table.c - the rows of a table against one of them, with paired statistics. */
#include "against_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "checked_alloc.h"
#include "comparison.h"
#include "report_numbers.h"

static char *caption(const struct summarized_table *s, enum compared by)
{
    char *what = measure_title(s);
    char *text = NULL;
    if (by == COMPARED_BEST)
        text = checked_format("Against %s: best %s over the rounds (optimistic: the best round is "
                              "chosen on the samples that judge it)",
                              s->against, what);
    else if (by == COMPARED_LAST)
        text = checked_format("Against %s: last %s", s->against, what);
    else
        text =
            checked_format("Against %s: mean %s of the last tenth of the rounds", s->against, what);
    free(what);
    return text;
}

static void add_columns(const struct summarized_table *s, struct text_table *t)
{
    static const char *const heading[] = {"difference", "95 % interval", "p", "p, Holm", "better"};
    text_table_column(t, checked_copy(""), true);
    text_table_column(t, checked_copy("pairs"), false);
    text_table_column(t, measure_heading(s, ""), false);
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; i++)
        text_table_column(t, checked_copy(heading[i]), false);
}

static char *p_text(double p)
{
    if (isnan(p))
        return checked_copy("-");
    return p < 0.001 ? checked_format("%.1e", p) : checked_format("%.3f", p);
}

static void add_row(const struct summarized_table *s, struct text_table *t, size_t row,
                    enum compared by, const struct comparison *c)
{
    const bool has_pair = c->trouble == NULL;
    text_table_row(t);
    text_table_set(t, 0, MARK_NONE, row_name(s, row));
    text_table_set(t, 1, MARK_NONE,
                   c->pairs == 0 ? checked_copy("-") : checked_format("%zu", c->pairs));
    text_table_set(t, 2, comparison_leads(s, row, by) ? MARK_BEST : MARK_NONE,
                   compared_text(s, row, by));
    for (size_t i = 3; i < t->columns && !has_pair; i++)
        text_table_set(t, i, MARK_NONE, checked_copy("-"));
    if (!has_pair)
        return;
    const bool has_interval = !isnan(c->interval.low);
    char *low = difference_text(s, by, c->interval.low);
    char *high = difference_text(s, by, c->interval.high);
    text_table_set(t, 3, MARK_NONE, difference_text(s, by, c->mean));
    text_table_set(t, 4, MARK_NONE,
                   has_interval ? checked_format("%s to %s", low, high)
                                : checked_copy("none: all equal"));
    text_table_set(t, 5, MARK_NONE, p_text(c->p));
    text_table_set(t, 6, MARK_NONE, p_text(c->holm));
    text_table_set(t, 7, MARK_NONE, checked_format("%.0f %%", 100 * c->outperforms));
    free(low);
    free(high);
}

/* Why rows have no numbers, a sentence for each reason. */
static void add_troubles(const struct summarized_table *s, struct text_table *t,
                         const struct comparison *c)
{
    for (size_t i = 0; i < s->table->rows; i++) {
        bool first = c[i].trouble != NULL && c[i].trouble[0] != '\0';
        for (size_t k = 0; k < i && first; k++)
            first = c[k].trouble == NULL || strcmp(c[k].trouble, c[i].trouble) != 0;
        if (!first)
            continue;
        struct checked_stream rows;
        checked_stream_open(&rows);
        for (size_t k = i; k < s->table->rows; k++) {
            if (c[k].trouble != NULL && strcmp(c[k].trouble, c[i].trouble) == 0)
                fprintf(rows.file, "%s%s", k > i ? ", " : "", s->table->row[k].label);
        }
        char *labels = checked_stream_text(&rows);
        text_table_note(t, checked_format("%s: %s.", labels, c[i].trouble));
        free(labels);
    }
}

/* What the numbers are, and what they cannot show. */
static void add_notes(const struct summarized_table *s, struct text_table *t, enum compared by,
                      const struct comparison *c)
{
    size_t least = SIZE_MAX;
    size_t most = 0;
    for (size_t i = 0; i < s->table->rows; i++) {
        if (c[i].trouble != NULL)
            continue;
        least = c[i].pairs < least ? c[i].pairs : least;
        most = c[i].pairs > most ? c[i].pairs : most;
    }
    if (most == 0)
        return;
    /* Once is enough for the tables of one report. */
    if (by == COMPARED_BEST)
        text_table_note(
            t,
            checked_format("difference: mean over the seeds that both rows have, with %s; p: exact "
                           "sign-flip test, two-sided; Holm: adjusted for the rows of the table; "
                           "better: share of the seeds in which the row is better.",
                           s->interval == INTERVAL_STUDENT
                               ? "the interval of Student's t"
                               : "the percentiles of 10000 bootstrap resamples"));
    if (least < PAIRED_FEWEST)
        text_table_note(
            t, checked_format("%zu seed%s cannot give a p below %g: fewer than %d prove "
                              "nothing.",
                              least, text_plural(least), 2 / exp2((double)least), PAIRED_FEWEST));
    if (most > PAIRED_MOST_EXACT)
        text_table_note(t, checked_format("p is computed for up to %d seeds.", PAIRED_MOST_EXACT));
}

struct text_table *against_table(const struct summarized_table *s, enum compared by)
{
    char *trouble = NULL;
    const size_t reference = comparison_reference(s, &trouble);
    if (reference == COMPARISON_NO_ROW && by != COMPARED_BEST) {
        free(trouble); /* the first of the three tables says it */
        return NULL;
    }
    struct text_table *t = text_table_create(caption(s, by));
    add_columns(s, t);
    if (reference == COMPARISON_NO_ROW) {
        text_table_note(t, trouble);
        return t;
    }
    struct comparison *c = comparisons_create(s, reference, by);
    for (size_t i = 0; i < s->table->rows; i++)
        add_row(s, t, i, by, &c[i]);
    add_troubles(s, t, c);
    add_notes(s, t, by, c);
    comparisons_free(c, s->table->rows);
    return t;
}
