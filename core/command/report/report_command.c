/* report_command.c - "osafl report DIR...": the tables of experiments. */
#include "report_command.h"

#include <argp.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_status.h"
#include "base/folder.h"
#include "base/suggest.h"
#include "base/text.h"
#include "checked_alloc.h"
#include "compute_table.h"
#include "html_page.h"
#include "label_names.h"
#include "pivot_table.h"
#include "report_body.h"
#include "result_text.h"
#include "runs_csv.h"
#include "summary_csv.h"

enum {
    KEY_FORMAT = 'f',
    KEY_TARGET = 't',
    KEY_MEASURE = 'm',
    KEY_ONLY = 0x100,
    KEY_HTML,
    KEY_ROUNDS,
    KEY_PUBLISHED,
    KEY_AGAINST,
    KEY_BY,
    KEY_COMPUTE,
    KEY_TUNING,
    KEY_VALUE,
    KEY_NAME,
    KEY_COLUMNS,
    KEY_INTERVAL,
    KEY_PERCENT,
    KEY_RECOVER,
    KEY_MARGIN,
    KEY_BEFORE,
};

/* --format csv and runs are no formats of tables: they give the numbers, of rows or of runs. */
enum { CSV_NUMBERS = FORMAT_HTML + 1, CSV_RUNS };

struct report_options {
    int format;
    const char *html; /* file of a page; NULL: tables to standard output */
    struct summary_question question;
    const char *published_path;       /* NULL: published.csv of a folder that is named, if any */
    struct published_table published; /* by that file */
    uint32_t rounds;                  /* of each run, the first; 0: all */
    bool compute;
    const char **tuning; /* [tunings]: folders */
    size_t tunings;
    struct found_cells tuned; /* in them */
    const char *by;           /* a setting: --by; NULL */
    struct pivot pivot;
    struct recovery_question recovery;
    const char *recovery_detail; /* an option that says more of it; NULL */
    char *heading;               /* the pivot's */
    const char **name;           /* [names] */
    size_t names;
    const char **only; /* [n_only] */
    size_t n_only;
    const char **folder; /* [folders] */
    size_t folders;
};

static const struct argp_option options[] = {
    {"format", KEY_FORMAT, "FORMAT", 0,
     "text (default), markdown or latex; csv: the numbers of every row; runs: CSV of every run, "
     "with "
     "all settings in which runs differ",
     0},
    {"html", KEY_HTML, "FILE", 0,
     "Write one self-contained page with tables, figures, settings and environment instead", 0},
    {"target", KEY_TARGET, "VALUE", 0,
     "Also rounds, time, uplink bits and joules to this accuracy (0.8)", 0},
    {"measure", KEY_MEASURE, "NAME", 0,
     "Compare runs by this measure, or online measure, such as prequential_accuracy; default: the "
     "first that they evaluate, accuracy for a classifier",
     0},
    {"rounds", KEY_ROUNDS, "N", 0,
     "Use only the first N rounds of each run, to compare with longer runs", 0},
    {"against", KEY_AGAINST, "CASE", 0,
     "Compare every row with this one, seed by seed: mean difference, its 95 % interval, p of the "
     "exact sign-flip test and adjusted by Holm, how often the row is better; for the best, the "
     "last "
     "and the mean value of the last tenth of the rounds",
     0},
    {"interval", KEY_INTERVAL, "KIND", 0, "Of paired differences: student (default) or bootstrap",
     0},
    {"by", KEY_BY, "SETTING", 0,
     "One table of rows by the values of this setting, such as levels, instead of the others", 0},
    {"value", KEY_VALUE, "NAME", 0,
     "What the table of --by shows: best (default), last, tail (mean of the last tenth of the "
     "rounds) or "
     "loss (in the round of the best)",
     0},
    {"columns", KEY_COLUMNS, "LIST", 0,
     "Columns of the first table, separated by commas: seeds, best, rounds, loss, last, tail, "
     "published; default: all but tail",
     0},
    {"name", KEY_NAME, "OLD=NEW", 0,
     "Rename a case or a setting in the tables; may be given several times", 0},
    {"percent", KEY_PERCENT, NULL, 0, "Accuracies as percent", 0},
    {"recover", KEY_RECOVER, "ROUND[,...]", 0,
     "Also how many rounds the measure needs to recover from a change at this round, the first "
     "that "
     "can show it",
     0},
    {"margin", KEY_MARGIN, "VALUE", 0,
     "With --recover: it has recovered within this distance of its mean before the change (0.02)",
     0},
    {"before", KEY_BEFORE, "N", 0, "With --recover: that mean is over so many rounds (10)", 0},
    {"compute", KEY_COMPUTE, NULL, 0,
     "Print the cost of the computation instead: CPU hours, memory, machines, runs that failed", 0},
    {"tuning", KEY_TUNING, "DIR", 0,
     "With --compute: runs of \"osafl tune\", which count too; may be given several times", 0},
    {"published", KEY_PUBLISHED, "FILE", 0,
     "Published numbers to print next to the rows, as CSV: the columns accuracy_mean, "
     "accuracy_std, loss_mean, loss_std, and one for each condition, such as case, experiment or "
     "model.plugin; default: published.csv in DIR, if it is there",
     0},
    {"only", KEY_ONLY, "KEY=VALUE", 0,
     "Only the runs with this case, experiment, seed or setting; may be given several times", 0},
    {0}};

static int parse_format(const char *name)
{
    static const char *const names[] = {"text", "markdown", "latex", NULL, "csv", "runs"};
    for (int i = 0; i <= CSV_RUNS; i++) {
        if (names[i] != NULL && strcmp(names[i], name) == 0)
            return i;
    }
    return -1;
}

static void parse_value(struct report_options *o, const char *name, struct argp_state *state)
{
    static const char *const names[COMPARED_VALUES] = {"best", "last", "tail", "loss"};
    for (int i = 0; i < COMPARED_VALUES; i++) {
        if (strcmp(names[i], name) == 0) {
            o->pivot.by = (enum compared)i;
            return;
        }
    }
    argp_error(state, "--value %s: choose best, last, tail or loss", name);
}

static void append(const char ***list, size_t *n, const char *word)
{
    *list = checked_grow(*list, *n, sizeof **list);
    (*list)[(*n)++] = word;
}

/* "30,45": rounds in ascending order, from 1 on. */
static void parse_recover(struct report_options *o, const char *list, struct argp_state *state)
{
    struct recovery_question *q = &o->recovery;
    char *copy = checked_copy(list);
    char *rest = copy;
    for (char *word; (word = strsep(&rest, ",")) != NULL;) {
        uint32_t round;
        if (!parse_rounds(word, &round) || (q->changes > 0 && round <= q->change[q->changes - 1]))
            argp_error(state, "--recover %s: must be whole numbers from 1 on that ascend", list);
        q->change = checked_grow(q->change, q->changes, sizeof *q->change);
        q->change[q->changes++] = round;
    }
    free(copy);
    o->question.recovery = q;
}

static error_t parse_recovery(int key, char *argument, struct argp_state *state)
{
    struct report_options *o = state->input;
    switch (key) {
    case KEY_RECOVER:
        parse_recover(o, argument, state);
        return 0;
    case KEY_MARGIN:
        if (!text_real(argument, &o->recovery.margin) || !(o->recovery.margin >= 0.0))
            argp_error(state, "--margin %s: must be a number from 0 on", argument);
        o->recovery_detail = "--margin";
        return 0;
    case KEY_BEFORE:
        if (!parse_rounds(argument, &o->recovery.before))
            argp_error(state, "--before %s: must be a whole number from 1 on", argument);
        o->recovery_detail = "--before";
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* How the tables look. */
static error_t parse_look(int key, char *argument, struct argp_state *state)
{
    struct report_options *o = state->input;
    switch (key) {
    case KEY_AGAINST:
        o->question.against = argument;
        return 0;
    case KEY_INTERVAL:
        o->question.interval =
            strcmp(argument, "bootstrap") == 0 ? INTERVAL_BOOTSTRAP : INTERVAL_STUDENT;
        if (o->question.interval == INTERVAL_STUDENT && strcmp(argument, "student") != 0)
            argp_error(state, "--interval %s: choose student or bootstrap", argument);
        return 0;
    case KEY_BY:
        o->by = argument;
        return 0;
    case KEY_VALUE:
        parse_value(o, argument, state);
        return 0;
    case KEY_COLUMNS:
        o->question.columns = performance_columns_parse(argument);
        if (o->question.columns == 0)
            argp_error(state, "--columns %s: there are " PERFORMANCE_COLUMNS, argument);
        return 0;
    case KEY_NAME:
        if (!label_name_is_good(argument))
            argp_error(state, "--name %s: write OLD=NEW, such as M-FedAvg=FedAvg", argument);
        append(&o->name, &o->names, argument);
        return 0;
    case KEY_PERCENT:
        o->question.percent = true;
        return 0;
    default:
        return parse_recovery(key, argument, state);
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct report_options *o = state->input;
    switch (key) {
    case KEY_FORMAT:
        o->format = parse_format(argument);
        if (o->format < 0)
            argp_error(state, "--format %s: choose text, markdown, latex, csv or runs", argument);
        return 0;
    case KEY_HTML:
        o->html = argument;
        return 0;
    case KEY_TARGET:
        if (!text_real(argument, &o->question.target))
            argp_error(state, "--target %s: not a number", argument);
        return 0;
    case KEY_MEASURE:
        o->question.measure = argument;
        return 0;
    case KEY_ROUNDS:
        if (!parse_rounds(argument, &o->rounds))
            argp_error(state, "--rounds %s: must be a whole number from 1 on", argument);
        return 0;
    case KEY_COMPUTE:
        o->compute = true;
        return 0;
    case KEY_TUNING:
        append(&o->tuning, &o->tunings, argument);
        return 0;
    case KEY_PUBLISHED:
        o->published_path = argument;
        return 0;
    case KEY_ONLY:
        append(&o->only, &o->n_only, argument);
        return 0;
    case ARGP_KEY_ARG:
        append(&o->folder, &o->folders, argument);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "name a folder with results, such as results");
        return 0;
    default:
        return parse_look(key, argument, state);
    }
}

static const struct argp command_line = {
    .options = options,
    .parser = parse,
    .args_doc = "DIR...",
    .doc = "Prints the tables of all runs below the folders: best accuracy over the rounds and "
           "the loss of that round, mean and sample standard deviation over seeds, last accuracy, "
           "participation, local rounds, bits, joules; and what is missing.  Unfinished "
           "experiments work too.\vDIR is the folder of a run, of a case, of an experiment, or "
           "all results.",
};

static void write_table(const struct summarized_table *s, enum table_format format, FILE *to)
{
    if (s->table->title[0] != '\0')
        text_heading_write(s->table->title, 2, format, to);
    report_body_write(s, format, to);
}

/* One table of rows by a setting. */
static void write_pivots(const struct result_grid *g, const struct report_options *o, FILE *to)
{
    const enum table_format format = (enum table_format)o->format;
    for (size_t i = 0; i < g->experiments; i++) {
        const struct grid_experiment *e = &g->experiment[i];
        text_heading_write(e->name, 1, format, to);
        for (size_t k = 0; k < e->tables; k++) {
            struct text_table *t = pivot_table(e, &e->table[k], &o->pivot, &o->question);
            if (e->table[k].title[0] != '\0')
                text_heading_write(e->table[k].title, 2, format, to);
            if (t != NULL)
                text_table_write(t, format, to);
            text_table_free(t);
        }
    }
}

/* What everything took to compute. */
static void write_compute(const struct result_grid *g, const struct report_options *o, FILE *to)
{
    const enum table_format format = (enum table_format)o->format;
    for (size_t i = 0; i < g->experiments; i++) {
        const struct grid_experiment *e = &g->experiment[i];
        text_heading_write(e->name, 1, format, to);
        for (size_t k = 0; k < e->tables; k++) {
            struct text_table *t = compute_table(e, &e->table[k], &o->tuned);
            if (e->table[k].title[0] != '\0')
                text_heading_write(e->table[k].title, 2, format, to);
            text_table_write(t, format, to);
            text_table_free(t);
        }
    }
    char *paragraph = compute_paragraph(g, &o->tuned);
    text_escape(paragraph, format, to);
    fputc('\n', to);
    free(paragraph);
}

static void write_report(const struct result_grid *g, const struct report_options *o, FILE *to)
{
    if (o->format == CSV_NUMBERS)
        summary_csv_header(to);
    for (size_t i = 0; i < g->experiments; i++) {
        const struct grid_experiment *e = &g->experiment[i];
        if (o->format != CSV_NUMBERS)
            text_heading_write(e->name, 1, (enum table_format)o->format, to);
        for (size_t k = 0; k < e->tables; k++) {
            struct summarized_table *s = summarize_table(e, &e->table[k], &o->question);
            if (o->format == CSV_NUMBERS)
                summary_csv_rows(s, to);
            else
                write_table(s, (enum table_format)o->format, to);
            summarized_table_free(s);
        }
        if (o->format != CSV_NUMBERS)
            report_end_write(e, (enum table_format)o->format, to);
    }
    if (o->format != CSV_NUMBERS)
        text_list_write("Without results", g->absent, g->absents, (enum table_format)o->format, to);
}

/* Whether some table has the row with which --against compares. */
static osafl_status check_against(const struct result_grid *g, const char *against,
                                  struct error *error)
{
    struct suggestion close = suggest_begin(against);
    for (size_t i = 0; i < g->experiments; i++) {
        for (size_t k = 0; k < g->experiment[i].tables; k++) {
            const struct grid_table *t = &g->experiment[i].table[k];
            for (size_t r = 0; r < t->rows; r++) {
                if (strcmp(t->row[r].label, against) == 0 ||
                    strcmp(t->row[r].cell[0]->case_name, against) == 0)
                    return OSAFL_OK;
                suggest_offer(&close, t->row[r].label);
            }
        }
    }
    return error_set(error, OSAFL_E_CONFIG, "--against %s: no table here has such a row%s%s%s",
                     against, close.best != NULL ? "; did you mean \"" : "",
                     close.best != NULL ? close.best : "", close.best != NULL ? "\"?" : "");
}

/* Whether the question has an answer: a measure that some run evaluates, and a target that it can
 * take. */
static osafl_status check_measure(const struct found_cells *found, const struct summary_question *q,
                                  struct error *error)
{
    struct suggestion close = suggest_begin(q->measure != NULL ? q->measure : "");
    char list[256] = "";
    bool there = q->measure == NULL;
    bool share = false; /* the measure of some run is an accuracy */
    for (size_t i = 0; i < found->cells; i++) {
        const struct result_cell *c = found->cell[i];
        for (size_t m = 0; m < c->n_measures; m++) {
            const char *name = result_cell_measure(c, m);
            there = there || strcmp(name, q->measure) == 0;
            share = share || (strcmp(name, "accuracy") == 0 &&
                              (q->measure == NULL ? m == 0 : strcmp(q->measure, name) == 0));
            suggest_offer(&close, name);
            if (strstr(list, name) == NULL)
                text_append_item(list, sizeof list, ", ", name);
        }
        for (size_t m = 0; m < ONLINE_MEASURES; m++) {
            const char *name = online_measures[m].name;
            if (csv_table_column(c->rounds, name) == CSV_NO_COLUMN)
                continue;
            there = there || strcmp(name, q->measure) == 0;
            suggest_offer(&close, name);
            if (strstr(list, name) == NULL)
                text_append_item(list, sizeof list, ", ", name);
        }
    }
    if (!there && list[0] != '\0')
        return error_set(error, OSAFL_E_CONFIG,
                         "--measure %s: the runs have no such measure%s%s%s; there are %s",
                         q->measure, close.best != NULL ? "; did you mean \"" : "",
                         close.best != NULL ? close.best : "", close.best != NULL ? "\"?" : "",
                         list);
    if (share && !isnan(q->target) && (q->target < 0 || q->target > 1))
        return error_set(error, OSAFL_E_CONFIG,
                         "--target %g: an accuracy lies between 0 and 1, such as 0.8", q->target);
    return OSAFL_OK;
}

/* Whether some run goes on to the changes. */
static osafl_status check_recovery(const struct found_cells *found,
                                   const struct recovery_question *q, struct error *error)
{
    uint32_t most = 0;
    for (size_t i = 0; i < found->cells; i++)
        most = found->cell[i]->planned_rounds > most ? found->cell[i]->planned_rounds : most;
    for (size_t k = 0; q != NULL && k < q->changes; k++) {
        if (most > 0 && q->change[k] >= most)
            return error_set(error, OSAFL_E_CONFIG,
                             "--recover %" PRIu32 ": the runs have rounds 0 to %" PRIu32,
                             q->change[k], most - 1);
    }
    return OSAFL_OK;
}

/* Whether the question has an answer: a measure, a target, changes. */
static osafl_status check_question(const struct found_cells *found,
                                   const struct summary_question *q, struct error *error)
{
    OSAFL_TRY(check_measure(found, q, error));
    return check_recovery(found, q->recovery, error);
}

/* The file that is named, or else the first that a folder holds. */
static osafl_status read_published(struct report_options *o, struct error *error)
{
    char *path = o->published_path == NULL ? NULL : checked_copy(o->published_path);
    for (size_t i = 0; i < o->folders && path == NULL; i++) {
        if (folder_has(o->folder[i], "published.csv"))
            path = checked_format("%s/published.csv", o->folder[i]);
    }
    osafl_status status = OSAFL_OK;
    if (path != NULL) {
        status = published_read(path, &o->published, error);
        o->question.published = &o->published;
    }
    free(path);
    return status;
}

static int print_report(const struct found_cells *found, const struct result_grid *g,
                        const struct report_options *o)
{
    struct error error;
    osafl_status status = OSAFL_OK;
    if (o->html != NULL) {
        const struct html_extras extras = {.pivot = o->by != NULL ? &o->pivot : NULL,
                                           .tuned = o->compute ? &o->tuned : NULL};
        status = html_page_write(o->html, found, g, &o->question, &extras, &error);
        if (status == OSAFL_OK)
            printf("%s\n", o->html);
    } else if (o->format == CSV_RUNS) {
        runs_csv_write(g, &o->question, stdout);
    } else if (o->compute) {
        write_compute(g, o, stdout);
    } else if (o->by != NULL) {
        write_pivots(g, o, stdout);
    } else {
        write_report(g, o, stdout);
    }
    for (size_t i = 0; i < g->notes; i++)
        result_say("osafl report", g->note[i]);
    if (status != OSAFL_OK)
        result_say("osafl report", error.text);
    const bool good = status == OSAFL_OK && found->n_unreadable == 0;
    return good ? EXIT_RUN_OK : EXIT_RUN_FAILED;
}

static int lay_out_report(const struct found_cells *found, const struct report_options *o)
{
    const struct label_names names = {o->name, o->names};
    struct error error;
    int exit_status = EXIT_USAGE;
    struct result_grid *g = result_grid_create(found, &(struct grid_layout){.along = o->pivot.key});
    labels_rename(g, &names);
    if (o->question.against == NULL || check_against(g, o->question.against, &error) == OSAFL_OK)
        exit_status = print_report(found, g, o);
    else
        result_say("osafl report", error.text);
    result_grid_free(g);
    return exit_status;
}

/* The folders of --tuning. */
static osafl_status find_tuning(struct report_options *o, struct error *error)
{
    if (o->tunings > 0 && !o->compute)
        return error_set(error, OSAFL_E_CONFIG, "--tuning needs --compute");
    if (o->compute && o->html == NULL && (o->by != NULL || o->format > FORMAT_HTML))
        return error_set(error, OSAFL_E_CONFIG,
                         "--compute makes tables of its own: as text, markdown or latex, or in "
                         "the page of --html");
    return find_all_cells(o->tuning, o->tunings, &o->tuned, error);
}

/* A table of its own is asked for where there is one. */
static osafl_status check_place(const struct report_options *o, struct error *error)
{
    if (o->question.recovery == NULL && o->recovery_detail != NULL)
        return error_set(error, OSAFL_E_CONFIG, "%s needs --recover", o->recovery_detail);
    if (o->question.recovery == NULL || o->html != NULL ||
        (o->by == NULL && !o->compute && o->format <= FORMAT_HTML))
        return OSAFL_OK;
    return error_set(error, OSAFL_E_CONFIG,
                     "--recover makes a table of the report: as text, markdown or latex, or in the "
                     "page of --html, without --by and --compute");
}

/* The setting of --by, and what its values are called. */
static osafl_status find_pivot(const struct found_cells *found, struct report_options *o,
                               struct error *error)
{
    const struct label_names names = {o->name, o->names};
    if (o->by == NULL)
        return OSAFL_OK;
    if (o->format > FORMAT_HTML)
        return error_set(error, OSAFL_E_CONFIG,
                         "--by makes one table: as text, markdown or latex, or in the page of "
                         "--html");
    if (o->question.against != NULL)
        return error_set(error, OSAFL_E_CONFIG,
                         "--by makes one table, in which bold compares the rows; --against makes "
                         "tables of its own: leave out one of them");
    OSAFL_TRY(find_setting(found, "--by", o->by, &o->pivot.key, error));
    const char *dot = strrchr(o->pivot.key, '.');
    free(o->heading);
    o->heading = label_renamed(&names, dot == NULL ? o->pivot.key : dot + 1, " / ");
    o->pivot.heading = o->heading;
    return OSAFL_OK;
}

static int run_report(struct report_options *o)
{
    struct found_cells found = {.cells = 0};
    struct error error;
    osafl_status status = find_all_cells(o->folder, o->folders, &found, &error);
    if (status == OSAFL_OK)
        status = read_published(o, &error);
    if (status == OSAFL_OK && found.cells + found.n_unreadable == 0)
        status = error_set(&error, OSAFL_E_DATA, "%s: there are no results", o->folder[0]);
    if (status == OSAFL_OK)
        status = keep_only(&found, o->only, o->n_only, &error);
    take_first_rounds(&found, o->rounds);
    if (status == OSAFL_OK)
        status = check_question(&found, &o->question, &error);
    if (status == OSAFL_OK)
        status = check_place(o, &error);
    if (status == OSAFL_OK)
        status = find_pivot(&found, o, &error);
    if (status == OSAFL_OK)
        status = find_tuning(o, &error);
    if (status != OSAFL_OK) {
        result_say("osafl report", error.text);
        found_cells_free(&found);
        return EXIT_USAGE;
    }
    const int exit_status = lay_out_report(&found, o);
    found_cells_free(&found);
    return exit_status;
}

int report_command(int argc, char **argv)
{
    struct report_options o = {.format = FORMAT_TEXT,
                               .question = {.target = (double)NAN},
                               .recovery = {.before = 10, .margin = 0.02}};
    argp_err_exit_status = EXIT_USAGE;
    int exit_status = EXIT_USAGE;
    if (argp_parse(&command_line, argc, argv, 0, NULL, &o) == 0)
        exit_status = run_report(&o);
    published_free(&o.published);
    found_cells_free(&o.tuned);
    free(o.tuning);
    free(o.heading);
    free(o.recovery.change);
    free(o.name);
    free(o.only);
    free(o.folder);
    return exit_status;
}
