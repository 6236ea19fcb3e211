/* report_numbers.c - how the numbers of a report's tables are written. */
#include "report_numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checked_alloc.h"

char *row_name(const struct summarized_table *s, size_t row)
{
    return checked_format("%s%s", s->table->row[row].label,
                          s->row[row].n > 0 ? grid_row_state(&s->table->row[row]) : "");
}

/* Whether the values are shares that are to be written as percent. */
static bool in_percent(const struct summarized_table *s, enum compared by)
{
    return s->percent && by != COMPARED_LOSS && measure_is_share(s->measure);
}

char *measure_heading(const struct summarized_table *s, const char *before)
{
    return checked_format("%s%s%s", before, s->measure, in_percent(s, COMPARED_BEST) ? ", %" : "");
}

char *measure_title(const struct summarized_table *s)
{
    const char *split = s->table->row[0].cell[0]->split;
    return split == NULL || online_measure_of(s->measure) != NULL
               ? checked_copy(s->measure)
               : checked_format("%s %s", split, s->measure);
}

static char *number_text(double value)
{
    return fabs(value) < 1e4 ? checked_format("%.4f", value) : checked_format("%.4g", value);
}

char *difference_text(const struct summarized_table *s, enum compared by, double value)
{
    if (isnan(value))
        return checked_copy("-");
    char *text = in_percent(s, by)   ? checked_format("%+.2f", 100 * value)
                 : fabs(value) < 1e4 ? checked_format("%+.4f", value)
                                     : checked_format("%+.4g", value);
    if (strpbrk(text, "123456789") == NULL && text[0] == '-')
        text[0] = '+'; /* what rounds to 0 has no sign of its own */
    return text;
}

char *mean_text(const struct summarized_table *s, enum compared by, double mean, double deviation)
{
    return spread_text(in_percent(s, by), mean, deviation);
}

char *spread_text(bool percent, double mean, double deviation)
{
    if (isnan(mean))
        return checked_copy("-");
    if (percent)
        return isnan(deviation) ? checked_format("%.2f", 100 * mean)
                                : checked_format("%.2f \xc2\xb1 %.2f", 100 * mean, 100 * deviation);
    char *text = number_text(mean);
    if (isnan(deviation))
        return text;
    char *spread = number_text(deviation);
    char *both = checked_format("%s \xc2\xb1 %s", text, spread);
    free(text);
    free(spread);
    return both;
}

char *compared_text(const struct summarized_table *s, size_t row, enum compared by)
{
    const struct row_summary *r = &s->row[row];
    size_t diverged = 0;
    for (size_t i = 0; i < r->n; i++)
        diverged += isinf(r->run[i].value[by]) != 0;
    if (diverged > 0)
        return diverged == r->n ? checked_copy("diverged")
                                : checked_format("diverged (%zu of %zu)", diverged, r->n);
    const struct statistic *of = row_compared(r, by);
    return mean_text(s, by, of->n == 0 ? (double)NAN : of->mean,
                     of->n < 2 ? (double)NAN : of->deviation);
}

char *amount_text(double value)
{
    const double size = fabs(value);
    if (size >= 100 || (size >= 1 && value == round(value)))
        return checked_format("%.0f", value);
    if (size >= 10)
        return checked_format("%.1f", value);
    if (size >= 0.1 || size == 0)
        return checked_format("%.2f", value);
    return size >= 0.01 ? checked_format("%.3f", value) : checked_format("%.2g", value);
}
