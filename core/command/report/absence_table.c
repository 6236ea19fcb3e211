/* absence_table.c - why clients sat out. */
#include "absence_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "checked_alloc.h"
#include "results/results.h"

struct absences {
    char **reason; /* [reasons], in the order in which they were met */
    size_t reasons;
    size_t *count; /* [rows][MOST_REASONS] */
    size_t *all;   /* [rows]: clients times rounds */
    char *trouble; /* the first file that could not be read; NULL: none */
};

enum { MOST_REASONS = 16 };

/* Number of the reason; MOST_REASONS when there are too many. */
static size_t reason_index(struct absences *a, const char *reason)
{
    size_t i = 0;
    while (i < a->reasons && strcmp(a->reason[i], reason) != 0)
        i++;
    if (i == a->reasons && i < MOST_REASONS)
        a->reason[a->reasons++] = checked_copy(reason);
    return i;
}

static void count_run(struct absences *a, size_t row, const struct result_cell *c)
{
    static const char *const wanted[] = {"round", "client", "reason", NULL};
    struct error error;
    struct csv_table *t = NULL;
    if (!result_cell_has_clients(c))
        return; /* results that were thinned out to be kept */
    if (result_cell_clients(c, wanted, &t, &error) != OSAFL_OK) {
        if (a->trouble == NULL)
            a->trouble = checked_copy(error.text);
        return;
    }
    const size_t column = csv_table_column(t, "reason");
    const size_t absent = result_cell_absent(c, t);
    if (absent > 0) {
        a->count[row * MOST_REASONS + reason_index(a, results_reason(OSAFL_OUT_ABSENT))] += absent;
        a->all[row] += absent;
    }
    for (size_t i = 0; i < t->rows && column != CSV_NO_COLUMN; i++) {
        const char *reason = t->word[(size_t)csv_table_value(t, i, column)];
        a->all[row]++;
        if (reason[0] == '\0')
            continue;
        const size_t index = reason_index(a, reason);
        if (index < MOST_REASONS)
            a->count[row * MOST_REASONS + index]++;
    }
    csv_table_free(t);
}

static struct text_table *make_table(const struct summarized_table *s, const struct absences *a)
{
    struct text_table *t =
        text_table_create(checked_copy("Why clients did not take part, or their updates did not "
                                       "count (share of clients and rounds)"));
    text_table_column(t, checked_copy(""), true);
    for (size_t k = 0; k < a->reasons; k++)
        text_table_column(t, checked_copy(a->reason[k]), false);
    for (size_t i = 0; i < s->table->rows; i++) {
        text_table_row(t);
        text_table_set(t, 0, MARK_NONE, checked_copy(s->table->row[i].label));
        for (size_t k = 0; k < a->reasons; k++) {
            const double share = 100.0 * (double)a->count[i * MOST_REASONS + k] / (double)a->all[i];
            text_table_set(t, k + 1, MARK_NONE,
                           a->all[i] == 0 || !s->row[i].has_link
                               ? checked_copy("-")
                               : checked_format("%.1f %%", share));
        }
    }
    if (a->trouble != NULL)
        text_table_note(t, checked_copy(a->trouble));
    return t;
}

struct text_table *absence_table(const struct summarized_table *s)
{
    const size_t rows = s->table->rows;
    struct absences a = {
        .reason = checked_alloc(MOST_REASONS, sizeof *a.reason),
        .count = checked_alloc(rows * MOST_REASONS, sizeof *a.count),
        .all = checked_alloc(rows, sizeof *a.all),
    };
    for (size_t i = 0; i < rows; i++) {
        const struct grid_row *r = &s->table->row[i];
        for (size_t k = 0; k < r->cells; k++) {
            if (row_takes(&s->row[i], r->cell[k]))
                count_run(&a, i, r->cell[k]);
        }
    }
    struct text_table *t = a.reasons > 0 || a.trouble != NULL ? make_table(s, &a) : NULL;
    for (size_t k = 0; k < a.reasons; k++)
        free(a.reason[k]);
    free(a.reason);
    free(a.count);
    free(a.all);
    free(a.trouble);
    return t;
}
