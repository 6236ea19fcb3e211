/* summary_csv.c - every number of a report as comma-separated values. */
#include "summary_csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comparison.h"
#include "csv_field.h"

/* What --against compares, in the order of enum compared. */
static const char *const by_name[] = {"best", "last", "tail"};

/* Statistics become two columns each, NAME_mean and NAME_std. */
enum { STATISTICS = ROW_STATISTICS };

void summary_csv_header(FILE *to)
{
    fputs("experiment,table,row,seeds,complete,unfinished,failed,runs_counted,measure", to);
    for (size_t i = 0; i < STATISTICS; i++)
        fprintf(to, ",%s_mean,%s_std", row_statistics[i].name, row_statistics[i].name);
    fputs(",target,target_reached,paper_accuracy_mean,paper_accuracy_std,paper_loss_mean,"
          "paper_loss_std,against",
          to);
    for (size_t i = 0; i < sizeof by_name / sizeof by_name[0]; i++)
        fprintf(to, ",%s_pairs,%s_difference,%s_low,%s_high,%s_p,%s_p_holm,%s_outperforms",
                by_name[i], by_name[i], by_name[i], by_name[i], by_name[i], by_name[i], by_name[i]);
    fputc('\n', to);
}

/* c NULL: there is nothing to compare with. */
static void write_comparison(const struct comparison *c, FILE *to)
{
    const bool has_numbers = c != NULL && c->trouble == NULL;
    if (c == NULL)
        fputc(',', to);
    else
        fprintf(to, ",%zu", c->pairs);
    const double number[] = {c == NULL ? 0 : c->mean,          c == NULL ? 0 : c->interval.low,
                             c == NULL ? 0 : c->interval.high, c == NULL ? 0 : c->p,
                             c == NULL ? 0 : c->holm,          c == NULL ? 0 : c->outperforms};
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++)
        csv_field_real(has_numbers ? number[i] : (double)NAN, to);
}

static void write_row(const struct summarized_table *s, size_t row,
                      struct comparison *const against[], FILE *to)
{
    const struct row_summary *r = &s->row[row];
    csv_field_text(s->experiment->name, to);
    fputc(',', to);
    csv_field_text(s->table->title, to);
    fputc(',', to);
    csv_field_text(s->table->row[row].label, to);
    fprintf(to, ",%zu,%zu,%zu,%zu,%zu,%s", s->table->row[row].seeds, r->complete, r->unfinished,
            r->failed, r->n, r->measure == NULL ? "" : r->measure);
    for (size_t i = 0; i < STATISTICS; i++) {
        const struct statistic *of = (const void *)((const char *)r + row_statistics[i].offset);
        csv_field_real(of->n == 0 ? (double)NAN : of->mean, to);
        csv_field_real(of->n < 2 ? (double)NAN : of->deviation, to);
    }
    csv_field_real(s->target, to);
    if (isnan(s->target))
        fputc(',', to);
    else
        fprintf(to, ",%zu", r->reached);
    csv_field_real(r->published.accuracy_mean, to);
    csv_field_real(r->published.accuracy_std, to);
    csv_field_real(r->published.loss_mean, to);
    csv_field_real(r->published.loss_std, to);
    fputc(',', to);
    if (s->against != NULL)
        csv_field_text(s->against, to);
    for (size_t i = 0; i < sizeof by_name / sizeof by_name[0]; i++)
        write_comparison(against[i] == NULL ? NULL : &against[i][row], to);
    fputc('\n', to);
}

void summary_csv_rows(const struct summarized_table *s, FILE *to)
{
    struct comparison *against[sizeof by_name / sizeof by_name[0]] = {NULL};
    char *trouble = NULL;
    const size_t reference =
        s->against == NULL ? COMPARISON_NO_ROW : comparison_reference(s, &trouble);
    free(trouble);
    for (size_t i = 0; i < sizeof by_name / sizeof by_name[0]; i++) {
        if (reference != COMPARISON_NO_ROW)
            against[i] = comparisons_create(s, reference, (enum compared)i);
    }
    for (size_t i = 0; i < s->table->rows; i++)
        write_row(s, i, against, to);
    for (size_t i = 0; i < sizeof by_name / sizeof by_name[0]; i++)
        comparisons_free(against[i], s->table->rows);
}
