/* test_report_tables.c - grids, summaries and printed tables against numbers worked out by hand
 * (tests/golden/report/README.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/report/absence_table.h"
#include "command/report/checked_alloc.h"
#include "command/report/report_tables.h"
#include "command/report/summary_csv.h"
#include "command/report/unit_scale.h"
#include "plugin/plugin_host.h"

#define GOLDEN OSAFL_TEST_SOURCE_DIR "/tests/golden/report"

/* An experiment of the golden folders, laid out. */
struct laid_out {
    struct found_cells found;
    struct result_grid *grid;
};

static struct laid_out lay_out(const char *experiment, const struct grid_layout *layout)
{
    struct laid_out l = {.found = {.cells = 0}};
    struct error error;
    char *path = checked_format("%s/%s", GOLDEN, experiment);
    assert_int_equal(find_cells(path, &l.found, &error), OSAFL_OK);
    free(path);
    l.grid = result_grid_create(&l.found, layout);
    return l;
}

static void put_away(struct laid_out *l)
{
    result_grid_free(l->grid);
    found_cells_free(&l->found);
}

static const struct grid_layout plain_layout = {.along = NULL};
static struct published_table published;
static const struct summary_question to_60_percent = {.target = 0.6, .published = &published};

static int read_published(void **state)
{
    (void)state;
    struct error error;
    return published_read(GOLDEN "/paper-table/published.csv", &published, &error);
}

static int free_published(void **state)
{
    (void)state;
    published_free(&published);
    return 0;
}

#define assert_close(a, b) assert_true(fabs((a) - (b)) < 1e-12)

/* ---- grid ---- */

static void rows_are_cases_in_their_order(void **state)
{
    (void)state;
    static const char *const label[] = {"Genie", "OSA-FL", "M-FedAvg", "M-FedNova"};
    static const size_t cells[] = {1, 3, 3, 1};
    struct laid_out l = lay_out("paper-table", &plain_layout);
    assert_int_equal(l.grid->experiments, 1);
    assert_string_equal(l.grid->experiment[0].name, "paper-table");
    assert_int_equal(l.grid->experiment[0].tables, 1);
    const struct grid_table *t = &l.grid->experiment[0].table[0];
    assert_string_equal(t->title, "");
    assert_int_equal(t->rows, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(t->row[i].label, label[i]);
        assert_int_equal(t->row[i].cells, cells[i]);
        for (size_t k = 0; k < cells[i]; k++)
            assert_int_equal(t->row[i].cell[k]->seed, k + 1);
    }
    assert_int_equal(l.grid->experiment[0].seeds, 3);
    assert_int_equal(l.grid->experiment[0].seed[2], 3);
    put_away(&l);
}

static void a_shared_sweep_makes_tables(void **state)
{
    (void)state;
    struct laid_out l = lay_out("levels", &plain_layout);
    const struct grid_experiment *e = &l.grid->experiment[0];
    assert_int_equal(e->tables, 2);
    assert_string_equal(e->table[0].title, "levels = 2");
    assert_string_equal(e->table[1].title, "levels = 16"); /* as numbers, not as text */
    assert_int_equal(e->table[0].rows, 3);
    assert_string_equal(e->table[0].row[0].label, "A");
    /* Runs whose settings were edited are never averaged. */
    assert_string_equal(e->table[0].row[1].label, "B / learning_rate = 0.02");
    assert_string_equal(e->table[0].row[2].label, "B / learning_rate = 0.5");
    assert_int_equal(e->table[1].rows, 2);
    put_away(&l);
}

static void cells_lie_along_a_setting(void **state)
{
    (void)state;
    struct laid_out l = lay_out(
        "levels", &(struct grid_layout){.along = "quantizer.qsgd.levels", .one_table = true});
    assert_int_equal(l.grid->experiment[0].tables, 1);
    const struct grid_table *t = &l.grid->experiment[0].table[0];
    assert_int_equal(t->rows, 3);
    assert_string_equal(t->row[0].label, "A");
    assert_int_equal(t->row[0].cells, 2);
    assert_string_equal(result_cell_setting(t->row[0].cell[1], "quantizer.qsgd.levels"), "16");
    put_away(&l);
}

static void one_run_in_two_places_counts_once(void **state)
{
    (void)state;
    struct laid_out l = lay_out("levels", &plain_layout);
    /* The same cell a second time, as a copied folder would give it. */
    struct result_cell *twice[2] = {l.found.cell[0], l.found.cell[0]};
    const struct found_cells f = {.cell = twice, .cells = 2};
    struct result_grid *g = result_grid_create(&f, &plain_layout);
    assert_int_equal(g->experiment[0].table[0].row[0].cells, 1);
    assert_int_equal(g->notes, 1);
    assert_non_null(strstr(g->note[0], "is the same run as"));
    result_grid_free(g);
    put_away(&l);
}

/* ---- summaries ---- */

static void statistics(void **state)
{
    (void)state;
    const double value[] = {2, NAN, 4, 9};
    struct statistic s = statistic_of(value, 4);
    assert_int_equal(s.n, 3);
    assert_close(s.mean, 5);
    assert_close(s.deviation, sqrt(13)); /* (9 + 1 + 16) / 2 */
    assert_int_equal(statistic_of(value, 1).n, 1);
    assert_int_equal(statistic_of(value + 1, 1).n, 0);
}

static void finished_seeds_are_averaged(void **state)
{
    (void)state;
    struct laid_out l = lay_out("paper-table", &plain_layout);
    const struct grid_table *t = &l.grid->experiment[0].table[0];
    struct row_summary osafl = row_summarize(&t->row[1], &to_60_percent);
    assert_string_equal(osafl.measure, "accuracy");
    assert_int_equal(osafl.complete, 3);
    assert_false(osafl.provisional);
    assert_true(osafl.has_link);
    assert_close(osafl.best.mean, 0.6);
    assert_close(osafl.best.deviation, 0.1);
    assert_close(osafl.best_round.mean, 3);
    assert_close(osafl.loss_at_best.mean, 1);
    assert_close(osafl.last.mean, 0.5);
    assert_close(osafl.tail.mean, 0.5); /* of one round in four */
    assert_int_equal(osafl.run[2].seed, 3);
    assert_close(osafl.run[2].value[COMPARED_BEST], 0.7);
    assert_close(osafl.participation.mean, 7.0 / 8);
    assert_close(osafl.local_rounds.mean, 18.0 / 7);
    assert_close(osafl.payload_bits.mean, 7000);
    assert_close(osafl.air_bits.mean, 700);
    assert_close(osafl.compute_j.mean, 14);
    assert_close(osafl.upload_j.mean, 7);
    assert_close(osafl.simulated_s.mean, 240);
    assert_close(osafl.published.accuracy_mean, 0.58);
    assert_close(osafl.published.loss_std, 0.25);
    assert_int_equal(osafl.reached, 2);
    assert_close(osafl.target_rounds.mean, 3);
    assert_close(osafl.target_s.mean, 180);
    assert_close(osafl.target_bits.mean, 6000);
    assert_close(osafl.target_j.mean, 18);

    struct row_summary fedavg = row_summarize(&t->row[2], &to_60_percent);
    assert_int_equal(fedavg.complete, 2);
    assert_int_equal(fedavg.unfinished, 1);
    assert_close(fedavg.best.mean, 0.5); /* the unfinished run's 0.9 does not enter */
    assert_close(fedavg.best.deviation, sqrt(0.02));
    assert_close(fedavg.loss_at_best.mean, 0.75);
    assert_true(isnan(fedavg.published.accuracy_mean));
    row_summary_free(&osafl);
    row_summary_free(&fedavg);
    put_away(&l);
}

static void other_rows(void **state)
{
    (void)state;
    struct laid_out l = lay_out("paper-table", &plain_layout);
    const struct grid_table *t = &l.grid->experiment[0].table[0];
    struct row_summary genie = row_summarize(&t->row[0], &to_60_percent);
    assert_false(genie.has_link);
    assert_int_equal(genie.best.n, 1);
    assert_close(genie.best.mean, 0.875);
    struct row_summary failed = row_summarize(&t->row[3], &to_60_percent);
    assert_true(failed.provisional);
    assert_int_equal(failed.failed, 1);
    assert_close(failed.best.mean, 0.125);
    struct row_summary by_loss =
        row_summarize(&t->row[1], &(struct summary_question){.measure = "loss", .target = 1.5});
    assert_close(by_loss.best.mean, 1); /* the least */
    assert_close(by_loss.target_rounds.mean, 2);
    row_summary_free(&genie);
    row_summary_free(&failed);
    row_summary_free(&by_loss);
    put_away(&l);
}

static void published_tables_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } wrong[] = {
        {"", "no line with published numbers"},
        {"case,accuracy_mean\n", "no line with published numbers"},
        {"case,model\nA,cnn\n", ":1: no column holds numbers"},
        {"# words\n\ncase,,loss_mean\n", ":3: a column needs a name"},
        {"\"case\",loss_mean\n", ":1: a column needs a name"},
        {"case,loss_mean\nA\n", ":2: fewer fields"},
        {"case,loss_mean\nA,1,2\n", ":2: more fields"},
        {"case,loss_mean\nA,high\n", ":2: loss_mean is \"high\", which is not a number"},
        {"case,loss_mean\nA,nan\n", ":2: loss_mean is \"nan\""},
    };
    char path[] = "/tmp/osafl-published-XXXXXX";
    assert_true(mkstemp(path) >= 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct error problem;
        struct published_table t;
        FILE *to = fopen(path, "w");
        fputs(wrong[i].text, to);
        fclose(to);
        assert_int_equal(published_read(path, &t, &problem), OSAFL_E_DATA);
        if (strstr(problem.text, wrong[i].message) == NULL)
            fail_msg("\"%s\" is not in \"%s\"", wrong[i].message, problem.text);
        published_free(&t);
    }
    remove(path);
}

/* ---- tables ---- */

static char *printed(const struct text_table *t, enum table_format format)
{
    struct checked_stream s;
    checked_stream_open(&s);
    text_table_write(t, format, s.file);
    return checked_stream_text(&s);
}

static void assert_holds(const char *text, const char *part)
{
    assert_non_null(text);
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void the_table_of_the_publication(void **state)
{
    (void)state;
    struct laid_out l = lay_out("paper-table", &plain_layout);
    struct summarized_table *s =
        summarize_table(&l.grid->experiment[0], &l.grid->experiment[0].table[0], &to_60_percent);
    struct text_table *t = performance_table(s);
    char *text = printed(t, FORMAT_TEXT);
    assert_holds(text, "OSA-FL                   3  0.6000 \xc2\xb1 0.1000             3  "
                       "1.0000 \xc2\xb1 0.0000    0.5000 \xc2\xb1 0.1000  "
                       "0.5800 \xc2\xb1 0.0100     +0.0200  1.2500 \xc2\xb1 0.2500     -0.2500\n");
    /* The losses of the two seeds that both rows have differ by nearly the same amount. */
    assert_holds(text, "M-FedAvg            2 of 3  0.5000 \xc2\xb1 0.1414             3  "
                       "0.7500 \xc2\xb1 0.0001 *  0.5000 \xc2\xb1 0.1414  ");
    /* Neither the run without a link nor the failed one has a rank, and one seed no deviation. */
    assert_holds(text, "Genie               1 of 3           0.8750             4");
    assert_holds(text, "M-FedNova (failed)  0 of 3           0.1250             1");
    assert_null(strstr(text, "nan"));
    free(text);
    text = printed(t, FORMAT_MARKDOWN);
    assert_holds(text,
                 "| M-FedAvg | 2 of 3 | 0.5000 \xc2\xb1 0.1414 | 3 | **0.7500 \xc2\xb1 0.0001** |");
    free(text);
    text = printed(t, FORMAT_LATEX);
    assert_holds(text, "M-FedAvg & 2 of 3 & 0.5000 $\\pm$ 0.1414 & 3 & "
                       "\\textbf{0.7500 $\\pm$ 0.0001} &");
    free(text);
    text = printed(t, FORMAT_HTML);
    assert_holds(text, "<td class=\"number best\"><strong>0.7500 \xc2\xb1 0.0001</strong></td>");
    free(text);
    text_table_free(t);
    summarized_table_free(s);
    put_away(&l);
}

static void costs_and_targets(void **state)
{
    (void)state;
    struct laid_out l = lay_out("paper-table", &plain_layout);
    struct summarized_table *s =
        summarize_table(&l.grid->experiment[0], &l.grid->experiment[0].table[0], &to_60_percent);
    struct text_table *t = cost_table(s);
    char *text = printed(t, FORMAT_MARKDOWN);
    assert_holds(text, "| OSA-FL | 87.5 % | 2.57 | 7 | 0.70 | 14 | 7 | 240 |");
    assert_holds(text, "| Genie | - | - | - | - | - | - | 240 |");
    free(text);
    text_table_free(t);
    t = target_table(s);
    text = printed(t, FORMAT_MARKDOWN);
    assert_holds(text, "| OSA-FL | 2 of 3 | 3 | 180 | 6 | 18 |");
    assert_holds(text, "| M-FedNova (failed) | 0 of 1 | - | - | - | - |");
    free(text);
    text_table_free(t);
    summarized_table_free(s);
    put_away(&l);
}

/* Two runs of one row, of two rounds each, and a third without a downlink. */
static const struct {
    const char *name, *seed, *header, *rows;
} with_downlink[] = {
    {"A", "1", ",receive_j",
     "0,60,0.5,1,1,2,3,1000,100,4,1,5.25,0.25\n"
     "1,120,0.6,1,1,2,3,1000,100,4,1,5.5,0.5\n"},
    {"A", "2", ",receive_j",
     "0,60,0.5,1,1,2,3,1000,100,4,1,6,1\n"
     "1,120,0.5,1,1,0,,0,0,0,0,0,0\n"},
    {"B", "1", "", "0,60,0.5,1,1,2,3,1000,100,4,1,5\n1,120,0.5,1,1,2,3,1000,100,4,1,5\n"},
};

static void put_file(const char *folder, const char *name, const char *text)
{
    char *path = checked_format("%s/%s", folder, name);
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fputs(text, to);
    fclose(to);
    free(path);
}

static struct result_cell *read_downlink(const char *folder, size_t i)
{
    struct error error;
    struct result_cell *c = NULL;
    char *manifest = checked_format(
        "{\"identity\": \"ab%zu\", \"experiment\": {\"name\": \"x\", \"case\": \"%s\", \"seed\": "
        "%s}, "
        "\"settings\": {\"rounds\": {\"value\": \"2\"}, \"clients.count\": {\"value\": \"2\"}}}",
        i, with_downlink[i].name, with_downlink[i].seed);
    char *rounds = checked_format(
        "round,simulated_s,test_accuracy,test_loss,train_loss,participants,mean_local_rounds,"
        "uplink_payload_bits,uplink_air_bits,compute_j,upload_j,energy_j%s\n%s",
        with_downlink[i].header, with_downlink[i].rows);
    put_file(folder, "manifest.json", manifest);
    put_file(folder, "environment.json", "{\"ended\": \"2026-01-01T00:01:00Z\"}");
    put_file(folder, "rounds.csv", rounds);
    if (result_cell_read(folder, &c, &error) != OSAFL_OK)
        fail_msg("%s", error.text);
    free(manifest);
    free(rounds);
    return c;
}

/* Run A, 1 receives for 0.25 + 0.5 J and A, 2 for 1 J: 0.875 J in the mean.  To 60 % A, 1 computes
 * for 8 J, sends for 2 J and receives for 0.75 J. */
static void receiving_has_a_column(void **state)
{
    (void)state;
    static const char *const file[] = {"manifest.json", "environment.json", "rounds.csv"};
    char folder[] = "/tmp/osafl-downlink-XXXXXX";
    assert_non_null(mkdtemp(folder));
    struct result_cell *cell[3];
    for (size_t i = 0; i < 3; i++)
        cell[i] = read_downlink(folder, i);
    const struct found_cells found = {.cell = cell, .cells = 3};
    struct result_grid *g = result_grid_create(&found, &plain_layout);
    const struct grid_experiment *e = &g->experiment[0];
    struct summarized_table *s = summarize_table(e, &e->table[0], &to_60_percent);
    assert_int_equal(s->row[0].receive_j.n, 2);
    assert_close(s->row[0].receive_j.mean, 0.875);
    assert_close(s->row[0].target_j.mean, 10.75);
    assert_int_equal(s->row[1].receive_j.n, 0);
    struct text_table *t = cost_table(s);
    char *text = printed(t, FORMAT_TEXT);
    assert_holds(text, "computing, J  sending, J  receiving, J  time, s\n");
    free(text);
    text = printed(t, FORMAT_MARKDOWN);
    assert_holds(text, "| computing, J | sending, J | receiving, J | time, s |\n");
    assert_holds(text, "| A | 75.0 % | 3.00 | 1.50 | 0.15 | 6 | 1.50 | 0.88 | 120 |\n");
    assert_holds(text, "| B | 100.0 % | 3.00 | 2 | 0.20 | 8 | 2 | - | 120 |\n");
    free(text);
    text = printed(t, FORMAT_LATEX);
    assert_holds(text, "sending, J & receiving, J & time, s");
    free(text);
    text_table_free(t);
    struct checked_stream csv;
    checked_stream_open(&csv);
    summary_csv_header(csv.file);
    summary_csv_rows(s, csv.file);
    text = checked_stream_text(&csv);
    assert_holds(text, ",upload_j_mean,upload_j_std,receive_j_mean,receive_j_std,simulated_s_mean");
    assert_holds(text, ",1.5,0.7071067811865476,0.875,0.1767766952966369,120,0,");
    assert_holds(text, ",8,,2,,,,120,,");
    free(text);
    summarized_table_free(s);
    result_grid_free(g);
    for (size_t i = 0; i < 3; i++) {
        result_cell_free(cell[i]);
        char *path = checked_format("%s/%s", folder, file[i]);
        remove(path);
        free(path);
    }
    remove(folder);
}

static void absences_have_reasons(void **state)
{
    (void)state;
    struct laid_out l = lay_out("paper-table", &plain_layout);
    struct summarized_table *s =
        summarize_table(&l.grid->experiment[0], &l.grid->experiment[0].table[0], &to_60_percent);
    struct text_table *t = absence_table(s);
    assert_non_null(t);
    assert_int_equal(t->columns, 2);
    char *text = printed(t, FORMAT_MARKDOWN);
    assert_holds(text, "|  | deadline |\n");
    assert_holds(text, "| Genie | - |\n");
    assert_holds(text, "| OSA-FL | 12.5 % |\n"); /* once in 8 */
    assert_holds(text, "| M-FedNova | 0.0 % |\n");
    free(text);
    text_table_free(t);
    summarized_table_free(s);
    put_away(&l);
    l = lay_out("levels", &plain_layout);
    struct summarized_table *all_in =
        summarize_table(&l.grid->experiment[0], &l.grid->experiment[0].table[0], &to_60_percent);
    assert_null(absence_table(all_in));
    summarized_table_free(all_in);
    put_away(&l);
}

static void what_is_missing_is_said(void **state)
{
    (void)state;
    static const char *const sentence[] = {
        "Genie: seed 2 has no results; seed 3 has no results",
        "M-FedAvg: seed 3 has 2 of 4 rounds",
        ("M-FedNova: seed 1 failed after 1 of 4 rounds: quantizer qsgd met a value that is not "
         "finite; seed 2 has no results; seed 3 has no results"),
    };
    struct laid_out l = lay_out("paper-table", &plain_layout);
    struct summarized_table *s =
        summarize_table(&l.grid->experiment[0], &l.grid->experiment[0].table[0], &to_60_percent);
    size_t items = 0;
    char **missing = missing_runs(s, &items);
    assert_int_equal(items, 3);
    for (size_t i = 0; i < items; i++) {
        assert_string_equal(missing[i], sentence[i]);
        free(missing[i]);
    }
    free(missing);
    char *facts = shared_facts(s->table);
    assert_string_equal(facts, "2 clients, 4 rounds, deadline 60 s, concentration 0.3, dataset "
                               "idx, model cnn, channel tr38901, resource iterative, quantizer "
                               "qsgd, deletion topk");
    free(facts);
    summarized_table_free(s);
    put_away(&l);
}

static void a_case_that_only_other_tables_have_is_missing(void **state)
{
    (void)state;
    struct error error;
    struct found_cells found = {.cells = 0};
    assert_int_equal(find_cells(GOLDEN "/levels", &found, &error), OSAFL_OK);
    /* Without B's run with 16 levels; the order of the walk decides nothing. */
    size_t kept = 0;
    struct result_cell *gone = NULL;
    for (size_t i = 0; i < found.cells; i++) {
        struct result_cell *c = found.cell[i];
        if (strcmp(c->case_name, "B") == 0 && result_cell_number(c, "quantizer.qsgd.levels", 0) > 2)
            gone = c;
        else
            found.cell[kept++] = c;
    }
    assert_non_null(gone);
    found.cells = kept;
    struct result_grid *g = result_grid_create(&found, &plain_layout);
    struct grid_experiment *e = &g->experiment[0];
    assert_int_equal(e->tables, 2);
    struct summarized_table *s = summarize_table(e, &e->table[1], &to_60_percent);
    size_t items = 0;
    char **missing = missing_runs(s, &items);
    assert_int_equal(items, 1);
    assert_string_equal(missing[0], "B has no results");
    free(missing[0]);
    free(missing);
    summarized_table_free(s);
    result_grid_free(g);
    found_cells_free(&found);
    result_cell_free(gone);
}

static void numbers_as_csv(void **state)
{
    (void)state;
    struct laid_out l = lay_out("paper-table", &plain_layout);
    struct summarized_table *s =
        summarize_table(&l.grid->experiment[0], &l.grid->experiment[0].table[0], &to_60_percent);
    struct checked_stream stream;
    checked_stream_open(&stream);
    summary_csv_header(stream.file);
    summary_csv_rows(s, stream.file);
    char *text = checked_stream_text(&stream);
    assert_holds(text, "paper-table,,Genie,3,1,0,0,1,accuracy,0.875,,4,,0.25,,0.875,,");
    assert_holds(text, ",0.6,2,0.58,0.01,1.25,0.25,,,,,");
    /* Every line has as many fields as the header. */
    size_t fields = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        size_t here = 1;
        for (const char *at = line; *at != '\0'; at++)
            here += *at == ',';
        assert_true(fields == 0 || here == fields);
        fields = here;
    }
    free(text);
    summarized_table_free(s);
    put_away(&l);
}

static void special_characters_are_escaped(void **state)
{
    (void)state;
    static const struct {
        enum table_format format;
        const char *escaped;
    } expected[] = {
        {FORMAT_TEXT, "a_b|<c>&\"%$\\^~ \xc2\xb1 *"},
        {FORMAT_MARKDOWN, "a\\_b\\|\\<c\\>&\"%$\\\\^~ \xc2\xb1 \\*"},
        {FORMAT_LATEX, "a\\_b\\textbar{}\\textless{}c\\textgreater{}\\&\\textquotedbl{}\\%\\$"
                       "\\textbackslash{}\\textasciicircum{}\\textasciitilde{} $\\pm$ *"},
        {FORMAT_HTML, "a_b|&lt;c&gt;&amp;&quot;%$\\^~ \xc2\xb1 *"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct checked_stream s;
        checked_stream_open(&s);
        text_escape("a_b|<c>&\"%$\\^~ \xc2\xb1 *", expected[i].format, s.file);
        char *text = checked_stream_text(&s);
        assert_string_equal(text, expected[i].escaped);
        free(text);
    }
}

static void units_fit_their_values(void **state)
{
    (void)state;
    assert_string_equal(unit_scale_bits(0).unit, "bit");
    assert_string_equal(unit_scale_bits(999).unit, "bit");
    assert_string_equal(unit_scale_bits(1000).unit, "kbit");
    assert_string_equal(unit_scale_bits(2e15).unit, "Tbit");
    assert_string_equal(unit_scale_joules(1.5e6).unit, "MJ");
    assert_string_equal(unit_scale_joules(0.012).unit, "mJ");
    assert_string_equal(unit_scale_joules(0).unit, "J");
    assert_string_equal(unit_scale_seconds(240).unit, "s");
    assert_string_equal(unit_scale_seconds(3000).unit, "min");
    assert_string_equal(unit_scale_seconds(36000).unit, "h");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_cases_in_their_order),
        cmocka_unit_test(a_shared_sweep_makes_tables),
        cmocka_unit_test(cells_lie_along_a_setting),
        cmocka_unit_test(one_run_in_two_places_counts_once),
        cmocka_unit_test(statistics),
        cmocka_unit_test(finished_seeds_are_averaged),
        cmocka_unit_test(other_rows),
        cmocka_unit_test(published_tables_are_checked),
        cmocka_unit_test(the_table_of_the_publication),
        cmocka_unit_test(costs_and_targets),
        cmocka_unit_test(receiving_has_a_column),
        cmocka_unit_test(absences_have_reasons),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(a_case_that_only_other_tables_have_is_missing),
        cmocka_unit_test(numbers_as_csv),
        cmocka_unit_test(special_characters_are_escaped),
        cmocka_unit_test(units_fit_their_values),
    };
    return cmocka_run_group_tests(tests, read_published, free_published);
}
