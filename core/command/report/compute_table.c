/* compute_table.c - what the runs of a report took to compute. */
#include "compute_table.h"

#include <stdlib.h>
#include <string.h>

#include "checked_alloc.h"
#include "report_numbers.h"
#include "result_text.h"
#include "row_settings.h"
#include "unit_scale.h"

struct compute_sum {
    size_t runs;
    size_t incomplete; /* of them, failed, interrupted or going on */
    size_t unknown;    /* of them, without a record of CPU time: made by an earlier version */
    double cpu_s;
    double seconds;
    size_t asked;   /* of them, that looked for a record of energy */
    size_t metered; /* of those, with one */
    double joules;
    double peak_bytes; /* the largest */
};

static double number_at(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key)); /* 0: there is none */
}

static void add_run(struct compute_sum *s, const struct result_cell *c)
{
    const json_t *from = c->environment;
    const double peak = number_at(from, "peak_bytes");
    s->runs++;
    s->incomplete += c->state != CELL_COMPLETE;
    s->unknown += !json_is_number(json_object_get(from, "cpu_s"));
    s->cpu_s += number_at(from, "cpu_s") + number_at(from, "earlier_cpu_s");
    s->seconds += number_at(from, "seconds") + number_at(from, "earlier_seconds");
    s->asked += json_object_get(from, "energy_j") != NULL;
    s->metered += json_is_number(json_object_get(from, "energy_j"));
    s->joules += number_at(from, "energy_j") + number_at(from, "earlier_energy_j");
    s->peak_bytes = peak > s->peak_bytes ? peak : s->peak_bytes;
}

static void add_sum(struct compute_sum *to, const struct compute_sum *s)
{
    to->runs += s->runs;
    to->incomplete += s->incomplete;
    to->unknown += s->unknown;
    to->cpu_s += s->cpu_s;
    to->seconds += s->seconds;
    to->asked += s->asked;
    to->metered += s->metered;
    to->joules += s->joules;
    to->peak_bytes = s->peak_bytes > to->peak_bytes ? s->peak_bytes : to->peak_bytes;
}

/* Whether no run has a record of any time. */
static bool no_record(const struct compute_sum *s)
{
    return s->unknown == s->runs && s->seconds <= 0;
}

/* ---- tuning ---- */

/* Whether two runs differ in their seed, and what changes no result, alone. */
static bool same_settings(const struct result_cell *a, const struct result_cell *b)
{
    for (size_t i = 0; i < a->settings; i++) {
        const char *key = a->setting[i].key;
        const char *other = result_cell_setting(b, key);
        if (setting_makes_row(key, NULL) &&
            (other == NULL || strcmp(other, a->setting[i].value) != 0))
            return false;
    }
    return a->settings == b->settings;
}

/* Whether a run tuned the row: it is of the same case, with the same varied settings. */
static bool tunes(const struct result_cell *c, const struct grid_experiment *e,
                  const struct grid_row *row)
{
    const struct result_cell *of = row->cell[0];
    if (strcmp(c->experiment, e->name) != 0 || strcmp(c->case_name, of->case_name) != 0)
        return false;
    for (size_t i = 0; i < of->settings; i++) {
        const char *key = of->setting[i].key;
        const char *other = result_cell_setting(c, key);
        if (result_cell_varies(of, key) && setting_makes_row(key, NULL) &&
            (other == NULL || strcmp(other, of->setting[i].value) != 0))
            return false;
    }
    return true;
}

/* Adds up the runs that tuned the row, and counts their settings. */
static size_t sum_tuning(const struct found_cells *f, const struct grid_experiment *e,
                         const struct grid_row *row, struct compute_sum *sum)
{
    size_t settings = 0;
    for (size_t i = 0; i < f->cells; i++) {
        if (!tunes(f->cell[i], e, row))
            continue;
        bool first = true;
        for (size_t k = 0; k < i && first; k++)
            first = !tunes(f->cell[k], e, row) || !same_settings(f->cell[k], f->cell[i]);
        settings += first;
        add_run(sum, f->cell[i]);
    }
    return settings;
}

/* ---- table ---- */

static char *hours_text(double seconds)
{
    return amount_text(seconds / 3600);
}

static char *memory_text(double bytes)
{
    return bytes > 0 ? amount_text(bytes / 1e6) : checked_copy("-");
}

/* Of the runs that have it. */
static char *energy_text(const struct compute_sum *s)
{
    return s->metered > 0 ? amount_text(s->joules / 3600) : checked_copy("-");
}

/* Why energies are missing, and what those that are there count. */
static void note_energy(struct text_table *t, const struct compute_sum *all)
{
    if (all->metered > 0)
        text_table_note(t, checked_format("energy: of the processors while a run went on (RAPL), "
                                          "known of %zu of %zu run%s.",
                                          all->metered, all->runs, all->runs == 1 ? "" : "s"));
    else
        text_table_note(t, checked_copy(all->asked > 0
                                            ? "energy: not measured, since RAPL could not be read."
                                            : "energy: the runs have no record of it."));
}

static void set_line(struct text_table *t, char *name, const struct compute_sum *s,
                     const struct compute_sum *tuning, char *settings)
{
    text_table_row(t);
    text_table_set(t, 0, MARK_NONE, name);
    text_table_set(t, 1, MARK_NONE, checked_format("%zu", s->runs));
    text_table_set(t, 2, MARK_NONE, checked_format("%zu", s->incomplete));
    text_table_set(t, 3, MARK_NONE,
                   s->unknown == s->runs ? checked_copy("-") : hours_text(s->cpu_s));
    text_table_set(t, 4, MARK_NONE, no_record(s) ? checked_copy("-") : hours_text(s->seconds));
    text_table_set(t, 5, MARK_NONE, memory_text(s->peak_bytes));
    text_table_set(t, 6, MARK_NONE, energy_text(s));
    text_table_set(t, 7, MARK_NONE, settings);
    text_table_set(t, 8, MARK_NONE, checked_format("%zu", tuning->runs));
    text_table_set(t, 9, MARK_NONE,
                   tuning->unknown == tuning->runs ? checked_copy("-") : hours_text(tuning->cpu_s));
}

struct text_table *compute_table(const struct grid_experiment *e, const struct grid_table *t,
                                 const struct found_cells *tuning)
{
    static const char *const heading[] = {"runs",           "not finished",    "CPU, h",
                                          "time, h",        "most memory, MB", "energy, Wh",
                                          "settings tried", "tuning runs",     "tuning, CPU h"};
    struct text_table *to = text_table_create(
        checked_copy("What the runs took to compute (this machine's time, not the simulated one)"));
    struct compute_sum all = {0};
    struct compute_sum all_tuning = {0};
    size_t least = SIZE_MAX;
    size_t most = 0;
    text_table_column(to, checked_copy(""), true);
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; i++)
        text_table_column(to, checked_copy(heading[i]), false);
    for (size_t r = 0; r < t->rows; r++) {
        struct compute_sum sum = {0};
        struct compute_sum tuned = {0};
        for (size_t k = 0; k < t->row[r].cells; k++)
            add_run(&sum, t->row[r].cell[k]);
        const size_t settings = sum_tuning(tuning, e, &t->row[r], &tuned);
        least = settings < least ? settings : least;
        most = settings > most ? settings : most;
        set_line(to, checked_copy(t->row[r].label), &sum, &tuned, checked_format("%zu", settings));
        add_sum(&all, &sum);
        add_sum(&all_tuning, &tuned);
    }
    set_line(to, checked_copy("all"), &all, &all_tuning, checked_copy("-"));
    note_energy(to, &all);
    if (least != most)
        text_table_note(to, checked_format("The rows were not tuned with equal effort: over %zu to "
                                           "%zu settings.",
                                           least, most));
    return to;
}

/* ---- paragraph ---- */

/* Each of a list of texts once, with commas. */
static void add_once(struct checked_stream *to, char ***list, size_t *n, const char *text)
{
    for (size_t i = 0; i < *n; i++) {
        if (strcmp((*list)[i], text) == 0)
            return;
    }
    fprintf(to->file, "%s%s", *n > 0 ? ", " : "", text);
    *list = checked_grow(*list, *n, sizeof **list);
    (*list)[(*n)++] = checked_copy(text);
}

/* What the runs ran on, and from when to when. */
struct compute_place {
    struct checked_stream machines;
    char **machine; /* [n] */
    size_t n;
    char *first; /* ISO 8601, which is ordered as its text is; NULL: not recorded */
    char *last;
};

static void note_place(struct compute_place *p, const struct result_cell *c)
{
    const char *cpu = json_string_value(json_object_get(c->environment, "cpu"));
    const char *started = json_string_value(json_object_get(c->environment, "started"));
    const char *ended = json_string_value(json_object_get(c->environment, "ended"));
    const double cores = number_at(c->environment, "cores");
    if (cpu != NULL) {
        char *text = cores > 0 ? checked_format("%s (%.0f cores)", cpu, cores) : checked_copy(cpu);
        char *printable = result_printable(text);
        add_once(&p->machines, &p->machine, &p->n, printable);
        free(printable);
        free(text);
    }
    if (started != NULL && (p->first == NULL || strcmp(started, p->first) < 0)) {
        free(p->first);
        p->first = result_printable(started);
    }
    if (ended != NULL && (p->last == NULL || strcmp(ended, p->last) > 0)) {
        free(p->last);
        p->last = result_printable(ended);
    }
}

static void sum_grid(const struct result_grid *g, struct compute_sum *sum, struct compute_place *p)
{
    for (size_t i = 0; i < g->experiments; i++) {
        for (size_t k = 0; k < g->experiment[i].tables; k++) {
            const struct grid_table *t = &g->experiment[i].table[k];
            for (size_t r = 0; r < t->rows; r++) {
                for (size_t c = 0; c < t->row[r].cells; c++) {
                    add_run(sum, t->row[r].cell[c]);
                    note_place(p, t->row[r].cell[c]);
                }
            }
        }
    }
}

/* "1.2 h" */
static char *duration_text(double seconds)
{
    const struct unit_scale unit = unit_scale_seconds(seconds);
    char *amount = amount_text(seconds / unit.divisor);
    char *text = checked_format("%s %s", amount, unit.unit);
    free(amount);
    return text;
}

/* "The 8 reported runs took ..." */
static void write_sum(FILE *to, const char *before, const char *after, const struct compute_sum *s)
{
    char *cpu = duration_text(s->cpu_s);
    char *time = duration_text(s->seconds);
    fprintf(to, "The %zu %srun%s%s", s->runs, before, s->runs == 1 ? "" : "s", after);
    if (s->incomplete > 0)
        fprintf(to, ", %zu of which did not finish,", s->incomplete);
    if (no_record(s)) {
        fputs(s->runs == 1 ? " has no record of what it took" : " have no record of what they took",
              to);
    } else {
        fputs(" took", to);
        if (s->unknown < s->runs)
            fprintf(to, " %s of CPU time and", cpu);
        fprintf(to, " %s one after the other", time);
        if (s->unknown > 0)
            fprintf(to, " (of %zu no CPU time is recorded)", s->unknown);
    }
    fputs(". ", to);
    free(cpu);
    free(time);
}

static void write_energy(FILE *to, const struct compute_sum *s)
{
    char *amount = amount_text(s->joules / 3.6e6);
    if (s->metered > 0)
        fprintf(to,
                "While %zu of the %zu runs went on, the processors took %s kWh (RAPL: all that ran "
                "there, runs side by side counted once each); ",
                s->metered, s->runs, amount);
    else
        fprintf(to, "Energy was not measured%s; ",
                s->asked > 0 ? ", since RAPL could not be read" : "");
    fputs("the joules of the other tables are simulated.", to);
    free(amount);
}

char *compute_paragraph(const struct result_grid *g, const struct found_cells *tuning)
{
    struct compute_sum reported = {0};
    struct compute_sum tuned = {0};
    struct compute_place place = {.n = 0};
    struct checked_stream text;
    checked_stream_open(&place.machines);
    checked_stream_open(&text);
    sum_grid(g, &reported, &place);
    for (size_t i = 0; i < tuning->cells; i++) {
        add_run(&tuned, tuning->cell[i]);
        note_place(&place, tuning->cell[i]);
    }
    char *machines = checked_stream_text(&place.machines);
    write_sum(text.file, "reported ", "", &reported);
    if (tuned.runs > 0)
        write_sum(text.file, "", " for tuning", &tuned);
    else
        fputs("No runs for tuning were named (--tuning FOLDER). ", text.file);
    add_sum(&reported, &tuned);
    char *memory = reported.peak_bytes > 0
                       ? checked_format("at most %.0f MB of memory", reported.peak_bytes / 1e6)
                       : checked_copy("an amount of memory that is not recorded");
    fprintf(text.file, "They ran on %s, from %s to %s, with %s. ",
            place.n > 0 ? machines : "machines that are not recorded",
            place.first == NULL ? "-" : place.first, place.last == NULL ? "-" : place.last, memory);
    write_energy(text.file, &reported);
    free(memory);
    free(machines);
    for (size_t i = 0; i < place.n; i++)
        free(place.machine[i]);
    free(place.machine);
    free(place.first);
    free(place.last);
    return checked_stream_text(&text);
}
