/* comparison.c - rows of a table of results against each other. */
#include "comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checked_alloc.h"

/* Differences of two rows over their common seeds, in the order of the seeds. */
struct row_pair {
    double *difference; /* [n] */
    size_t n;
    char *trouble; /* as in struct comparison */
};

bool compared_higher_is_better(const struct summarized_table *s, enum compared by)
{
    return measure_higher_is_better(by == COMPARED_LOSS ? "loss" : s->measure);
}

static void add_pair(struct row_pair *p, const struct run_values *a, const struct run_values *b,
                     enum compared by)
{
    p->difference = checked_grow(p->difference, p->n, sizeof *p->difference);
    p->difference[p->n++] = a->value[by] - b->value[by];
    if (p->trouble != NULL)
        return;
    if (a->rounds != b->rounds)
        p->trouble =
            checked_format("unequal rounds (%" PRIu32 " and %" PRIu32 ")", a->rounds, b->rounds);
    else if (isinf(a->value[by]) || isinf(b->value[by]))
        p->trouble = checked_format("a run of seed %" PRId64 " diverged", a->seed);
    else if (isnan(p->difference[p->n - 1]))
        p->trouble = checked_format("a run of seed %" PRId64 " has no such value", a->seed);
}

static struct row_pair pair_rows(const struct summarized_table *s, size_t row, size_t other,
                                 enum compared by)
{
    const struct row_summary *a = &s->row[row];
    const struct row_summary *b = &s->row[other];
    struct row_pair p = {.n = 0};
    if (a->n == 0 || b->n == 0 || a->provisional || b->provisional)
        p.trouble = checked_copy("no finished runs");
    for (size_t i = 0; i < a->n && p.trouble == NULL; i++) {
        for (size_t k = 0; k < b->n; k++) {
            if (a->run[i].seed == b->run[k].seed)
                add_pair(&p, &a->run[i], &b->run[k], by);
        }
    }
    if (p.trouble == NULL && p.n < 2)
        p.trouble = checked_copy(p.n == 0 ? "no common seeds"
                                          : "one common seed, which shows "
                                            "nothing");
    return p;
}

static void free_pair(struct row_pair *p)
{
    free(p->difference);
    free(p->trouble);
}

bool comparison_leads(const struct summarized_table *s, size_t row, enum compared by)
{
    const double sign = compared_higher_is_better(s, by) ? 1 : -1;
    bool leads = row_is_ranked(&s->row[row]);
    size_t others = 0;
    for (size_t i = 0; i < s->table->rows && leads; i++) {
        if (i == row || !row_is_ranked(&s->row[i]))
            continue;
        struct row_pair p = pair_rows(s, row, i, by);
        others++;
        /* Resamples of a few differences of one sign are all of that sign. */
        const bool enough = s->interval == INTERVAL_STUDENT || p.n >= PAIRED_FEWEST;
        if (p.trouble == NULL && enough) {
            const struct interval at = paired_interval(p.difference, p.n, s->interval);
            leads = sign > 0 ? at.low > 0 : at.high < 0;
        } else {
            leads = false;
        }
        free_pair(&p);
    }
    return leads && others > 0;
}

/* ---- against one row ---- */

size_t comparison_reference(const struct summarized_table *s, char **trouble)
{
    const struct grid_table *t = s->table;
    size_t found = COMPARISON_NO_ROW;
    size_t of_case = 0;
    *trouble = NULL;
    for (size_t i = 0; i < t->rows; i++) {
        if (strcmp(t->row[i].label, s->against) == 0)
            return i;
        if (strcmp(t->row[i].cell[0]->case_name, s->against) == 0) {
            found = i;
            of_case++;
        }
    }
    if (of_case == 0)
        *trouble = checked_format("This table has no row %s.", s->against);
    else if (of_case > 1)
        *trouble = checked_format("%zu rows are of the case %s: name one of them, such as "
                                  "--against '%s'.",
                                  of_case, s->against, t->row[found].label);
    return of_case == 1 ? found : COMPARISON_NO_ROW;
}

static bool all_ties(const struct row_pair *p)
{
    size_t n = 0;
    while (n < p->n && !(p->difference[n] < 0.0) && !(p->difference[n] > 0.0))
        n++;
    return n == p->n;
}

static void compare(const struct summarized_table *s, struct comparison *c, struct row_pair *p,
                    enum compared by)
{
    c->pairs = p->n;
    c->trouble = p->trouble;
    p->trouble = NULL;
    if (c->trouble != NULL)
        return;
    if (all_ties(p)) {
        c->trouble = checked_copy("every pair is a tie");
        c->p = 1.0; /* it counts among those for which Holm adjusts */
        return;
    }
    for (size_t i = 0; i < p->n; i++)
        c->mean += p->difference[i] / (double)p->n;
    c->interval = paired_interval(p->difference, p->n, s->interval);
    c->p = c->holm = paired_sign_flip(p->difference, p->n);
    const double above = paired_share_above(p->difference, p->n);
    c->outperforms = compared_higher_is_better(s, by) ? above : 1 - above;
}

struct comparison *comparisons_create(const struct summarized_table *s, size_t reference,
                                      enum compared by)
{
    const size_t rows = s->table->rows;
    struct comparison *c = checked_alloc(rows, sizeof *c);
    double *p = checked_alloc(rows, sizeof *p);
    for (size_t i = 0; i < rows; i++) {
        c[i].p = c[i].holm = (double)NAN;
        if (i == reference) {
            c[i].trouble = checked_copy("");
        } else {
            struct row_pair pair = pair_rows(s, i, reference, by);
            compare(s, &c[i], &pair, by);
            free_pair(&pair);
        }
        p[i] = c[i].p;
    }
    holm_adjust(p, rows);
    for (size_t i = 0; i < rows; i++)
        c[i].holm = p[i];
    free(p);
    return c;
}

void comparisons_free(struct comparison *c, size_t n)
{
    for (size_t i = 0; c != NULL && i < n; i++)
        free(c[i].trouble);
    free(c);
}
