/* test_report_cells.c - reading result folders back: tables, manifests, finding, filters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/report/cell_finder.h"
#include "command/report/csv_table.h"
#include "command/report/result_text.h"
#include "plugin/plugin_host.h"

#define GOLDEN OSAFL_TEST_SOURCE_DIR "/tests/golden/report"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/osafl-report-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static const char *put(const char *name, const char *text)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    return path;
}

/* ---- csv_table ---- */

static void table_of_numbers_and_words(void **state)
{
    (void)state;
    static const char *const words[] = {"reason", NULL};
    struct error error;
    struct csv_table *t = NULL;
    const char *path =
        put("t.csv", "round,a,reason\n0,1.5,\n1,,deadline\n2,nan,deadline\n3,-2e-3,energy\n4,7");
    assert_int_equal(csv_table_read(path, NULL, words, &t, &error), OSAFL_OK);
    assert_int_equal(t->columns, 3);
    assert_int_equal(t->rows, 4); /* the fifth is still being written */
    const size_t a = csv_table_column(t, "a");
    const size_t reason = csv_table_column(t, "reason");
    assert_true(csv_table_value(t, 0, a) == 1.5);
    assert_true(isnan(csv_table_value(t, 1, a)));
    assert_true(isinf(csv_table_value(t, 2, a)));
    assert_true(csv_table_value(t, 3, a) == -0.002);
    assert_string_equal(t->word[(size_t)csv_table_value(t, 0, reason)], "");
    assert_string_equal(t->word[(size_t)csv_table_value(t, 2, reason)], "deadline");
    assert_int_equal(t->words, 3);
    assert_true(csv_table_column(t, "b") == CSV_NO_COLUMN);
    assert_true(isnan(csv_table_value(t, 0, CSV_NO_COLUMN)));
    csv_table_free(t);
}

static void table_keeps_the_wanted_columns(void **state)
{
    (void)state;
    static const char *const wanted[] = {"c", "a", "none", NULL};
    struct error error;
    struct csv_table *t = NULL;
    /* A column that nobody wants may hold anything. */
    const char *path = put("t.csv", "a,b,c\n1,text,3\n");
    assert_int_equal(csv_table_read(path, wanted, NULL, &t, &error), OSAFL_OK);
    assert_int_equal(t->columns, 2);
    assert_true(csv_table_value(t, 0, csv_table_column(t, "c")) == 3);
    csv_table_free(t);
}

static void table_without_a_whole_line_is_empty(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "round,simul"};
    for (size_t i = 0; i < 2; i++) {
        struct error error;
        struct csv_table *t = NULL;
        assert_int_equal(csv_table_read(put("t.csv", texts[i]), NULL, NULL, &t, &error), OSAFL_OK);
        assert_int_equal(t->columns, 0);
        assert_int_equal(t->rows, 0);
        csv_table_free(t);
    }
}

static void damaged_table_is_named_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *says;
    } bad[] = {
        {"a,b\n1,2\n3\n", "t.csv:3: 1 field where the header has 2"},
        {"a,b\n1,2,3\n", "t.csv:2: 3 fields where the header has 2"},
        {"a,b\n1,x\n", "t.csv:2: b is \"x\", which is not a number"},
        {"a,b\n1,0x10\n", "t.csv:2: b is \"0x10\""},
        {"a,b\n1, 2\n", "t.csv:2: b is \" 2\""},
        {"a,b\n1,1e999\n", "t.csv:2: b is \"1e999\""},
        {"a,b\n1,+2\n", "t.csv:2: b is \"+2\""},
        {"a,b\r\n1,2\r\n", "t.csv:1: \"b\r\" is not a column name"},
        {"a,a\n1,2\n", "t.csv:1: two columns \"a\""},
        {"a,,b\n", "t.csv:1: \"\" is not a column name"},
        {"a,\"b\"\n", "t.csv:1: \"\"b\"\" is not a column name"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct error error;
        struct csv_table *t = NULL;
        assert_int_equal(csv_table_read(put("t.csv", bad[i].text), NULL, NULL, &t, &error),
                         OSAFL_E_DATA);
        assert_null(t);
        if (strstr(error.text, bad[i].says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", error.text, bad[i].says);
    }
}

static void table_with_a_zero_byte_or_no_file(void **state)
{
    (void)state;
    struct error error;
    struct csv_table *t = NULL;
    const char *path = put("t.csv", "a,b\n");
    FILE *f = fopen(path, "a");
    assert_non_null(f);
    fwrite("1,\0\n", 1, 4, f);
    fclose(f);
    assert_int_equal(csv_table_read(path, NULL, NULL, &t, &error), OSAFL_E_DATA);
    assert_non_null(strstr(error.text, "t.csv:2: a zero byte"));
    assert_int_equal(csv_table_read("/nowhere/t.csv", NULL, NULL, &t, &error), OSAFL_E_IO);
    assert_string_equal(error.text, "cannot read /nowhere/t.csv: No such file or directory");
    assert_int_equal(csv_table_read("/tmp", NULL, NULL, &t, &error), OSAFL_E_IO);
}

/* ---- result_cell ---- */

/* A manifest with these members of its "settings". */
static void put_manifest(const char *settings)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"identity\": \"ab\", \"experiment\": {\"name\": \"x\\ny\", \"case\": \"main\", "
             "\"seed\": 7}, \"settings\": {%s}}",
             settings);
    put("manifest.json", text);
}

#define TWO_ROUNDS "\"rounds\": {\"value\": \"2\", \"origin\": \"default\"}"
#define HEADER                                                                                     \
    "round,simulated_s,test_accuracy,test_loss,train_loss,participants,mean_local_rounds,"         \
    "uplink_payload_bits,uplink_air_bits,compute_j,upload_j,energy_j\n"

static struct result_cell *read_cell(void)
{
    struct error error;
    struct result_cell *c = NULL;
    if (result_cell_read(folder, &c, &error) != OSAFL_OK)
        fail_msg("%s", error.text);
    return c;
}

static void cell_knows_its_settings(void **state)
{
    (void)state;
    put_manifest(TWO_ROUNDS ", \"deadline_s\": {\"value\": \"60.0\"}, "
                            "\"dataset.plugin\": {\"value\": \"\\\"a\\\\\\\"b\\\"\"}, "
                            "\"clients.activity\": {\"value\": \"[0.3, 0.8]\"}, "
                            "\"capacitance\": {\"value\": \"2e-28\"}");
    struct result_cell *c = read_cell();
    assert_string_equal(c->experiment, "x?y"); /* no control character reaches a terminal */
    assert_int_equal(c->seed, 7);
    assert_int_equal(c->case_index, -1);
    assert_int_equal(c->planned_rounds, 2);
    assert_string_equal(result_cell_setting(c, "deadline_s"), "60");
    assert_string_equal(result_cell_setting(c, "dataset.plugin"), "a\"b");
    assert_string_equal(result_cell_setting(c, "clients.activity"), "[0.3, 0.8]");
    assert_string_equal(result_cell_setting(c, "capacitance"), "2e-28");
    assert_null(result_cell_setting(c, "none"));
    assert_true(result_cell_number(c, "deadline_s", -1) == 60);
    assert_true(result_cell_number(c, "dataset.plugin", -1) == -1);
    result_cell_free(c);
}

static void varied_settings_are_no_part_of_the_case(void **state)
{
    (void)state;
    static const char *const name[][2] = {{"osafl", "osafl"},
                                          {"osafl,quantizer.qsgd.levels=2", "osafl"},
                                          {"quantizer.qsgd.levels=2,rounds=3", "main"},
                                          {"main", "main"}};
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"identity\": \"ab\", \"experiment\": {\"name\": \"x\", \"case\": \"%s\", "
                 "\"case_index\": 4, \"seed\": 7}, \"settings\": {%s}}",
                 name[i][0], TWO_ROUNDS);
        put("manifest.json", text);
        struct result_cell *c = read_cell();
        assert_string_equal(c->case_name, name[i][1]);
        assert_int_equal(result_cell_varies(c, "quantizer.qsgd.levels"), i == 1 || i == 2);
        assert_int_equal(result_cell_varies(c, "rounds"), i == 2);
        assert_false(result_cell_varies(c, "levels"));
        assert_int_equal(c->case_index, 4);
        result_cell_free(c);
    }
}

static void cell_states(void **state)
{
    (void)state;
    put_manifest(TWO_ROUNDS);
    struct result_cell *c = read_cell(); /* no table yet */
    assert_int_equal(c->state, CELL_UNFINISHED);
    assert_int_equal(c->rounds->rows, 0);
    assert_int_equal(c->n_measures, 0);
    result_cell_free(c);

    put("rounds.csv", HEADER "0,60,0.5,1,1,2,3,10,1,1,1,2\n1,120,0.6,");
    put("environment.json", "{\"ended\": null}");
    c = read_cell();
    assert_int_equal(c->state, CELL_UNFINISHED);
    assert_int_equal(c->rounds->rows, 1);
    assert_string_equal(c->split, "test");
    assert_int_equal(c->n_measures, 2);
    assert_string_equal(result_cell_measure(c, 1), "loss");
    assert_int_equal(result_cell_measure_column(c, "loss"), 3);
    assert_true(result_cell_measure_column(c, "train_loss") == CSV_NO_COLUMN);
    result_cell_free(c);

    put("environment.json", "{\"failure\": \"no data\"}");
    c = read_cell();
    assert_int_equal(c->state, CELL_FAILED);
    assert_string_equal(c->failure, "no data");
    result_cell_free(c);

    put("rounds.csv", HEADER "0,60,0.5,1,1,2,3,10,1,1,1,2\n1,120,,,1,2,3,10,1,1,1,2\n");
    c = read_cell();
    assert_int_equal(c->state, CELL_COMPLETE);
    result_cell_free(c);
}

static void cell_refuses(const char *says)
{
    struct error error = {0};
    struct result_cell *c = NULL;
    assert_int_equal(result_cell_read(folder, &c, &error), OSAFL_E_DATA);
    assert_null(c);
    if (strstr(error.text, says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, says);
}

static void damaged_cells_are_refused(void **state)
{
    (void)state;
    put("manifest.json", "{\"identity\": \n");
    cell_refuses("manifest.json:2: ");
    put("manifest.json", "[]");
    cell_refuses("not a JSON object");
    put("manifest.json", "{\"identity\": \"ab\"}");
    cell_refuses("no text \"name\"");
    put("manifest.json",
        "{\"identity\": \"ab\", \"experiment\": {\"name\": \"x\", \"case\": \"y\"}}");
    cell_refuses("no whole number \"seed\"");
    put_manifest("");
    cell_refuses("no setting \"rounds\"");
    put_manifest("\"rounds\": 3");
    cell_refuses("setting rounds has no text \"value\"");
    put_manifest(TWO_ROUNDS);
    put("rounds.csv", "round,client\n");
    cell_refuses("rounds.csv:1: the header is not");
    put("rounds.csv", "round,simulated_s,test_accuracy,train_loss,participants\n");
    cell_refuses("rounds.csv:1: no column \"mean_local_rounds\"");
    put("rounds.csv", HEADER "1,60,0.5,1,1,2,3,10,1,1,1,2\n");
    cell_refuses("rounds.csv:2: expected round 0");
    put("rounds.csv", HEADER "0,60,0.5,1,1,2,3,10,1,1,1,2\n1,60,0.5,1,1,2,3,10,1,1,1,2\n"
                             "2,60,0.5,1,1,2,3,10,1,1,1,2\n");
    cell_refuses("rounds.csv:4: more rounds than the 2");
}

static void measures_have_a_direction(void **state)
{
    (void)state;
    assert_true(measure_higher_is_better("accuracy"));
    assert_false(measure_higher_is_better("loss"));
    assert_false(measure_higher_is_better("squared_error"));
}

static void clients_are_checked(void **state)
{
    (void)state;
    static const char *const wanted[] = {"round", "client", "local_rounds", NULL};
    struct error error;
    struct csv_table *t = NULL;
    put_manifest(TWO_ROUNDS ", \"clients.count\": {\"value\": \"2\"}");
    put("clients.csv", "round,client,local_rounds\n0,0,1\n0,1,2\n1,0,3\n");
    struct result_cell *c = read_cell();
    assert_int_equal(result_cell_clients(c, wanted, &t, &error), OSAFL_OK);
    assert_int_equal(t->rows, 3);
    csv_table_free(t);
    put("clients.csv", "round,client,local_rounds\n0,0,1\n1,0,2\n");
    assert_int_equal(result_cell_clients(c, wanted, &t, &error), OSAFL_E_DATA);
    assert_null(t);
    assert_non_null(strstr(error.text, "clients.csv:3: expected client 1 of round 0"));
    result_cell_free(c);
}

/* ---- cell_finder ---- */

static void finds_cells_at_every_level(void **state)
{
    (void)state;
    static const struct {
        const char *below;
        size_t cells;
    } level[] = {{"", 13},
                 {"/", 13},
                 {"/paper-table", 8},
                 {"/paper-table/OSA-FL", 3},
                 {"/levels/B_quantizer.qsgd.levels_2/", 2}};
    for (size_t i = 0; i < sizeof level / sizeof level[0]; i++) {
        struct error error;
        char path[512];
        struct found_cells f = {.cells = 0};
        snprintf(path, sizeof path, "%s%s", GOLDEN, level[i].below);
        assert_int_equal(find_cells(path, &f, &error), OSAFL_OK);
        assert_int_equal(f.cells, level[i].cells);
        assert_int_equal(f.n_unreadable, 0);
        /* One cell's own folder, found before, is not taken again. */
        assert_int_equal(find_cells(f.cell[0]->folder, &f, &error), OSAFL_OK);
        assert_int_equal(f.cells, level[i].cells);
        found_cells_free(&f);
    }
}

/* A run far below, as in a tree of shards, beside one on top. */
static void finds_cells_at_any_depth(void **state)
{
    (void)state;
    struct error error;
    struct found_cells f = {.cells = 0};
    char deep[sizeof folder + 64];
    for (int k = 1; k <= 9; k++) {
        snprintf(deep, sizeof deep, "%s%.*s", folder, 2 * k, "/1/2/3/4/5/6/7/8/9");
        assert_int_equal(mkdir(deep, 0700), 0);
    }
    put("1/2/3/4/5/6/7/8/9/manifest.json", "{");
    const char *path = put("1/2/manifest.json", "{");
    assert_int_equal(find_cells(folder, &f, &error), OSAFL_OK);
    assert_int_equal(f.n_unreadable, 1); /* nothing within a result folder */
    found_cells_free(&f);
    assert_int_equal(remove(path), 0);
    assert_int_equal(find_cells(folder, &f, &error), OSAFL_OK);
    assert_int_equal(f.n_unreadable, 1);
    assert_non_null(strstr(f.unreadable[0].message, "1/2/3/4/5/6/7/8/9/manifest.json:1: "));
    found_cells_free(&f);
}

static void folders_without_results(void **state)
{
    (void)state;
    struct error error;
    struct found_cells f = {.cells = 0};
    assert_int_equal(find_cells(folder, &f, &error), OSAFL_E_DATA);
    assert_non_null(strstr(error.text, "holds no results"));
    assert_int_equal(find_cells("/nowhere", &f, &error), OSAFL_E_IO);
    assert_string_equal(error.text, "cannot open /nowhere: No such file or directory");
    put("manifest.json", "{");
    assert_int_equal(find_cells(folder, &f, &error), OSAFL_OK);
    assert_int_equal(f.cells, 0);
    assert_int_equal(f.n_unreadable, 1);
    assert_non_null(strstr(f.unreadable[0].message, "manifest.json:1: "));
    found_cells_free(&f);
}

/* A run's folder with these settings, beside the two rounds. */
static void put_run(const char *name, const char *settings)
{
    char text[512];
    char *end = folder + strlen(folder); /* put() writes into `folder` */
    snprintf(end, sizeof folder - strlen(folder), "/%s", name);
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(text, sizeof text, "%s, %s", TWO_ROUNDS, settings);
    put_manifest(text);
    put("rounds.csv", HEADER);
    *end = '\0';
}

#define CHOSEN(plugin) "\"dataset.plugin\": {\"value\": \"\\\"" plugin "\\\"\"}"

/* A run that is older than a setting has what the program did before, if it has that plugin. */
static void older_runs_have_settings_that_came_later(void **state)
{
    (void)state;
    static const char *const expected[] = {"signed", "unit", NULL};
    struct error error;
    struct found_cells f = {.cells = 0};
    put_run("a", CHOSEN("idx"));
    put_run("b", CHOSEN("idx") ", \"dataset.idx.pixels\": {\"value\": \"\\\"unit\\\"\", "
                               "\"earlier\": \"\\\"signed\\\"\"}");
    put_run("c", CHOSEN("npy"));
    assert_int_equal(find_cells(folder, &f, &error), OSAFL_OK);
    assert_int_equal(f.cells, 3);
    for (size_t i = 0; i < 3; i++) {
        const char *found = result_cell_setting(f.cell[i], "dataset.idx.pixels");
        assert_true((found == NULL) == (expected[i] == NULL));
        if (found != NULL)
            assert_string_equal(found, expected[i]);
    }
    found_cells_free(&f);
}

/* ---- planned_runs ---- */

static void planned_runs_are_read_once(void **state)
{
    (void)state;
    struct error error;
    char path[512];
    struct planned_runs p = {.n = 0};
    put("grid-a.json", "{\"grid\": 1, \"experiment\": \"e\", \"cells\": {"
                       "\"A,deadline_s=60.0,quantizer.qsgd.levels=2\": [1, 3], \"B\": [1],"
                       "\"deadline_s=9.5\": [2]}}");
    snprintf(path, sizeof path, "%s/grid-a.json", folder);
    assert_int_equal(planned_runs_read(path, &p, &error), OSAFL_OK);
    assert_int_equal(planned_runs_read(path, &p, &error), OSAFL_OK);
    assert_int_equal(p.n, 4);
    assert_string_equal(p.run[1].experiment, "e");
    assert_string_equal(p.run[1].case_name, "A");
    assert_string_equal(p.run[1].varied, "deadline_s=60.0,quantizer.qsgd.levels=2");
    assert_int_equal(p.run[1].seed, 3);
    assert_string_equal(p.run[2].varied, "");
    assert_string_equal(p.run[3].case_name, "main");
    /* Values as reports print them. */
    assert_int_equal(planned_run_check(&p.run[1], "deadline_s", "60"), PLANNED_HOLDS);
    assert_int_equal(planned_run_check(&p.run[1], "deadline_s", "6"), PLANNED_FAILS);
    assert_int_equal(planned_run_check(&p.run[1], "quantizer.qsgd.levels", "2"), PLANNED_HOLDS);
    assert_int_equal(planned_run_check(&p.run[1], "levels", "2"), PLANNED_UNKNOWN);
    assert_int_equal(planned_run_check(&p.run[1], "case", "A"), PLANNED_HOLDS);
    assert_int_equal(planned_run_check(&p.run[2], "case", "A"), PLANNED_FAILS);
    assert_int_equal(planned_run_check(&p.run[2], "experiment", "e"), PLANNED_HOLDS);
    assert_int_equal(planned_run_check(&p.run[2], "seed", "1"), PLANNED_HOLDS);
    assert_int_equal(planned_run_check(&p.run[2], "seed", "2"), PLANNED_FAILS);
    planned_runs_keep(&p, (const bool[]){false, true, false, true});
    assert_int_equal(p.n, 2);
    assert_int_equal(p.run[0].seed, 3);
    assert_int_equal(p.run[1].seed, 2);
    planned_runs_free(&p);
}

static void damaged_records_of_grids_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{",
        "[]",
        "{}",
        "{\"grid\": 2, \"experiment\": \"e\", \"cells\": {}}",
        "{\"grid\": 1, \"experiment\": 5, \"cells\": {}}",
        "{\"grid\": 1, \"experiment\": \"e\", \"cells\": []}",
        "{\"grid\": 1, \"experiment\": \"e\", \"cells\": {\"a\": [1], \"b\": 1}}",
        "{\"grid\": 1, \"experiment\": \"e\", \"cells\": {\"a\": [1, 1.5]}}",
    };
    char path[512];
    snprintf(path, sizeof path, "%s/grid-a.json", folder);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct error error = {0};
        struct planned_runs p = {.n = 0};
        put("grid-a.json", bad[i]);
        assert_int_equal(planned_runs_read(path, &p, &error), OSAFL_E_DATA);
        assert_non_null(strstr(error.text, "grid-a.json"));
        assert_int_equal(p.n, 0);
        planned_runs_free(&p);
    }
    assert_true(is_grid_record("grid-a.json"));
    assert_false(is_grid_record("grid-.json"));
    assert_false(is_grid_record("grid-a.json~"));
    assert_false(is_grid_record("agrid-a.json"));
}

static void filter_keeps_what_is_asked_for(void **state)
{
    (void)state;
    struct error error;
    struct found_cells f = {.cells = 0};
    assert_int_equal(find_cells(GOLDEN, &f, &error), OSAFL_OK);
    assert_int_equal(keep_only(&f, (const char *const[]){"experiment=paper-table"}, 1, &error),
                     OSAFL_OK);
    assert_int_equal(f.cells, 8);
    assert_int_equal(keep_only(&f, (const char *const[]){"aggregator.plugin=fedavg"}, 1, &error),
                     OSAFL_OK);
    assert_int_equal(f.cells, 3);
    assert_int_equal(keep_only(&f, (const char *const[]){"seed=2"}, 1, &error), OSAFL_OK);
    assert_int_equal(f.cells, 1);
    assert_string_equal(f.cell[0]->case_name, "M-FedAvg");
    assert_int_equal(keep_only(&f, (const char *const[]){"seed=9"}, 1, &error), OSAFL_E_CONFIG);
    assert_string_equal(error.text, "--only seed=9: no run here has that value");
    assert_int_equal(keep_only(&f, (const char *const[]){"quantizer.qsgd.level=2"}, 1, &error),
                     OSAFL_E_CONFIG);
    assert_non_null(strstr(error.text, "did you mean \"quantizer.qsgd.levels\"?"));
    assert_int_equal(keep_only(&f, (const char *const[]){"seed"}, 1, &error), OSAFL_E_CONFIG);
    assert_non_null(strstr(error.text, "write KEY=VALUE"));
    assert_int_equal(f.cells, 1);
    found_cells_free(&f);
}

static void values_as_tables_print_them(void **state)
{
    (void)state;
    static const char *const expected[][2] = {
        {"60.0", "60"},     {"\"a, \\\"b\"", "a, \"b"}, {"[64.0, 32.0]", "[64, 32]"},
        {"[]", "[]"},       {"[0.5]", "[0.5]"},         {"[\"a\", \"b\"]", "[\"a\", \"b\"]"},
        {"[64.0", "[64.0"}, {"true", "true"},           {"1e-05", "1e-05"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        char *plain = result_plain_value(expected[i][0]);
        assert_string_equal(plain, expected[i][1]);
        free(plain);
    }
}

static void names_are_printable(void **state)
{
    (void)state;
    static const char *const expected[][2] = {
        {"plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82",
         "plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82"},
        {"a\x1b[31m\n\x7f", "a?[31m??"},
        {"\xc2\x9b", "??"},      /* a control character of two bytes */
        {"\x9b\xff\xc3", "???"}, /* no UTF-8 */
        {"\xe2\x82", "??"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        char *text = result_printable(expected[i][0]);
        assert_string_equal(text, expected[i][1]);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_as_tables_print_them),
        cmocka_unit_test(names_are_printable),
        cmocka_unit_test_setup_teardown(table_of_numbers_and_words, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(table_keeps_the_wanted_columns, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(table_without_a_whole_line_is_empty, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(damaged_table_is_named_with_its_line, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(table_with_a_zero_byte_or_no_file, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(cell_knows_its_settings, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(varied_settings_are_no_part_of_the_case, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(cell_states, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(damaged_cells_are_refused, make_folder, remove_folder),
        cmocka_unit_test(measures_have_a_direction),
        cmocka_unit_test_setup_teardown(clients_are_checked, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(finds_cells_at_any_depth, make_folder, remove_folder),
        cmocka_unit_test(finds_cells_at_every_level),
        cmocka_unit_test_setup_teardown(folders_without_results, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(older_runs_have_settings_that_came_later, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(planned_runs_are_read_once, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(damaged_records_of_grids_are_refused, make_folder,
                                        remove_folder),
        cmocka_unit_test(filter_keeps_what_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
