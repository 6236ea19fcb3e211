/* test_grid.c - grids: which cells a file holds, what wins over what, errors of grids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/diagnostics.h"
#include "expected_errors.h"
#include "experiment/grid.h"
#include "experiment_text.h"
#include "load_text.h"

#define FILE_NAME "/usr/x.cfg"
#define AT(line) FILE_NAME ":" #line ": "

static struct loader *loader;

struct loaded {
    struct diagnostics *d;
    struct grid *g;
};

static struct loaded load_with(const char *text, const struct grid_request *q,
                               const char *const *set, size_t n)
{
    struct loaded r = {.d = diagnostics_create()};
    const struct experiment_options o = {.set = set, .n_set = n, .loader = loader};
    r.g = load_grid_text(text, strlen(text), FILE_NAME, q, &o, r.d);
    assert_true((r.g != NULL) == (diagnostics_errors(r.d) == 0));
    return r;
}

static struct loaded load_set(const char *text, const char *const *set, size_t n)
{
    return load_with(text, NULL, set, n);
}

/* Those that meet one or two conditions; the second may be NULL. */
static struct loaded load_only(const char *text, const char *first, const char *second)
{
    const char *const only[] = {first, second};
    const struct grid_request q = {.only = only, .n_only = second != NULL ? 2 : 1};
    return load_with(text, &q, NULL, 0);
}

static struct loaded load(const char *text)
{
    return load_with(text, NULL, NULL, 0);
}

static void done(struct loaded *r)
{
    grid_destroy(r->g);
    diagnostics_destroy(r->d);
}

static int64_t levels(const struct experiment *e)
{
    const osafl_plugin *p = e->chosen[OSAFL_KIND_QUANTIZER].loaded->plugin;
    int64_t value;
    memcpy(&value, (const char *)e->chosen[OSAFL_KIND_QUANTIZER].config + p->params[0].offset,
           sizeof value);
    return value;
}

static const char *aggregator(const struct experiment *e)
{
    return e->chosen[OSAFL_KIND_AGGREGATOR].loaded->plugin->name;
}

/* On lines 13 and 14. */
#define CASES                                                                                      \
    "cases = ( { name = \"osafl\"; rounds = 7; },\n"                                               \
    "  { name = \"fedavg\"; aggregator: { plugin = \"fedavg\"; }; } );\n"
#define VARY "vary = ( { key = \"quantizer.qsgd.levels\"; values = [2, 8]; } );\n"

static void a_plain_file_is_one_cell(void **state)
{
    (void)state;
    struct loaded r = load(EXPERIMENT_TEXT);
    assert_no_errors(r.d);
    assert_int_equal(r.g->n, 1);
    assert_string_equal(r.g->cells[0]->case_name, "main");
    done(&r);
    r = load_only(EXPERIMENT_TEXT, "case=main", NULL);
    assert_no_errors(r.d);
    assert_int_equal(r.g->n, 1);
    done(&r);
}

static void cells_are_the_product_in_order(void **state)
{
    (void)state;
    struct loaded r = load(EXPERIMENT_TEXT CASES VARY "seeds = [5, 3];\n");
    assert_no_errors(r.d);
    assert_int_equal(r.g->n, 8);
    static const struct {
        const char *name;
        const char *aggregator;
        int64_t levels;
        int64_t seed;
        int64_t rounds;
    } expected[] = {
        {"osafl,quantizer.qsgd.levels=2", "osafl", 2, 5, 7},
        {"osafl,quantizer.qsgd.levels=2", "osafl", 2, 3, 7},
        {"osafl,quantizer.qsgd.levels=8", "osafl", 8, 5, 7},
        {"osafl,quantizer.qsgd.levels=8", "osafl", 8, 3, 7},
        {"fedavg,quantizer.qsgd.levels=2", "fedavg", 2, 5, 2},
        {"fedavg,quantizer.qsgd.levels=2", "fedavg", 2, 3, 2},
        {"fedavg,quantizer.qsgd.levels=8", "fedavg", 8, 5, 2},
        {"fedavg,quantizer.qsgd.levels=8", "fedavg", 8, 3, 2},
    };
    for (size_t i = 0; i < 8; i++) {
        const struct experiment *e = r.g->cells[i];
        assert_string_equal(e->case_name, expected[i].name);
        assert_string_equal(aggregator(e), expected[i].aggregator);
        assert_int_equal(levels(e), expected[i].levels);
        assert_int_equal(e->general.seed, expected[i].seed);
        assert_int_equal(e->general.rounds, expected[i].rounds);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(e->identity, r.g->cells[k]->identity);
    }
    done(&r);
}

static void a_cell_is_the_run_that_it_says(void **state)
{
    (void)state;
    /* The same settings without a grid have the same identity. */
    struct loaded r = load(EXPERIMENT_TEXT CASES "seeds = [5];\n");
    static const char *const set[] = {"aggregator.plugin=fedavg", "seed=5"};
    struct loaded plain = load_set(EXPERIMENT_TEXT, set, 2);
    assert_no_errors(r.d);
    assert_int_equal(r.g->n, 2);
    assert_string_equal(r.g->cells[1]->identity, plain.g->cells[0]->identity);
    done(&r);
    done(&plain);
}

static void set_wins_and_stops_a_sweep(void **state)
{
    (void)state;
    static const char *const set[] = {"rounds=9", "quantizer.qsgd.levels=3", "seed=11"};
    struct loaded r = load_set(EXPERIMENT_TEXT CASES VARY "seeds = [5, 3];\n", set, 3);
    assert_no_errors(r.d);
    assert_int_equal(r.g->n, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(r.g->cells[i]->general.rounds, 9);
        assert_int_equal(r.g->cells[i]->general.seed, 11);
        assert_int_equal(levels(r.g->cells[i]), 3);
    }
    assert_string_equal(r.g->cells[0]->case_name, "osafl");
    done(&r);
    static const char *const seeds[] = {"seeds=[1, 2, 3]"};
    r = load_set(EXPERIMENT_TEXT "seeds = [5, 3];\n", seeds, 1);
    assert_no_errors(r.d);
    assert_int_equal(r.g->n, 3);
    assert_int_equal(r.g->cells[2]->general.seed, 3);
    done(&r);
}

static void cells_can_be_picked(void **state)
{
    (void)state;
    static const struct {
        const char *first;
        const char *second;
        size_t cells; /* of 2 * 2 * 2 */
    } picks[] = {
        {"case=fedavg", NULL, 4},
        {"case=fedavg,quantizer.qsgd.levels=8", NULL, 2},
        {"seed=3", NULL, 4},
        {"quantizer.qsgd.levels=8", NULL, 4},
        {"quantizer.qsgd.levels=8.0", "seed=5", 2}, /* both must hold */
        {"seed=5", "seed=3", 8},                    /* one of them must */
        {"clients.count=3", NULL, 8},               /* any setting that the file gives */
        {"rounds=7", "seed=5", 2},                  /* of a case */
    };
    for (size_t i = 0; i < sizeof picks / sizeof picks[0]; i++) {
        struct loaded r = load_only(EXPERIMENT_TEXT CASES VARY "seeds = [5, 3];\n", picks[i].first,
                                    picks[i].second);
        assert_no_errors(r.d);
        assert_int_equal(r.g->n, picks[i].cells);
        done(&r);
    }
    struct loaded r =
        load_only(EXPERIMENT_TEXT CASES VARY, "case=fedavg,quantizer.qsgd.levels=8", NULL);
    assert_int_equal(levels(r.g->cells[0]), 8);
    assert_string_equal(aggregator(r.g->cells[0]), "fedavg");
    assert_int_equal(r.g->cells[0]->case_index, 1);
    done(&r);
}

static void picks_that_choose_nothing_are_told(void **state)
{
    (void)state;
    struct loaded r = load_only(EXPERIMENT_TEXT CASES, "case=fedagv", NULL);
    ASSERT_ERRORS(r.d, FILE_NAME ": no case is called \"fedagv\"; did you mean \"fedavg\"?; there "
                                 "are osafl, fedavg");
    done(&r);
    r = load_only(EXPERIMENT_TEXT CASES, "case=fedavg", "seed=2");
    ASSERT_ERRORS(r.d, FILE_NAME ": no cell of the grid meets --only case=fedavg --only seed=2");
    done(&r);
    r = load_only(EXPERIMENT_TEXT CASES, "sed=2", NULL);
    ASSERT_ERRORS(r.d, FILE_NAME ": --only: the experiment gives no setting \"sed\", by which "
                                 "cells could be picked; did you mean \"seed\"?");
    done(&r);
    r = load_only(EXPERIMENT_TEXT CASES, "fedavg", NULL);
    ASSERT_ERRORS(r.d, FILE_NAME ": --only: \"fedavg\" is not of the form KEY=VALUE");
    done(&r);
}

/* On lines 16 to 19. */
#define WHERE                                                                                      \
    "where = ( { only = \"quantizer.qsgd.levels=8\"; rounds = 20; },\n"                            \
    "  { only = [\"case=fedavg\", \"quantizer.qsgd.levels=2\"]; rounds = 30;\n"                    \
    "    where = ( { only = \"seed=3\"; clients: { storage = 77; }; } ); },\n"                     \
    "  { only = [\"seed=5\", \"seed=99\", \"rounds=20\"]; deadline_s = 9.0; } );\n"

static void where_gives_settings_to_some_cells(void **state)
{
    (void)state;
    struct loaded r = load(EXPERIMENT_TEXT CASES VARY WHERE "seeds = [5, 3];\n");
    assert_no_errors(r.d);
    assert_int_equal(r.g->n, 8);
    static const struct {
        int64_t rounds;
        int64_t storage;
        double deadline_s;
    } expected[] = {
        {7, 400, 60},  {7, 400, 60}, {20, 400, 9}, {20, 400, 60}, /* osafl, 2 and 8 levels */
        {30, 400, 60}, {30, 77, 60}, {20, 400, 9}, {20, 400, 60}, /* fedavg */
    };
    for (size_t i = 0; i < 8; i++) {
        const struct experiment *e = r.g->cells[i];
        assert_int_equal(e->general.rounds, expected[i].rounds);
        assert_int_equal(e->clients.storage, expected[i].storage);
        assert_true(e->general.deadline_s == expected[i].deadline_s);
    }
    done(&r);
    /* What --set fixes meets the conditions too, and wins over what they give. */
    static const char *const set[] = {"quantizer.qsgd.levels=8", "deadline_s=3"};
    r = load_set(EXPERIMENT_TEXT CASES VARY WHERE, set, 2);
    assert_no_errors(r.d);
    assert_int_equal(r.g->n, 2);
    assert_int_equal(r.g->cells[0]->general.rounds, 20);
    assert_true(r.g->cells[0]->general.deadline_s == 3.0);
    done(&r);
}

static void where_can_leave_cells_out(void **state)
{
    (void)state;
    struct loaded r = load(EXPERIMENT_TEXT CASES VARY
                           "where = ( { only = \"case=fedavg\"; where = (\n"
                           "{ only = \"quantizer.qsgd.levels=2\"; omit = true; } ); } );\n");
    assert_no_errors(r.d);
    assert_int_equal(r.g->n, 3);
    assert_string_equal(r.g->cells[2]->case_name, "fedavg,quantizer.qsgd.levels=8");
    done(&r);
    r = load(EXPERIMENT_TEXT "where = ( { only = \"seed=1\"; omit = true; } );");
    ASSERT_ERRORS(r.d, FILE_NAME ": no cell of the grid is left: where omits them all");
    done(&r);
}

static void several_experiments_can_share_a_file(void **state)
{
    (void)state;
    struct loaded r =
        load(EXPERIMENT_TEXT "vary = ( { key = \"name\"; values = [\"one\", \"two\"]; } );\n"
                             "where = ( { only = \"name=two\"; rounds = 8; } );\n");
    assert_no_errors(r.d);
    assert_int_equal(r.g->n, 2);
    assert_string_equal(r.g->cells[0]->general.name, "one");
    assert_string_equal(r.g->cells[1]->general.name, "two");
    assert_string_equal(r.g->cells[1]->case_name, "main");
    assert_int_equal(r.g->cells[1]->general.rounds, 8);
    done(&r);
}

static void an_overlay_wins_over_cells(void **state)
{
    (void)state;
    char file[] = "/tmp/osafl-overlay-XXXXXX";
    const int fd = mkstemp(file);
    static const char overlay[] =
        "seeds = [8]; rounds = 4; quantizer: { qsgd: { levels = 16; }; };";
    assert_int_equal(write(fd, overlay, sizeof overlay - 1), sizeof overlay - 1);
    close(fd);
    const struct grid_request q = {.overlay = file};
    static const char *const set[] = {"rounds=3"};
    struct loaded r = load_with(EXPERIMENT_TEXT CASES VARY "seeds = [5, 3];\n", &q, NULL, 0);
    assert_no_errors(r.d);
    assert_int_equal(r.g->n, 2);
    assert_string_equal(r.g->cells[0]->case_name, "osafl");
    assert_int_equal(r.g->cells[0]->general.rounds, 4);
    assert_int_equal(r.g->cells[0]->general.seed, 8);
    assert_int_equal(levels(r.g->cells[0]), 16);
    done(&r);
    r = load_with(EXPERIMENT_TEXT CASES VARY, &q, set, 1);
    assert_int_equal(r.g->cells[0]->general.rounds, 3);
    done(&r);
    unlink(file);
    r = load_with(EXPERIMENT_TEXT, &q, NULL, 0);
    assert_int_equal(diagnostics_errors(r.d), 1);
    done(&r);
}

static void further_settings_can_be_varied(void **state)
{
    (void)state;
    static const char *const also[] = {"rounds=[1, 2]", "training.batch=[4]"};
    const struct grid_request q = {.also = also, .n_also = 2};
    struct loaded r = load_with(
        EXPERIMENT_TEXT VARY "where = ( { only = \"seed=1\"; rounds = 9; } );\n", &q, NULL, 0);
    assert_no_errors(r.d);
    assert_int_equal(r.g->n, 4);
    assert_int_equal(r.g->cells[3]->general.rounds, 2);
    assert_string_equal(r.g->cells[3]->case_name,
                        "quantizer.qsgd.levels=8,rounds=2,training.batch=4");
    done(&r);
}

static void values_of_all_types_can_be_varied(void **state)
{
    (void)state;
    struct loaded r =
        load(EXPERIMENT_TEXT
             "vary = ( { key = \"aggregator.plugin\"; values = [\"osafl\", \"fedavg\"]; },\n"
             "  { key = \"clients.activity\"; values = ([0.3, 0.8], 0.5); },\n"
             "  { key = \"dataset.idx.path\"; values = [\"a b\", \"/c/d\"]; } );\n");
    assert_no_errors(r.d);
    assert_int_equal(r.g->n, 8);
    assert_string_equal(r.g->cells[0]->case_name,
                        "aggregator.plugin=osafl,clients.activity=0.3,0.8,dataset.idx.path=a_b");
    assert_string_equal(r.g->cells[7]->case_name,
                        "aggregator.plugin=fedavg,clients.activity=0.5,dataset.idx.path=_c_d");
    assert_true(r.g->cells[7]->clients.activity.lo == 0.5);
    done(&r);
}

static osafl_status find_origin(void *arg, const struct setting *s)
{
    if (strcmp(s->key, "levels") == 0 || strcmp(s->key, "rounds") == 0 ||
        strcmp(s->key, "seed") == 0)
        fprintf(arg, "%s: %s\n", s->key, s->origin);
    return OSAFL_OK;
}

static void origins_name_case_and_sweep(void **state)
{
    (void)state;
    struct loaded r = load(EXPERIMENT_TEXT CASES VARY "seeds = [5, 3];\n");
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    assert_int_equal(experiment_visit(r.g->cells[0], find_origin, f), OSAFL_OK);
    assert_int_equal(fclose(f), 0);
    assert_string_equal(text, "seed: seeds, x.cfg:16\n"
                              "rounds: case \"osafl\", x.cfg:13\n"
                              "levels: vary, x.cfg:15\n");
    free(text);
    done(&r);
}

static void expect_error(const char *grid, const char *error)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s", EXPERIMENT_TEXT, grid);
    struct loaded r = load(text);
    ASSERT_ERRORS(r.d, error);
    done(&r);
}

static void wrong_grids_are_refused(void **state)
{
    (void)state;
    expect_error("cases = ();", AT(13) "cases: must be a list");
    expect_error("cases: { name = \"a\"; };", AT(13) "cases: must be a list");
    expect_error("cases = (3);", AT(13) "cases: must hold groups");
    expect_error("cases = ({ rounds = 3; });", AT(13) "cases.name: every case needs a name");
    expect_error("cases = ({ name = \"../x\"; });", AT(13) "cases.name: every case needs");
    expect_error("cases = ({ name = \"a\"; },\n { name = \"a\"; });",
                 AT(14) "cases.name: \"a\" is there twice");
    expect_error("cases = ({ name = \"a\"; seeds = [1]; });",
                 AT(13) "seeds: is not allowed inside a case");
    expect_error("cases = ({ name = \"a\"; roundz = 1; });",
                 AT(13) "roundz: unknown setting; did you mean \"rounds\"?");
    expect_error("vary = ({ key = \"rounds\"; });", AT(13) "vary.values: must be a list");
    expect_error("vary = ({ values = [1]; });", AT(13) "vary.key: must name a setting");
    expect_error("vary = ({ key = \"seeds\"; values = [1]; });", AT(13) "vary.key: must name");
    expect_error("vary = ({ key = \"rounds\"; values = [1]; step = 1; });",
                 AT(13) "vary: unknown key \"step\"");
    expect_error("vary = ({ key = \"rounds\"; values = ({ a = 1; }); });",
                 AT(13) "vary.values: a group cannot be a value");
    expect_error(
        "vary = ({ key = \"rounds\"; values = [1]; },\n{ key = \"rounds\"; values = [1]; });",
        AT(14) "vary.key: \"rounds\" is varied twice");
    expect_error("vary = ({ key = \"roundz\"; values = [1]; });",
                 AT(13) "roundz: unknown setting; did you mean \"rounds\"?");
    expect_error("vary = ({ key = \"rounds.x\"; values = [1]; });",
                 AT(13) "rounds is a whole number and holds no settings");
    expect_error("vary = ({ key = \"a b\"; values = [1]; });", AT(13) "\"a b\" is not a path");
    expect_error("vary = ({ key = \"rounds\"; values = [1, 0]; });", AT(13) "rounds: 0 is outside");
    expect_error("vary = ({ key = \"rounds\"; values = [3, 3]; });",
                 FILE_NAME ": two cells of the grid are called \"rounds=3\"");
    expect_error("where = 3;", AT(13) "where: must be a list");
    expect_error("where = ( 3 );", AT(13) "where: must hold groups");
    expect_error("where = ( { rounds = 3; } );", AT(13) "where.only: must be a condition");
    expect_error("where = ( { only = \"seed=1\"; omit = 1; } );",
                 AT(13) "where.omit: must be true or false");
    expect_error("where = ( { only = [3]; } );", AT(13) "where.only: must be a condition");
    expect_error("where = ( { only = \"seed=1\"; vary = (); } );",
                 AT(13) "vary: is not allowed inside where");
    expect_error("where = ( { only = \"seed=1\";\n where = ( { } ); } );",
                 AT(14) "where.only: must be a condition");
    expect_error("where = ( { only = \"clients.cuont=1\"; } );",
                 AT(13) "where.only: the experiment gives no setting \"clients.cuont\"");
    expect_error("where = ( { only = \"seed=1\"; roundz = 3; } );",
                 AT(13) "roundz: unknown setting; did you mean \"rounds\"?");
    expect_error("cases = ({ name = \"a\"; where = (); });",
                 AT(13) "where: is not allowed inside a case");
    expect_error("seeds = 3;", AT(13) "seeds: must be a list of seeds");
    expect_error("seeds = [1, -1];", AT(13) "seeds: must hold whole numbers from 0 on");
    expect_error("seeds = [1, 2, 1];", AT(13) "seeds: 1 is there twice");
    expect_error("seeds = [1]; vary = ({ key = \"seed\"; values = [1]; });",
                 AT(13) "seeds: \"seed\" is varied already");
    expect_error("vary = ({ key = \"rounds\"; values = [1,2,3,4,5,6,7,8,9,10,11]; },\n"
                 "{ key = \"clients.count\"; values = [1,2,3,4,5,6,7,8,9,10]; },\n"
                 "{ key = \"training.batch\"; values = [1,2,3,4,5,6,7,8,9,10]; });",
                 FILE_NAME ": the grid has more than 1000 cells");
}

/* Names of cells are cut, which the message says. */
static void long_names_are_told(void **state)
{
    (void)state;
    struct loaded r = load(EXPERIMENT_TEXT
                           "vary = ({ key = \"optimizer.sgd.learning_rate\"; values = [0.01]; },\n"
                           "{ key = \"aggregator.osafl.global_learning_rate\"; values = [1.5]; },\n"
                           "{ key = \"partition.dirichlet.concentration\"; values = [0.25]; },\n"
                           "{ key = \"training.max_local_rounds\"; values = [2]; },\n"
                           "{ key = \"training.minibatches\"; values = [2]; },\n"
                           "{ key = \"uplink.loss_probability\"; values = [0.125]; },\n"
                           "{ key = \"training.batch\"; values = [20]; },\n"
                           "{ key = \"rounds\"; values = [1, 2]; });");
    char *text = diagnostics_text(r.d);
    assert_non_null(text);
    assert_non_null(strstr(text, "two cells of the grid are called \"optimizer.sgd"));
    assert_non_null(strstr(text, ", since their names are cut there; vary fewer settings, or"));
    free(text);
    done(&r);
}

static void errors_of_a_file_are_told_once(void **state)
{
    (void)state;
    struct loaded r = load(EXPERIMENT_TEXT CASES "seeds = [1, 2, 3];\nroundz = 3;\n"
                                                 "clients: { };");
    ASSERT_ERRORS(r.d, AT(17) "clients is set twice, before in ");
    done(&r);
    r = load(EXPERIMENT_TEXT CASES "seeds = [1, 2, 3];\nroundz = 3;\ntraining: { batch = 0; };");
    ASSERT_ERRORS(r.d, AT(16) "roundz: unknown setting", AT(17) "training.batch: 0 is outside");
    done(&r);
    /* Also when the grid itself is wrong. */
    r = load(EXPERIMENT_TEXT "cases = 3; seeds = 4;\nroundz = 3;\n");
    ASSERT_ERRORS(r.d, AT(13) "cases: must be", AT(13) "seeds: must be",
                  AT(14) "roundz: unknown setting");
    done(&r);
}

static int open_loader(void **state)
{
    (void)state;
    const char *folder = OSAFL_TEST_PLUGIN_DIR;
    struct diagnostics *d = diagnostics_create();
    loader = loader_create(&folder, 1, d);
    diagnostics_destroy(d);
    return loader != NULL ? 0 : -1;
}

static int close_loader(void **state)
{
    (void)state;
    loader_destroy(loader);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_file_is_one_cell),
        cmocka_unit_test(cells_are_the_product_in_order),
        cmocka_unit_test(a_cell_is_the_run_that_it_says),
        cmocka_unit_test(set_wins_and_stops_a_sweep),
        cmocka_unit_test(cells_can_be_picked),
        cmocka_unit_test(picks_that_choose_nothing_are_told),
        cmocka_unit_test(where_gives_settings_to_some_cells),
        cmocka_unit_test(where_can_leave_cells_out),
        cmocka_unit_test(several_experiments_can_share_a_file),
        cmocka_unit_test(an_overlay_wins_over_cells),
        cmocka_unit_test(further_settings_can_be_varied),
        cmocka_unit_test(values_of_all_types_can_be_varied),
        cmocka_unit_test(origins_name_case_and_sweep),
        cmocka_unit_test(wrong_grids_are_refused),
        cmocka_unit_test(long_names_are_told),
        cmocka_unit_test(errors_of_a_file_are_told_once),
    };
    return cmocka_run_group_tests(tests, open_loader, close_loader);
}
