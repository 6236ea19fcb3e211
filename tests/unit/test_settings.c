/* test_settings.c - binding of a table to values: defaults, types, bounds, unknown and missing
 * keys, paths, canonical text, help. */
#include <limits.h>
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
#include "experiment/experiment_tree.h"
#include "experiment/settings.h"

struct values {
    bool flag;
    int64_t count;
    int64_t any;
    double share;
    double positive;
    const char *label;
    const char *path;
    osafl_choice mode;
    osafl_range span;
    osafl_reals list;
    int64_t size;
    osafl_rows steps;
};

struct step {
    int64_t length;
    double rate;
    const char *label;
    bool last;
};

static const char *const sizes[] = {"all", "half", NULL};

static const char *const modes[] = {"keep", "fail", NULL};
static const osafl_param step[] = {
    OSAFL_INT(struct step, length, 0, 1, 9, "How long", .flags = OSAFL_P_REQUIRED),
    OSAFL_REAL(struct step, rate, 0.5, 0.0, 1.0, "How fast"),
    OSAFL_TEXT(struct step, label, "", "What for"),
    OSAFL_BOOL(struct step, last, false, "Whether it ends here"),
};
static const osafl_row_type step_type = OSAFL_ROW_TYPE(step, struct step);
static const osafl_param table[] = {
    OSAFL_BOOL(struct values, flag, true, "A flag"),
    OSAFL_INT(struct values, count, 3, 1, 1000, "Some count", .unit = "clients"),
    OSAFL_INT(struct values, any, -1, INT64_MIN, INT64_MAX, "Any integer"),
    OSAFL_REAL(struct values, share, 0.1, 0.0, 0.5, "Half open", .flags = OSAFL_P_HI_OPEN),
    OSAFL_REAL(struct values, positive, 2.0, 0.0, __DBL_MAX__, "Above zero", .unit = "s",
               .flags = OSAFL_P_LO_OPEN),
    OSAFL_TEXT(struct values, label, "none", "A label"),
    OSAFL_PATH(struct values, path, "/data", "A file"),
    OSAFL_CHOICE(struct values, mode, 1, modes, "What to do"),
    OSAFL_RANGE(struct values, span, 0.25, 0.75, 0.0, 1.0, "A span"),
    OSAFL_REALS(struct values, list, 0.0, 10.0, "Numbers", .flags = OSAFL_P_LO_OPEN),
    OSAFL_INT_OR(struct values, size, -1, 1, 100, sizes, "A number or a word"),
    OSAFL_ROWS(struct values, steps, &step_type, 0, 3, "Some steps"),
};
enum { N = sizeof table / sizeof table[0] };

struct bound {
    struct diagnostics *d;
    struct experiment_tree *tree;
    struct values v;
};

/* Binds "g: { TEXT };" of a file called x.cfg. */
static struct bound bind(const char *text)
{
    struct bound b = {.d = diagnostics_create()};
    char *all = NULL;
    const int n = asprintf(&all, "g: {\n%s\n};", text);
    assert_true(n > 0);
    b.tree = tree_read_text(all, (size_t)n, "x.cfg", b.d);
    free(all);
    assert_no_errors(b.d);
    settings_bind(table, N, sizeof(osafl_param), &b.v, node_child(tree_root(b.tree), "g"), "g",
                  NULL, b.d);
    return b;
}

static void done(struct bound *b)
{
    tree_destroy(b->tree);
    diagnostics_destroy(b->d);
}

static void expect_error(const char *text, const char *error)
{
    struct bound b = bind(text);
    ASSERT_ERRORS(b.d, error);
    done(&b);
}

static void defaults_fill_what_is_not_set(void **state)
{
    (void)state;
    struct bound b = bind("");
    assert_no_errors(b.d);
    assert_true(b.v.flag);
    assert_int_equal(b.v.count, 3);
    assert_int_equal(b.v.any, -1);
    assert_true(b.v.share == 0.1 && b.v.positive == 2.0);
    assert_string_equal(b.v.label, "none");
    assert_string_equal(b.v.path, "/data");
    assert_int_equal(b.v.mode.index, 1);
    assert_true(b.v.span.lo == 0.25 && b.v.span.hi == 0.75);
    assert_int_equal(b.v.list.n, 0);
    done(&b);
    struct diagnostics *d = diagnostics_create();
    struct values v = {0};
    settings_bind(table, N, sizeof(osafl_param), &v, NULL, "g", NULL, d);
    assert_no_errors(d);
    assert_int_equal(v.count, 3);
    diagnostics_destroy(d);
}

static void values_replace_defaults(void **state)
{
    (void)state;
    struct bound b = bind("flag = false; count = 1000; any = 9223372036854775807; share = 0.25;\n"
                          "positive = 1; label = \"x\"; path = \"/p\"; mode = \"keep\";\n"
                          "span = [0, 0.5]; list = (1, 2.5, 10);");
    assert_no_errors(b.d);
    assert_false(b.v.flag);
    assert_int_equal(b.v.count, 1000);
    assert_true(b.v.any == INT64_MAX);
    assert_true(b.v.share == 0.25 && b.v.positive == 1.0); /* a whole number will do */
    assert_string_equal(b.v.label, "x");
    assert_string_equal(b.v.path, "/p");
    assert_int_equal(b.v.mode.index, 0);
    assert_true(b.v.span.lo == 0.0 && b.v.span.hi == 0.5);
    assert_int_equal(b.v.list.n, 3);
    assert_true(b.v.list.v[0] == 1.0 && b.v.list.v[1] == 2.5 && b.v.list.v[2] == 10.0);
    done(&b);
    b = bind("span = 0.5; list = [];"); /* one number is both ends */
    assert_no_errors(b.d);
    assert_true(b.v.span.lo == 0.5 && b.v.span.hi == 0.5);
    assert_int_equal(b.v.list.n, 0);
    done(&b);
}

static void bounds_are_open_or_closed(void **state)
{
    (void)state;
    expect_error("count = 0;", "x.cfg:2: g.count: 0 is outside [1, 1000] clients");
    expect_error("count = 1001;", "x.cfg:2: g.count: 1001 is outside [1, 1000] clients");
    expect_error("share = 0.5;", "x.cfg:2: g.share: 0.5 is outside [0, 0.5)");
    expect_error("share = -1;", "x.cfg:2: g.share: -1 is outside [0, 0.5)");
    expect_error("positive = 0;", "x.cfg:2: g.positive: 0 is not > 0 s");
    expect_error("span = [0.5, 1.5];", "x.cfg:2: g.span: 1.5 is outside [0, 1]");
    expect_error("span = [0.5, 0.25];", "x.cfg:2: g.span: the lower end comes first");
    expect_error("list = [1, 0.0];", "x.cfg:2: g.list: 0.0 is outside (0, 10]");
    struct bound b = bind("count = 1; share = 0; span = [0, 1]; list = [10];");
    assert_no_errors(b.d);
    done(&b);
}

static void types_are_not_converted(void **state)
{
    (void)state;
    expect_error("flag = 1;", "x.cfg:2: g.flag: must be true or false, but it is a whole number");
    expect_error("count = 3.0;", "x.cfg:2: g.count: must be a whole number, written without");
    expect_error("count = \"3\";", "x.cfg:2: g.count: must be a whole number, but it is a text");
    expect_error("share = \"0.1\";", "x.cfg:2: g.share: must be a number, but it is a text");
    expect_error("share = true;", "x.cfg:2: g.share: must be a number, but it is true or false");
    expect_error("label = 3;",
                 "x.cfg:2: g.label: must be a text in double quotes, but it is a whole");
    expect_error("path = [1];",
                 "x.cfg:2: g.path: must be a path in double quotes, but it is a list");
    expect_error("mode = 1;",
                 "x.cfg:2: g.mode: must be one of \"keep\", \"fail\", but it is a whole");
    expect_error(
        "mode = \"keeep\";",
        "x.cfg:2: g.mode: \"keeep\" is not one of \"keep\", \"fail\"; did you mean \"keep\"?");
    expect_error("mode = \"stop\";", "x.cfg:2: g.mode: \"stop\" is not one of \"keep\", \"fail\"");
    expect_error("span = [1];", "x.cfg:2: g.span: must be a number or a pair");
    expect_error("span = [0, 0.5, 1];", "x.cfg:2: g.span: must be a number or a pair");
    expect_error("span = \"x\";", "x.cfg:2: g.span: must be a number or a pair");
    expect_error("list = [1, \"x\"];", "x.cfg:2: g.list: must be a list of numbers [a, b, ...], "
                                       "but it is a text");
    expect_error("list = 3;", "x.cfg:2: g.list: must be a list of numbers");
    expect_error("share: { a = 1; };", "x.cfg:2: g.share: must be a number, but it is a group");
}

static void rows_are_structs_of_their_own(void **state)
{
    (void)state;
    struct bound b = bind("steps = (\n{ length = 3; rate = 1; },\n{ length = 4; last = true; });");
    assert_no_errors(b.d);
    const struct step *s = b.v.steps.v;
    assert_int_equal(b.v.steps.n, 2);
    assert_true(s[0].length == 3 && s[0].rate == 1.0 && !s[0].last);
    assert_true(s[1].length == 4 && s[1].rate == 0.5 && s[1].last);
    assert_string_equal(s[1].label, "");
    assert_string_equal(b.v.steps.at[1].file, "x.cfg");
    assert_int_equal(b.v.steps.at[0].line, 3);
    assert_int_equal(b.v.steps.at[1].line, 4);
    done(&b);
    b = bind("steps = ();");
    assert_no_errors(b.d);
    assert_int_equal(b.v.steps.n, 0);
    done(&b);
}

static void errors_in_rows_name_row_and_key(void **state)
{
    (void)state;
    expect_error("steps = ({ length = 3; },\n{ length = 10; });",
                 "x.cfg:3: g.steps[1].length: 10 is outside [1, 9]");
    expect_error("steps = ({ length = 3; },\n{ rate = 1; });",
                 "x.cfg:3: g.steps[1].length: missing, and it has no default (How long)");
    expect_error("steps = ({ length = 3; lenth = 4; });",
                 "x.cfg:2: g.steps[0].lenth: unknown setting; did you mean \"length\"?");
    expect_error("steps = ({ length = 3; }, 4);",
                 "x.cfg:2: g.steps[1]: must be a group { ... }, but it is a whole number");
    expect_error("steps = 3;", "x.cfg:2: g.steps: must be a list of groups ({ ... }, ...), but");
    expect_error("steps = ({ length = 1; }, { length = 1; }, { length = 1; }, { length = 1; });",
                 "x.cfg:2: g.steps: the number of rows, 4, is outside [0, 3]");
}

static void rows_come_from_the_command_line_too(void **state)
{
    (void)state;
    struct diagnostics *d = diagnostics_create();
    struct experiment_tree *t = tree_read_text("", 0, "x.cfg", d);
    struct values v = {0};
    assert_true(tree_set(t, PLACE_SET, "steps=({ length = 3; }, { length = 0; })", d));
    settings_bind(table, N, sizeof(osafl_param), &v, tree_root(t), "", NULL, d);
    ASSERT_ERRORS(d, "--set: steps[1].length: 0 is outside [1, 9]");
    tree_destroy(t);
    diagnostics_destroy(d);
}

static void words_may_stand_for_numbers(void **state)
{
    (void)state;
    struct bound b = bind("size = \"half\";");
    assert_no_errors(b.d);
    assert_int_equal(b.v.size, -2);
    done(&b);
    b = bind("size = 100;");
    assert_int_equal(b.v.size, 100);
    done(&b);
    b = bind("");
    assert_int_equal(b.v.size, -1);
    done(&b);
    expect_error("size = -1;", "x.cfg:2: g.size: -1 is outside [1, 100]");
    expect_error("size = \"hlf\";",
                 "x.cfg:2: g.size: \"hlf\" is not one of \"all\", \"half\"; did");
}

static void unknown_keys_are_all_told(void **state)
{
    (void)state;
    struct bound b = bind("shar = 0.1;\nCount = 3;\nzzzzzz = 1;\ncount = 7;");
    ASSERT_ERRORS(b.d, "x.cfg:2: g.shar: unknown setting; did you mean \"share\"?",
                  "x.cfg:3: g.Count: unknown setting; did you mean \"count\"?",
                  "x.cfg:4: g.zzzzzz: unknown setting; known are flag, count, any, share");
    assert_int_equal(b.v.count, 7);
    done(&b);
}

static void keys_of_other_groups_are_suggested(void **state)
{
    (void)state;
    static const osafl_param few[] = {OSAFL_INT(struct values, count, 3, 1, 1000, "Some count")};
    static const osafl_param handle[] = {
        {.name = "handle", .type = OSAFL_T_BOOL, .doc = "A name that is close to one here"}};
    const struct settings_table here = {"g", few, 1, sizeof(osafl_param)};
    const struct settings_table others[] = {
        here, {"a.b", table, N, sizeof(osafl_param)}, {"a.c", handle, 1, sizeof(osafl_param)}};
    static const char *const extra[] = {"handled", NULL};
    static const char text[] =
        "share = 1;\npositve = 2;\nhandled = 3;\nhandeld = 4;\nhandle = 5;\n";
    struct diagnostics *d = diagnostics_create();
    struct experiment_tree *t = tree_read_text(text, sizeof text - 1, "x.cfg", d);
    struct values v = {0};
    settings_bind_among(&here, &v, tree_root(t), extra, others, 3, d);
    ASSERT_ERRORS(d, "x.cfg:1: g.share: unknown setting; did you mean \"a.b.share\"?",
                  "x.cfg:2: g.positve: unknown setting; did you mean \"a.b.positive\"?",
                  "x.cfg:4: g.handeld: unknown setting; did you mean \"handled\"?",
                  "x.cfg:5: g.handle: unknown setting; did you mean \"handled\"?");
    tree_destroy(t);
    diagnostics_destroy(d);
}

static void required_settings_must_be_set(void **state)
{
    (void)state;
    static const osafl_param required[] = {
        OSAFL_INT(struct values, count, 0, 1, 1000, "Some count", .flags = OSAFL_P_REQUIRED)};
    struct values v = {0};
    struct diagnostics *d = diagnostics_create();
    struct experiment_tree *t = tree_read_text("\ng: { };", 8, "x.cfg", d);
    const struct node *g = node_child(tree_root(t), "g");
    settings_bind(required, 1, sizeof(osafl_param), &v, g, "g", NULL, d);
    ASSERT_ERRORS(d, "x.cfg:2: g.count: missing, and it has no default (Some count)");
    tree_destroy(t);
    diagnostics_destroy(d);
}

static void a_group_must_be_a_group(void **state)
{
    (void)state;
    struct values v = {0};
    struct diagnostics *d = diagnostics_create();
    struct experiment_tree *t = tree_read_text("\ng = 3;", 7, "x.cfg", d);
    settings_bind(table, N, sizeof(osafl_param), &v, node_child(tree_root(t), "g"), "g", NULL, d);
    ASSERT_ERRORS(d, "x.cfg:2: g: must be a group { ... }, but it is a whole number");
    tree_destroy(t);
    diagnostics_destroy(d);
}

static void replaced_values_are_checked_too(void **state)
{
    (void)state;
    struct diagnostics *d = diagnostics_create();
    struct experiment_tree *t = tree_read_text("count = 5000;", 13, "x.cfg", d);
    struct values v = {0};
    assert_true(tree_set(t, PLACE_SET, "count=7", d));
    assert_true(tree_set(t, PLACE_SET, "share=2", d));
    settings_bind(table, N, sizeof(osafl_param), &v, tree_root(t), "", NULL, d);
    ASSERT_ERRORS(d, "x.cfg:1: count: 5000 is outside [1, 1000] clients",
                  "--set: share: 2 is outside [0, 0.5)");
    assert_int_equal(v.count, 7);
    tree_destroy(t);
    diagnostics_destroy(d);
}

/* A column of a table may be called 3, true or 0.50. */
static void a_scalar_of_the_command_line_may_be_a_text(void **state)
{
    (void)state;
    static const char *const texts[] = {"3", "true", "0.50", "-7"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char assignment[32];
        struct values v = {0};
        struct diagnostics *d = diagnostics_create();
        struct experiment_tree *t = tree_read_text("count = 5;", 10, "x.cfg", d);
        snprintf(assignment, sizeof assignment, "label=%s", texts[i]);
        assert_true(tree_set(t, PLACE_SET, assignment, d));
        settings_bind(table, N, sizeof(osafl_param), &v, tree_root(t), "", NULL, d);
        assert_no_errors(d);
        assert_string_equal(v.label, texts[i]);
        tree_destroy(t);
        diagnostics_destroy(d);
    }
}

static const char *path_of(const char *file, const char *written, const char *assignment, char *out)
{
    char text[PATH_MAX];
    struct values v = {0};
    struct diagnostics *d = diagnostics_create();
    const int n = snprintf(text, sizeof text, "path = \"%s\";", written);
    struct experiment_tree *t = tree_read_text(text, (size_t)n, file, d);
    if (assignment != NULL)
        assert_true(tree_set(t, PLACE_SET, assignment, d));
    settings_bind(table, N, sizeof(osafl_param), &v, tree_root(t), "", NULL, d);
    assert_no_errors(d);
    snprintf(out, PATH_MAX, "%s", v.path);
    tree_destroy(t);
    diagnostics_destroy(d);
    return out;
}

static void relative_paths_are_against_the_files_folder(void **state)
{
    (void)state;
    char out[PATH_MAX];
    char cwd[PATH_MAX];
    char expected[2 * PATH_MAX];
    assert_non_null(getcwd(cwd, sizeof cwd));
    assert_string_equal(path_of("/usr/bin/x.cfg", "data/a", NULL, out), "/usr/bin/data/a");
    assert_string_equal(path_of("/usr/bin/x.cfg", "./data", NULL, out), "/usr/bin/data");
    assert_string_equal(path_of("/usr/bin/x.cfg", "../share//d", NULL, out), "/usr/share//d");
    assert_string_equal(path_of("/usr/bin/x.cfg", "../../../etc", NULL, out), "/etc");
    assert_string_equal(path_of("/usr/bin/x.cfg", "..", NULL, out), "/usr");
    assert_string_equal(path_of("/usr/bin/../bin/x.cfg", ".", NULL, out), "/usr/bin");
    assert_string_equal(path_of("/x.cfg", "a", NULL, out), "/a");
    assert_string_equal(path_of("/usr/bin/x.cfg", ".hidden/..x", NULL, out),
                        "/usr/bin/.hidden/..x");
    assert_string_equal(path_of("/usr/bin/x.cfg", "/abs", NULL, out), "/abs");
    assert_string_equal(path_of("/usr/bin/x.cfg", "", NULL, out), "");
    snprintf(expected, sizeof expected, "%s/data", cwd);
    assert_string_equal(path_of("x.cfg", "data", NULL, out), expected);
    assert_string_equal(path_of("/usr/bin/x.cfg", "a", "path=data", out), expected);
}

static void expect_text(const struct values *v, const char *name, const char *expected)
{
    for (int i = 0; i < N; i++) {
        if (strcmp(table[i].name, name) != 0)
            continue;
        char *text = settings_text(&table[i], v);
        assert_string_equal(text, expected);
        assert_int_equal(settings_format(&table[i], v, NULL, 0), strlen(expected));
        char small[3];
        settings_format(&table[i], v, small, sizeof small);
        assert_true(strncmp(small, expected, 2) == 0 && strlen(small) <= 2);
        free(text);
        return;
    }
    fail();
}

static void texts_are_canonical(void **state)
{
    (void)state;
    const double numbers[] = {1.0, 0.1, 1e300};
    const struct step steps[] = {{.length = 1, .rate = 0.5, .label = ""},
                                 {.length = 2, .rate = 0.25, .label = "}, {", .last = true}};
    const struct values v = {.flag = true,
                             .count = INT64_C(4294967296),
                             .any = -5,
                             .share = 0.1,
                             .positive = 3.0,
                             .label = "a \"b\" \\ \n\x7f \xCE\xBA",
                             .path = NULL,
                             .mode = {1},
                             .span = {1.0 / 3.0, 1e-300},
                             .list = {numbers, 3},
                             .size = -2,
                             .steps = {steps, NULL, 2}};
    expect_text(&v, "flag", "true");
    expect_text(&v, "count", "4294967296L");
    expect_text(&v, "any", "-5");
    expect_text(&v, "share", "0.1");
    expect_text(&v, "positive", "3.0");
    expect_text(&v, "label", "\"a \\\"b\\\" \\\\ \\x0a\\x7f \xCE\xBA\"");
    expect_text(&v, "path", "\"\"");
    expect_text(&v, "mode", "\"fail\"");
    expect_text(&v, "span", "[0.3333333333333333, 1e-300]");
    expect_text(&v, "list", "[1.0, 0.1, 1e300]");
    expect_text(&v, "size", "\"half\"");
    expect_text(&v, "steps",
                "({ length = 1; }, { length = 2; rate = 0.25; label = \"}, {\"; last = true; })");
}

/* Texts of values, read again, give the same bits. */
static void texts_read_back(void **state)
{
    (void)state;
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 2000; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        struct values v = {.any = (int64_t)bits, .label = "\x01\t\"", .path = "/x"};
        memcpy(&v.positive, &bits, sizeof bits);
        if (!(v.positive > 0.0 && v.positive < __DBL_MAX__))
            continue;
        char text[512];
        size_t n = (size_t)snprintf(text, sizeof text, "any = ");
        n += (size_t)settings_format(&table[2], &v, text + n, sizeof text - n);
        n += (size_t)snprintf(text + n, sizeof text - n, "; positive = ");
        n += (size_t)settings_format(&table[4], &v, text + n, sizeof text - n);
        n += (size_t)snprintf(text + n, sizeof text - n, "; label = ");
        n += (size_t)settings_format(&table[5], &v, text + n, sizeof text - n);
        struct bound b = bind(text);
        assert_no_errors(b.d);
        assert_true(b.v.any == v.any);
        assert_memory_equal(&b.v.positive, &v.positive, sizeof v.positive);
        assert_string_equal(b.v.label, v.label);
        done(&b);
    }
}

static void help_is_aligned(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    settings_describe(table, N, sizeof(osafl_param), f);
    assert_int_equal(fclose(f), 0);
    assert_string_equal(text, "  flag      bool = true                     A flag\n"
                              "  count     int [1, 1000] = 3               Some count [clients]\n"
                              "  any       int = -1                        Any integer\n"
                              "  share     real [0, 0.5) = 0.1             Half open\n"
                              "  positive  real > 0 = 2.0                  Above zero [s]\n"
                              "  label     text = \"none\"                   A label\n"
                              "  path      path = \"/data\"                  A file\n"
                              "  mode      one of \"keep\", \"fail\" = \"fail\"  What to do\n"
                              "  span      range [0, 1] = [0.25, 0.75]     A span\n"
                              "  list      reals (0, 10] = []              Numbers\n"
                              "  size      int [1, 100] or \"all\", \"half\" = \"all\"\n"
                              "                                            A number or a word\n"
                              "  steps     rows [0, 3] = ()                Some steps\n"
                              "    length  int [1, 9], required  How long\n"
                              "    rate    real [0, 1] = 0.5     How fast\n"
                              "    label   text = \"\"             What for\n"
                              "    last    bool = false          Whether it ends here\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_fill_what_is_not_set),
        cmocka_unit_test(values_replace_defaults),
        cmocka_unit_test(bounds_are_open_or_closed),
        cmocka_unit_test(types_are_not_converted),
        cmocka_unit_test(rows_are_structs_of_their_own),
        cmocka_unit_test(errors_in_rows_name_row_and_key),
        cmocka_unit_test(rows_come_from_the_command_line_too),
        cmocka_unit_test(words_may_stand_for_numbers),
        cmocka_unit_test(unknown_keys_are_all_told),
        cmocka_unit_test(keys_of_other_groups_are_suggested),
        cmocka_unit_test(required_settings_must_be_set),
        cmocka_unit_test(a_group_must_be_a_group),
        cmocka_unit_test(replaced_values_are_checked_too),
        cmocka_unit_test(a_scalar_of_the_command_line_may_be_a_text),
        cmocka_unit_test(relative_paths_are_against_the_files_folder),
        cmocka_unit_test(texts_are_canonical),
        cmocka_unit_test(texts_read_back),
        cmocka_unit_test(help_is_aligned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
