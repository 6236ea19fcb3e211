/* report_tables.c - the tables of a report, made from a grid of results. */
#include "report_tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "checked_alloc.h"
#include "comparison.h"
#include "report_numbers.h"
#include "unit_scale.h"

/* Columns of the table of performance. */
enum performance_column {
    COLUMN_SEEDS,
    COLUMN_BEST,
    COLUMN_ROUNDS,
    COLUMN_LOSS,
    COLUMN_LAST,
    COLUMN_TAIL,
    COLUMN_PUBLISHED,
    COLUMNS
};
enum { USUAL_COLUMNS = ((1 << COLUMNS) - 1) & ~(1 << COLUMN_TAIL) };

unsigned performance_columns_parse(const char *list)
{
    static const char *const name[COLUMNS] = {"seeds", "best", "rounds",   "loss",
                                              "last",  "tail", "published"};
    char *copy = checked_copy(list);
    char *rest = copy;
    unsigned columns = 0;
    bool good = true;
    for (char *word; (word = strsep(&rest, ",")) != NULL;) {
        int i = 0;
        while (i < COLUMNS && strcmp(name[i], word) != 0)
            i++;
        good = good && i < COLUMNS;
        columns |= 1u << i;
    }
    free(copy);
    return good ? columns : 0;
}

struct summarized_table *summarize_table(const struct grid_experiment *e,
                                         const struct grid_table *t,
                                         const struct summary_question *q)
{
    struct summarized_table *s = checked_alloc(1, sizeof *s);
    *s = (struct summarized_table){
        .experiment = e,
        .table = t,
        .target = q->target,
        .against = q->against,
        .interval = q->interval,
        .columns = q->columns != 0 ? q->columns : USUAL_COLUMNS,
        .percent = q->percent,
        .recovery = q->recovery,
    };
    s->row = checked_alloc(t->rows, sizeof *s->row);
    for (size_t i = 0; i < t->rows; i++) {
        s->row[i] = row_summarize(&t->row[i], q);
        if (s->measure == NULL && s->row[i].n > 0)
            s->measure = s->row[i].measure;
    }
    return s;
}

void summarized_table_free(struct summarized_table *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->table->rows; i++)
        row_summary_free(&s->row[i]);
    free(s->row);
    free(s);
}

bool row_is_ranked(const struct row_summary *r)
{
    return r->n > 0 && !r->provisional && r->has_link;
}

/* A statistic by its offset within struct row_summary. */
static const struct statistic *statistic_at(const struct row_summary *r, size_t offset)
{
    return (const struct statistic *)(const void *)((const char *)r + offset);
}

/* Largest mean of a column, for its unit. */
static double largest(const struct summarized_table *s, size_t offset)
{
    double most = 0;
    for (size_t i = 0; i < s->table->rows; i++) {
        const struct statistic *of = statistic_at(&s->row[i], offset);
        if (of->n > 0 && of->mean > most)
            most = of->mean;
    }
    return most;
}

#define STATISTIC(member) offsetof(struct row_summary, member)

/* ---- performance ---- */

static bool any_published(const struct summarized_table *s, bool loss)
{
    for (size_t i = 0; i < s->table->rows; i++) {
        const struct published_values *p = &s->row[i].published;
        if (!isnan(loss ? p->loss_mean : p->accuracy_mean))
            return true;
    }
    return false;
}

static void add_published(struct text_table *t, size_t column, const struct summarized_table *s,
                          size_t row, enum compared by)
{
    const struct published_values *p = &s->row[row].published;
    const struct statistic *ours = row_compared(&s->row[row], by);
    const double mean = by == COMPARED_LOSS ? p->loss_mean : p->accuracy_mean;
    const double deviation = by == COMPARED_LOSS ? p->loss_std : p->accuracy_std;
    text_table_set(t, column, MARK_NONE, mean_text(s, by, mean, deviation));
    const bool all = ours->n > 0 && ours->n == s->row[row].n; /* none has diverged */
    text_table_set(t, column + 1, MARK_NONE,
                   difference_text(s, by, all ? ours->mean - mean : (double)NAN));
}

/* "3", or "2 of 3" when it should have more seeds or some runs have not finished. */
static char *seeds_text(const struct summarized_table *s, size_t row)
{
    const size_t complete = s->row[row].complete;
    return complete == s->table->row[row].seeds
               ? checked_format("%zu", complete)
               : checked_format("%zu of %zu", complete, s->table->row[row].seeds);
}

/* Whether the column is asked for, and has something to show. */
static bool has_column(const struct summarized_table *s, enum performance_column column)
{
    if ((s->columns & (1u << column)) == 0)
        return false;
    if (column == COLUMN_LOSS)
        return strcmp(s->measure, "loss") != 0;
    return column != COLUMN_PUBLISHED || (strcmp(s->measure, "accuracy") == 0 &&
                                          (any_published(s, false) || any_published(s, true)));
}

static void add_headings(const struct summarized_table *s, struct text_table *t)
{
    text_table_column(t, checked_copy(""), true);
    if (has_column(s, COLUMN_SEEDS))
        text_table_column(t, checked_copy("seeds"), false);
    if (has_column(s, COLUMN_BEST))
        text_table_column(t, measure_heading(s, "best "), false);
    if (has_column(s, COLUMN_ROUNDS))
        text_table_column(t, checked_copy("after rounds"), false);
    if (has_column(s, COLUMN_LOSS))
        text_table_column(t, checked_copy("loss there"), false);
    if (has_column(s, COLUMN_LAST))
        text_table_column(t, measure_heading(s, "last "), false);
    if (has_column(s, COLUMN_TAIL))
        text_table_column(t, measure_heading(s, "last tenth's "), false);
    for (int loss = 0; loss < 2 && has_column(s, COLUMN_PUBLISHED); loss++) {
        if (!any_published(s, loss))
            continue;
        text_table_column(t, checked_copy(loss ? "paper's loss" : "paper"), false);
        text_table_column(t, checked_copy("difference"), false);
    }
}

static void set_compared(struct text_table *t, size_t column, const struct summarized_table *s,
                         size_t row, enum compared by)
{
    text_table_set(t, column, comparison_leads(s, row, by) ? MARK_BEST : MARK_NONE,
                   compared_text(s, row, by));
}

static void add_performance(const struct summarized_table *s, struct text_table *t, size_t row)
{
    const struct statistic *rounds = &s->row[row].best_round;
    size_t column = 0;
    text_table_row(t);
    text_table_set(t, column++, MARK_NONE, row_name(s, row));
    if (has_column(s, COLUMN_SEEDS))
        text_table_set(t, column++, MARK_NONE, seeds_text(s, row));
    if (has_column(s, COLUMN_BEST))
        set_compared(t, column++, s, row, COMPARED_BEST);
    if (has_column(s, COLUMN_ROUNDS))
        text_table_set(t, column++, MARK_NONE,
                       rounds->n == 0 ? checked_copy("-") : checked_format("%.0f", rounds->mean));
    if (has_column(s, COLUMN_LOSS))
        set_compared(t, column++, s, row, COMPARED_LOSS);
    if (has_column(s, COLUMN_LAST))
        set_compared(t, column++, s, row, COMPARED_LAST);
    if (has_column(s, COLUMN_TAIL))
        set_compared(t, column++, s, row, COMPARED_TAIL);
    for (int loss = 0; loss < 2 && has_column(s, COLUMN_PUBLISHED); loss++) {
        if (!any_published(s, loss))
            continue;
        add_published(t, column, s, row, loss ? COMPARED_LOSS : COMPARED_BEST);
        column += 2;
    }
}

/* The rule of measure_loss_limit(), for the models of the table. */
static const char *loss_limit_text(const struct summarized_table *s)
{
    for (size_t i = 0; i < s->table->rows; i++) {
        if (result_cell_measure_column(s->table->row[i].cell[0], "accuracy") == CSV_NO_COLUMN)
            return "1000 times the larger of 1 and the run's first one";
    }
    return "1000";
}

static void performance_notes(const struct summarized_table *s, struct text_table *t)
{
    bool no_link = false;
    bool diverged = false;
    for (size_t i = 0; i < s->table->rows; i++) {
        no_link = no_link || (s->row[i].n > 0 && !s->row[i].has_link);
        diverged = diverged || s->row[i].diverged;
    }
    if (diverged)
        text_table_note(t, checked_format("diverged: %s or loss not finite, or a loss above %s.",
                                          s->measure, loss_limit_text(s)));
    if (no_link)
        text_table_note(t, checked_copy("Runs without a link (nothing was sent) are not ranked."));
    for (size_t i = 0; diverged && i < s->table->rows; i++) {
        if (s->row[i].diverged && row_compared(&s->row[i], COMPARED_BEST)->n > 0)
            text_table_note(t, checked_format("%s: best of the rounds that have not diverged.",
                                              s->table->row[i].label));
    }
}

struct text_table *performance_table(const struct summarized_table *s)
{
    const bool with_loss = strcmp(s->measure, "loss") != 0;
    char *title = measure_title(s);
    struct text_table *t = text_table_create(checked_format(
        "Best %s over the rounds%s (%s)", title, with_loss ? ", and the loss of that round" : "",
        s->experiment->seeds > 1 ? "mean \xc2\xb1 sample standard deviation over seeds"
                                 : "one seed"));
    free(title);
    add_headings(s, t);
    for (size_t i = 0; i < s->table->rows; i++)
        add_performance(s, t, i);
    performance_notes(s, t);
    return t;
}

/* ---- cost ---- */

struct amount_column {
    size_t offset;
    const char *heading;
    struct unit_scale scale;
};

static void set_amount(const struct summarized_table *s, struct text_table *t, size_t row,
                       size_t column, const struct amount_column *of, enum entry_mark mark)
{
    const struct statistic *value = statistic_at(&s->row[row], of->offset);
    text_table_set(t, column, mark,
                   value->n == 0 ? checked_copy("-")
                                 : amount_text(value->mean / of->scale.divisor));
}

/* Whether a row has the statistic. */
static bool has_any(const struct summarized_table *s, size_t offset)
{
    size_t i = 0;
    while (i < s->table->rows && statistic_at(&s->row[i], offset)->n == 0)
        i++;
    return i < s->table->rows;
}

static void add_costs(const struct summarized_table *s, struct text_table *t, size_t row,
                      const struct amount_column column[], size_t columns)
{
    const struct row_summary *r = &s->row[row];
    const bool linked = r->n > 0 && r->has_link;
    text_table_row(t);
    text_table_set(t, 0, MARK_NONE, row_name(s, row));
    text_table_set(t, 1, MARK_NONE,
                   linked && r->participation.n > 0
                       ? checked_format("%.1f %%", 100 * r->participation.mean)
                       : checked_copy("-"));
    text_table_set(t, 2, MARK_NONE,
                   linked && r->local_rounds.n > 0 ? checked_format("%.2f", r->local_rounds.mean)
                                                   : checked_copy("-"));
    for (size_t c = 0; c < columns; c++) {
        if (linked || column[c].offset == STATISTIC(simulated_s))
            set_amount(s, t, row, 3 + c, &column[c], MARK_NONE);
        else
            text_table_set(t, 3 + c, MARK_NONE, checked_copy("-"));
    }
}

struct text_table *cost_table(const struct summarized_table *s)
{
    const double sent = fmax(largest(s, STATISTIC(upload_j)), largest(s, STATISTIC(receive_j)));
    const double energy = fmax(largest(s, STATISTIC(compute_j)), sent);
    const struct unit_scale bits = unit_scale_bits(largest(s, STATISTIC(payload_bits)));
    const struct unit_scale joules = unit_scale_joules(energy);
    struct amount_column column[] = {
        {STATISTIC(payload_bits), "uplink", bits},
        {STATISTIC(air_bits), "as coded", bits},
        {STATISTIC(compute_j), "computing", joules},
        {STATISTIC(upload_j), "sending", joules},
        {STATISTIC(receive_j), "receiving", joules},
        {STATISTIC(simulated_s), "time", unit_scale_seconds(largest(s, STATISTIC(simulated_s)))},
    };
    size_t columns = sizeof column / sizeof column[0];
    if (!has_any(s, STATISTIC(receive_j))) { /* no run has a downlink */
        columns--;
        column[columns - 1] = column[columns];
    }
    struct text_table *t = text_table_create(checked_copy(
        "Participation, and what a run costs (all clients and rounds, mean over seeds)"));
    text_table_column(t, checked_copy(""), true);
    text_table_column(t, checked_copy("participation"), false);
    text_table_column(t, checked_copy("local rounds"), false);
    for (size_t c = 0; c < columns; c++)
        text_table_column(t, checked_format("%s, %s", column[c].heading, column[c].scale.unit),
                          false);
    for (size_t i = 0; i < s->table->rows; i++)
        add_costs(s, t, i, column, columns);
    text_table_note(t, checked_copy("uplink: the payload for which the resource problem pays; as "
                                    "coded: the bits that were really sent (few levels quantize "
                                    "most entries to 0, and the code packs this)."));
    return t;
}

/* ---- target ---- */

struct text_table *target_table(const struct summarized_table *s)
{
    const struct amount_column column[] = {
        {STATISTIC(target_rounds), "rounds", {1, NULL}},
        {STATISTIC(target_s), "time", unit_scale_seconds(largest(s, STATISTIC(target_s)))},
        {STATISTIC(target_bits), "uplink", unit_scale_bits(largest(s, STATISTIC(target_bits)))},
        {STATISTIC(target_j), "energy", unit_scale_joules(largest(s, STATISTIC(target_j)))},
    };
    const size_t columns = sizeof column / sizeof column[0];
    struct text_table *t = text_table_create(
        checked_format("To %s %g (mean over the runs that reached it)", s->measure, s->target));
    text_table_column(t, checked_copy(""), true);
    text_table_column(t, checked_copy("reached"), false);
    for (size_t c = 0; c < columns; c++)
        text_table_column(t,
                          column[c].scale.unit == NULL
                              ? checked_copy(column[c].heading)
                              : checked_format("%s, %s", column[c].heading, column[c].scale.unit),
                          false);
    for (size_t i = 0; i < s->table->rows; i++) {
        const struct row_summary *r = &s->row[i];
        text_table_row(t);
        text_table_set(t, 0, MARK_NONE, row_name(s, i));
        text_table_set(t, 1, MARK_NONE, checked_format("%zu of %zu", r->reached, r->n));
        for (size_t c = 0; c < columns; c++) {
            const bool of_link = c >= 2;
            if (of_link && !r->has_link)
                text_table_set(t, 2 + c, MARK_NONE, checked_copy("-"));
            else
                set_amount(s, t, i, 2 + c, &column[c], MARK_NONE);
        }
    }
    return t;
}

/* ---- what is missing ---- */

static const struct result_cell *cell_of_seed(const struct grid_row *r, int64_t seed)
{
    for (size_t i = 0; i < r->cells; i++) {
        if (r->cell[i]->seed == seed)
            return r->cell[i];
    }
    return NULL;
}

/* What is wrong with one run; NULL: nothing. */
static char *missing_run(const struct grid_row *r, int64_t seed)
{
    const struct result_cell *c = cell_of_seed(r, seed);
    if (c == NULL)
        return checked_format("seed %" PRId64 " has no results", seed);
    if (c->state == CELL_FAILED)
        return checked_format("seed %" PRId64 " failed after %zu of %u rounds: %s", seed,
                              c->rounds->rows, c->planned_rounds, c->failure);
    if (c->state == CELL_UNFINISHED)
        return checked_format("seed %" PRId64 " has %zu of %u round%s", seed, c->rounds->rows,
                              c->planned_rounds, text_plural(c->planned_rounds));
    return NULL;
}

/* "LABEL: seed 2 has no results; seed 3 has 2 of 4 rounds"; NULL: the row is complete. */
static char *missing_of_row(const struct grid_row *r)
{
    struct checked_stream text;
    checked_stream_open(&text);
    bool complete = true;
    for (size_t k = 0; k < r->seeds; k++) {
        char *missing = missing_run(r, r->seed[k]);
        if (missing == NULL)
            continue;
        fprintf(text.file, "%s%s%s", complete ? r->label : "", complete ? ": " : "; ", missing);
        complete = false;
        free(missing);
    }
    char *sentence = checked_stream_text(&text);
    if (complete) {
        free(sentence);
        sentence = NULL;
    }
    return sentence;
}

static bool has_case(const struct grid_table *t, const char *name)
{
    for (size_t i = 0; i < t->rows; i++) {
        if (strcmp(t->row[i].cell[0]->case_name, name) == 0)
            return true;
    }
    return false;
}

static char **add_item(char **item, size_t *items, char *sentence)
{
    if (sentence == NULL)
        return item;
    item = checked_grow(item, *items, sizeof *item);
    item[(*items)++] = sentence;
    return item;
}

/* Cases that other tables of the experiment have; each once, where it first stands.  Of rows that a
 * record names, the record says in which tables they belong. */
static char **cases_of_others(const struct summarized_table *s, char **item, size_t *items)
{
    for (size_t k = 0; k < s->experiment->tables; k++) {
        const struct grid_table *other = &s->experiment->table[k];
        for (size_t i = 0; i < other->rows; i++) {
            const char *name = other->row[i].cell[0]->case_name;
            bool first =
                !has_case(s->table, name) && !(s->table->is_planned && other->row[i].is_planned);
            for (size_t before = 0; before < k && first; before++)
                first = !has_case(&s->experiment->table[before], name);
            for (size_t before = 0; before < i && first; before++)
                first = strcmp(other->row[before].cell[0]->case_name, name) != 0;
            if (first)
                item = add_item(item, items, checked_format("%s has no results", name));
        }
    }
    return item;
}

char **missing_runs(const struct summarized_table *s, size_t *items)
{
    const struct grid_table *t = s->table;
    char **item = NULL;
    *items = 0;
    for (size_t i = 0; i < t->rows; i++)
        item = add_item(item, items, missing_of_row(&t->row[i]));
    for (size_t i = 0; i < t->absents; i++)
        item = add_item(item, items, checked_format("%s has no results", t->absent[i]));
    return cases_of_others(s, item, items);
}

/* ---- facts ---- */

/* The value that all cells of the table share; NULL: they do not, or have none. */
static const char *shared_setting(const struct grid_table *t, const char *key)
{
    const char *shared = NULL;
    for (size_t i = 0; i < t->rows; i++) {
        for (size_t k = 0; k < t->row[i].cells; k++) {
            const char *value = result_cell_setting(t->row[i].cell[k], key);
            if (value == NULL || (shared != NULL && strcmp(shared, value) != 0))
                return NULL;
            shared = value;
        }
    }
    return shared;
}

char *shared_facts(const struct grid_table *t)
{
    static const struct {
        const char *key;
        const char *before;
        const char *after;
    } fact[] = {
        {"clients.count", "", " client"},
        {"rounds", "", " round"},
        {"deadline_s", "deadline ", " s"},
        {"partition.dirichlet.concentration", "concentration ", ""},
        {"dataset.plugin", "dataset ", ""},
        {"model.plugin", "model ", ""},
        {"channel.plugin", "channel ", ""},
        {"resource.plugin", "resource ", ""},
        {"quantizer.plugin", "quantizer ", ""},
        {"deletion.plugin", "deletion ", ""},
        {"aggregator.plugin", "aggregator ", ""},
    };
    struct checked_stream text;
    checked_stream_open(&text);
    const char *between = "";
    const uint32_t first = t->row[0].cell[0]->first_rounds; /* the same for all */
    if (first > 0) {
        fprintf(text.file, "the first %" PRIu32 " round%s alone", first, text_plural(first));
        between = ", ";
    }
    for (size_t i = 0; i < sizeof fact / sizeof fact[0]; i++) {
        const char *value = shared_setting(t, fact[i].key);
        if (value == NULL)
            continue;
        const bool counted = fact[i].before[0] == '\0' && strcmp(value, "1") != 0;
        fprintf(text.file, "%s%s%s%s%s", between, fact[i].before, value, fact[i].after,
                counted ? "s" : "");
        between = ", ";
    }
    return checked_stream_text(&text);
}
