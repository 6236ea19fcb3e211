/* test_experiment_tree.c - reading of experiment files: each trap of libconfig 1.5, places of
 * values and errors also in included files, values from the command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/diagnostics.h"
#include "expected_errors.h"
#include "experiment/experiment_tree.h"
#include "experiment/prescan.h"

struct reading {
    struct diagnostics *d;
    struct experiment_tree *tree;
};

static struct reading read_bytes(const char *text, size_t n)
{
    struct reading r = {.d = diagnostics_create()};
    assert_non_null(r.d);
    r.tree = tree_read_text(text, n, "x.cfg", r.d);
    assert_true((r.tree != NULL) == (diagnostics_errors(r.d) == 0));
    return r;
}

static struct reading read_text(const char *text)
{
    return read_bytes(text, strlen(text));
}

static void done(struct reading *r)
{
    tree_destroy(r->tree);
    diagnostics_destroy(r->d);
}

static const struct node *child(const struct reading *r, const char *name)
{
    const struct node *n = node_child(tree_root(r->tree), name);
    assert_non_null(n);
    return n;
}

static void expect_integer(const char *written, int64_t value)
{
    char text[128];
    snprintf(text, sizeof text, "a = %s;", written);
    struct reading r = read_text(text);
    assert_no_errors(r.d);
    assert_int_equal(child(&r, "a")->type, NODE_INT);
    assert_true(child(&r, "a")->value.integer == value);
    done(&r);
}

static void expect_real(const char *written, double value)
{
    char text[1024];
    snprintf(text, sizeof text, "a = %s;", written);
    struct reading r = read_text(text);
    assert_no_errors(r.d);
    assert_int_equal(child(&r, "a")->type, NODE_REAL);
    assert_memory_equal(&child(&r, "a")->value.real, &value, sizeof value);
    done(&r);
}

static void expect_error(const char *text, const char *error)
{
    struct reading r = read_text(text);
    ASSERT_ERRORS(r.d, error);
    done(&r);
}

static void integers_have_64_bits(void **state)
{
    (void)state;
    expect_integer("0", 0);
    expect_integer("-7", -7);
    expect_integer("+7", 7);
    expect_integer("2147483648", INT64_C(2147483648));
    expect_integer("4294967296", INT64_C(4294967296));
    expect_integer("5000000000L", INT64_C(5000000000));
    expect_integer("5000000000LL", INT64_C(5000000000));
    expect_integer("9223372036854775807", INT64_MAX);
    expect_integer("-9223372036854775808", INT64_MIN);
    expect_integer("0xFFFFFFFF", INT64_C(4294967295));
    expect_integer("0x7fffffffffffffff", INT64_MAX);
    expect_integer("010", 10); /* decimal, as libconfig has it */
    expect_error("a = 9223372036854775808;", "x.cfg:1: 9223372036854775808 does not fit 64 bits");
    expect_error("a = 9223372036854775808L;", "x.cfg:1: 9223372036854775808L does not fit 64 bits");
    expect_error("a = 99999999999999999999;", "x.cfg:1: 99999999999999999999 does not fit 64 bits");
    expect_error("a = 0x8000000000000000;", "x.cfg:1: 0x8000000000000000 does not fit 64 bits");
}

static void reals_are_finite_and_exact(void **state)
{
    (void)state;
    expect_real("0.1", 0.1);
    expect_real("-.5", -0.5);
    expect_real("1.", 1.0);
    expect_real("1e5", 1e5);
    expect_real("+2E-3", 2e-3);
    expect_real("4.9406564584124654e-324", 4.9406564584124654e-324);
    expect_real("1.7976931348623157e308", 1.7976931348623157e308);
    expect_real("0.1000000000000000055511151231257827", 0.1);
    expect_real("0e9", 0.0);
    expect_error("a = 1e400;", "x.cfg:1: 1e400 is too large");
    expect_error("a = -1e309;", "x.cfg:1: -1e309 is too large");
    expect_error("a = 1e-400;", "x.cfg:1: 1e-400 is too small");
    expect_error("a = nan;", "x.cfg:1: nan: numbers must be finite");
    expect_error("a = [1.0, Infinity];", "x.cfg:1: Infinity: numbers must be finite");
    expect_error("a = -inf;", "x.cfg:1: -inf is not a number"); /* a sign begins a number */
}

static void what_is_no_number_is_refused(void **state)
{
    (void)state;
    expect_error("a = 0b101;", "x.cfg:1: 0b101 is not a number");
    expect_error("a = 0o17;", "x.cfg:1: 0o17 is not a number");
    expect_error("a = 0x;", "x.cfg:1: 0x is not a number");
    expect_error("a = -0x10;", "x.cfg:1: -0x10 is not a number");
    expect_error("a = .;", "x.cfg:1: . is not a number");
    expect_error("a = 1.5e;", "x.cfg:1: 1.5e is not a number");
    expect_error("a = 1.2.3;", "x.cfg:1: 1.2.3 is not a number");
    expect_error("a = 12b;", "x.cfg:1: 12b is not a number");
    expect_error("a = 1_000;", "x.cfg:1: 1_000 is not a number");
    char digits[700];
    memset(digits, '1', sizeof digits);
    memcpy(digits, "a = ", 4);
    digits[sizeof digits - 1] = '\0';
    expect_error(digits, "x.cfg:1: a number with 695 digits");
}

static void unclosed_things_are_found_where_they_begin(void **state)
{
    (void)state;
    expect_error("a = 1; /* no end\nb = 2;\n", "x.cfg:1: the comment that begins here");
    expect_error("a = 1;\nb = \"open;\nc = 2;\n", "x.cfg:2: the text that begins here");
    expect_error("a = [1,,2];", "x.cfg:1: a value is missing before ,");
    expect_error("a = 1;\nb: {\n c = 2;\n", "x.cfg:2: the { here is not closed");
    expect_error("a = [1,\n2;\n", "x.cfg:1: the [ here is not closed");
    expect_error("a = 1;\n};\n", "x.cfg:2: } closes nothing");
    expect_error("a = (1, 2];\n", "x.cfg:1: ] where ) must close the ( of line 1");
}

static void comments_and_texts_hide_what_they_hold(void **state)
{
    (void)state;
    struct reading r = read_text("a = \"/* # // 1e400 { \"; # } 1e400 \"\n"
                                 "b = 2; // \" 99999999999999999999\n"
                                 "/* c = 1e400;\n\" */ c = 3; /**/ d = \"a\" \"b\\x41\\n\";\n");
    assert_no_errors(r.d);
    assert_string_equal(child(&r, "a")->value.text, "/* # // 1e400 { ");
    assert_int_equal(child(&r, "b")->line, 2);
    assert_int_equal(child(&r, "c")->line, 4);
    assert_string_equal(child(&r, "d")->value.text, "abA\n");
    done(&r);
}

static void encodings_other_than_utf8_are_refused(void **state)
{
    (void)state;
    expect_error("\xEF\xBB\xBF"
                 "a = 1;",
                 "x.cfg:1: the file begins with a byte order mark");
    expect_error("\xFF\xFE"
                 "a = 1;",
                 "x.cfg:1: the byte 0xff is not UTF-8");
    expect_error("a = 1;\nb = \"\xE9\";", "x.cfg:2: the byte 0xe9 is not UTF-8");
    expect_error("a = \"\xC3\";", "x.cfg:1: the byte 0xc3 is not UTF-8");
    expect_error("a = \"\\xE9\";", "x.cfg:1: \\xE9: only \\x01 to \\x7f");
    expect_error("a = \"\\x00\";", "x.cfg:1: \\x00: only \\x01 to \\x7f");
    expect_error("a = \"\\q\";", "x.cfg:1: unknown escape");
    struct reading r = read_bytes("a = 1;\n\0b = 2;", 14);
    ASSERT_ERRORS(r.d, "x.cfg:2: unexpected control character (code 0)");
    done(&r);
    r = read_bytes("a = \"b\0c\";", 10);
    ASSERT_ERRORS(r.d, "x.cfg:1: a control character (code 0) in a text");
    done(&r);
    r = read_text("a = \"\xCE\xBA \xF0\x9F\x8C\x8D\";");
    assert_no_errors(r.d);
    assert_string_equal(child(&r, "a")->value.text, "\xCE\xBA \xF0\x9F\x8C\x8D");
    done(&r);
    assert_int_equal(utf8_valid_bytes("ab\xED\xA0\x80", 5), 2); /* a surrogate */
    assert_int_equal(utf8_valid_bytes("\xC0\x80", 2), 0);       /* an overlong zero */
    assert_int_equal(utf8_valid_bytes("\xF4\x90\x80\x80", 4), 0);
}

static void lists_may_mix_and_end_with_a_comma(void **state)
{
    (void)state;
    struct reading r =
        read_text("a = [1, 2.0, 3000000000];\nb = [1, 2,];\nc = (1, \"x\", { d = 4; },\n"
                  ");\ne = [];");
    assert_no_errors(r.d);
    const struct node *a = child(&r, "a");
    assert_int_equal(a->type, NODE_LIST);
    assert_int_equal(a->first->type, NODE_INT);
    assert_int_equal(a->first->next->type, NODE_REAL);
    assert_true(a->last->value.integer == INT64_C(3000000000));
    assert_true(child(&r, "b")->first->next == child(&r, "b")->last);
    assert_int_equal(node_child(child(&r, "c")->last, "d")->value.integer, 4);
    assert_null(child(&r, "e")->first);
    done(&r);
    expect_error("a = [1 2];", "x.cfg:1: a comma is missing");
    expect_error("a = [1, (2)];", "x.cfg:1: an array [ ] holds plain values only");
    expect_error("a = [{ b = 1; }];", "x.cfg:1: an array [ ] holds plain values only");
    expect_error("a = [,];", "x.cfg:1: a value is missing before ,");
}

static void errors_of_the_grammar_are_explained(void **state)
{
    (void)state;
    expect_error("a = b;", "x.cfg:1: text must be in double quotes: \"b\"");
    expect_error("a = ;", "x.cfg:1: a value is missing before ;");
    expect_error("g: { a = };", "x.cfg:1: a value is missing before }");
    expect_error("\"alone\"", "x.cfg:1: a value without a name");
    expect_error("a = 3; \"abc\";", "x.cfg:1: a value without a name");
    expect_error("= 3;", "x.cfg:1: = without a name before it");
    expect_error("{ a = 1; }", "x.cfg:1: { without \"name =\" before it");
    expect_error("a = 1;\n\xE2\x80\x9C", "x.cfg:2: unexpected character \xE2\x80\x9C");
    expect_error("a = 1;\n  a = 2;\n", "x.cfg:2: a is set twice, before in x.cfg:1; a file of");
    expect_error("g: {\n a = 1;\n b: { a = 2; };\n a = 3; };\n",
                 "x.cfg:4: a is set twice, before in x.cfg:2");
    expect_error("a = 1;\ng: { b = 2; };\ng: { b = 3; };\n",
                 "x.cfg:3: g is set twice, before in x.cfg:2");
    expect_error("g: { a = 1; a = 2; };\n", "x.cfg:1: duplicate setting name: g: { a = 1");
    expect_error("a = 1;\nb c = 2;\n", "x.cfg:2: syntax error: b c = 2;");
    expect_error("a = 1;\nb", "x.cfg:2: syntax error: b");
}

static void many_errors_are_told_at_once(void **state)
{
    (void)state;
    struct reading r = read_text("a = \"ends with \\");
    ASSERT_ERRORS(r.d, "x.cfg:1: unknown escape", "x.cfg:1: the text that begins here");
    done(&r);
    r = read_text("a = 1e400;\nb = 0b1;\nc = foo;\n\nd = \"open\ne = \"\\q\";\n");
    ASSERT_ERRORS(r.d, "x.cfg:1: 1e400", "x.cfg:2: 0b1", "x.cfg:3: text must", "x.cfg:5: the text",
                  "x.cfg:6: unknown escape");
    done(&r);
}

static void size_and_depth_are_bounded(void **state)
{
    (void)state;
    const size_t size = PRESCAN_MAX_BYTES + 1;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, '\n', size);
    struct reading r = read_bytes(text, size);
    ASSERT_ERRORS(r.d, "x.cfg: the experiment is larger than 1 MiB");
    done(&r);
    memset(text, '(', 1000000);
    memcpy(text, "a =", 3);
    r = read_bytes(text, 1000000);
    ASSERT_ERRORS(r.d, "x.cfg:1: groups and lists are nested more than 32 deep");
    done(&r);
    size_t n = 0;
    for (int i = 0; i < 5000; i++)
        n += (size_t)snprintf(text + n, size - n, "a%d = 1;\n", i);
    r = read_bytes(text, n);
    ASSERT_ERRORS(r.d, "x.cfg:4097: more than 4096 settings");
    done(&r);
    memset(text, 'a', 70);
    memcpy(text + 64, " = 1;\n", 6);
    r = read_bytes(text, 70);
    assert_no_errors(r.d);
    done(&r);
    memcpy(text + 64, "a = 1;", 6);
    r = read_bytes(text, 70);
    ASSERT_ERRORS(r.d, "x.cfg:1: a name of 65 bytes; no setting has one of more than 64");
    done(&r);
    free(text);
}

static void separators_are_optional_as_in_libconfig(void **state)
{
    (void)state;
    struct reading r = read_text("a = 1 b : 2, c = true\r\ng { }");
    ASSERT_ERRORS(r.d, "x.cfg:2: { without");
    done(&r);
    r = read_text("a = 1 b : 2, c = TRUE\r\ng: { d = FALSE }");
    assert_no_errors(r.d);
    assert_int_equal(child(&r, "b")->value.integer, 2);
    assert_true(child(&r, "c")->value.boolean);
    assert_false(node_child(child(&r, "g"), "d")->value.boolean);
    done(&r);
    r = read_text("");
    assert_no_errors(r.d);
    assert_null(tree_root(r.tree)->first);
    done(&r);
}

/* ---- files ---- */

static char folder[] = "/tmp/osafl-tree-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static struct reading read_file(const char *name)
{
    char path[256];
    struct reading r = {.d = diagnostics_create()};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    r.tree = tree_read_file(path, r.d);
    return r;
}

static void expect_file_error(const char *name, const char *error)
{
    char line[512];
    struct reading r = read_file(name);
    snprintf(line, sizeof line, "%s/%s", folder, error);
    ASSERT_ERRORS(r.d, line);
    done(&r);
}

static void included_files_keep_their_places(void **state)
{
    (void)state;
    write_file("main.cfg", "a = 1;\n"
                           "clients: {\n"
                           "  @include \"sub/clients.cfg\"\n"
                           "  z = 5;\n"
                           "};\n"
                           "@include \"sub/deep.cfg\" b = 2;\n"
                           "c = 3;\n");
    write_file("sub/clients.cfg", "# seeds\nseed = 4294967296;");
    write_file("sub/deep.cfg", "@include \"deeper.cfg\"\ne = 7;\n");
    write_file("sub/deeper.cfg", "\n\nd = 6;\n");
    struct reading r = read_file("main.cfg");
    assert_no_errors(r.d);
    char path[256];
    snprintf(path, sizeof path, "%s/sub/clients.cfg", folder);
    const struct node *seed = node_child(child(&r, "clients"), "seed");
    assert_true(seed->value.integer == INT64_C(4294967296));
    assert_string_equal(seed->file, path);
    assert_int_equal(seed->line, 2);
    assert_int_equal(node_child(child(&r, "clients"), "z")->line, 4);
    assert_int_equal(child(&r, "b")->line, 6);
    assert_int_equal(child(&r, "c")->line, 7);
    assert_int_equal(child(&r, "d")->line, 3);
    assert_int_equal(child(&r, "e")->line, 2);
    snprintf(path, sizeof path, "%s/sub/deeper.cfg", folder);
    assert_string_equal(child(&r, "d")->file, path);
    done(&r);
}

static void errors_of_included_files_name_them(void **state)
{
    (void)state;
    write_file("main.cfg", "a = 1;\n@include \"sub/bad.cfg\"\nb = 1e999;\n");
    write_file("sub/bad.cfg", "\nc = 1e400;\n/* open");
    char first[256];
    char second[256];
    char third[256];
    snprintf(first, sizeof first, "%s/sub/bad.cfg:2: 1e400", folder);
    snprintf(second, sizeof second, "%s/sub/bad.cfg:3: the comment", folder);
    snprintf(third, sizeof third, "%s/main.cfg:3: 1e999", folder);
    struct reading r = read_file("main.cfg");
    ASSERT_ERRORS(r.d, first, second, third);
    done(&r);
    write_file("sub/bad.cfg", "c = 1;\n\nx y = 3;\n");
    write_file("main.cfg", "a = 1;\n\n\n@include \"sub/bad.cfg\"\n");
    expect_file_error("main.cfg", "sub/bad.cfg:3: syntax error: x y = 3;");
    write_file("sub/bad.cfg", "\n\na = 3;\n");
    expect_file_error("main.cfg", "sub/bad.cfg:3: a is set twice, before in ");
    write_file("sub/bad.cfg", "c = 3;\n");
    write_file("main.cfg", "a = 1;\n@include \"sub/bad.cfg\";\n");
    expect_file_error("main.cfg", "main.cfg:2: no ; stands behind @include \"FILE\"");
    write_file("main.cfg", "a = 1;\n\n\n@include \"sub/bad.cfg\"\n");
    write_file("sub/bad.cfg", "g: {\n");
    expect_file_error("main.cfg", "sub/bad.cfg:1: the { here is not closed");
    write_file("sub/bad.cfg", "\xEF\xBB\xBF");
    expect_file_error("main.cfg", "sub/bad.cfg:1: the file begins with a byte order mark");
}

static void includes_that_cannot_be_read_are_errors(void **state)
{
    (void)state;
    char line[512];
    write_file("main.cfg", "a = 1;\n@include \"none.cfg\"\n");
    snprintf(line, sizeof line, "main.cfg:2: cannot include \"%s/none.cfg\": No such file", folder);
    expect_file_error("main.cfg", line);
    write_file("main.cfg", "@include \"sub\"\n");
    snprintf(line, sizeof line, "main.cfg:1: cannot include \"%s/sub\": not a regular", folder);
    expect_file_error("main.cfg", line);
    write_file("main.cfg", "a = 1; @include \"b.cfg\"\n");
    write_file("b.cfg", "");
    expect_file_error("main.cfg", "main.cfg:1: @include must begin its line");
    write_file("main.cfg", "@incl \"b.cfg\"\n");
    expect_file_error("main.cfg", "main.cfg:1: after @ only @include \"FILE\" is known");
    write_file("main.cfg", "@include \"b.cfg\n\"\n");
    struct reading r = read_file("main.cfg");
    assert_true(diagnostics_errors(r.d) > 0);
    done(&r);
    write_file("main.cfg", "@include \"main.cfg\"\n");
    expect_file_error("main.cfg", "main.cfg:1: files are included more than 10 deep");
    /* Doubling at every level would be 2^10 readings. */
    write_file("main.cfg", "@include \"main.cfg\"\n@include \"main.cfg\"\n");
    r = read_file("main.cfg");
    assert_true(diagnostics_errors(r.d) > 0);
    done(&r);
}

static void files_that_are_none_are_refused(void **state)
{
    (void)state;
    char path[256];
    expect_file_error("nothing.cfg", "nothing.cfg: cannot be read: No such file");
    expect_file_error("sub", "sub: cannot be read: not a regular file");
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_file_error("pipe", "pipe: cannot be read: not a regular file");
}

/* ---- --set and overlays ---- */

static bool set(struct reading *r, const char *assignment)
{
    return tree_set(r->tree, PLACE_SET, assignment, r->d);
}

static void set_replaces_and_adds(void **state)
{
    (void)state;
    struct reading r = read_text("a = 1;\ng: { b = 2; };\nc = 3;\n");
    assert_true(set(&r, "a=5000000000"));
    assert_true(set(&r, "g.b=0.5"));
    assert_true(set(&r, "g.h.i=true"));
    assert_true(set(&r, "p.plugin=fedavg"));
    assert_true(set(&r, "p.path=../data/x=y"));
    assert_true(set(&r, "p.quoted=\"3\""));
    assert_true(set(&r, "p.two=2nd"));
    assert_true(set(&r, "l=[1, 2.5]"));
    assert_no_errors(r.d);
    const struct node *a = child(&r, "a");
    assert_true(a->value.integer == INT64_C(5000000000));
    assert_string_equal(a->file, PLACE_SET);
    assert_int_equal(a->line, 0);
    assert_int_equal(a->under->value.integer, 1);
    assert_ptr_equal(tree_root(r.tree)->first, a); /* the place in the order stays */
    assert_int_equal(node_child(child(&r, "g"), "b")->type, NODE_REAL);
    assert_true(node_child(node_child(child(&r, "g"), "h"), "i")->value.boolean);
    const struct node *p = child(&r, "p");
    assert_string_equal(node_child(p, "plugin")->value.text, "fedavg");
    assert_string_equal(node_child(p, "path")->value.text, "../data/x=y");
    assert_string_equal(node_child(p, "quoted")->value.text, "3");
    assert_string_equal(node_child(p, "two")->value.text, "2nd");
    assert_int_equal(child(&r, "l")->last->type, NODE_REAL);
    assert_string_equal(child(&r, "l")->last->file, PLACE_SET);
    done(&r);
}

static void expect_set_complaint(const char *assignment, const char *error)
{
    struct reading r = read_text("a = 1;\ng: { b = 2; };\n");
    assert_false(set(&r, assignment));
    ASSERT_ERRORS(r.d, error);
    done(&r);
}

/* The second time the message is there already, and nothing must look as if it had worked. */
static void set_refuses_the_same_again(void **state)
{
    (void)state;
    struct reading r = read_text("a = 1;\n");
    assert_false(set(&r, "a=\"\xff\""));
    assert_false(set(&r, "a=\"\xff\""));
    assert_false(set(&r, "a=("));
    assert_false(set(&r, "a=("));
    done(&r);
}

static void set_refuses_what_is_no_assignment(void **state)
{
    (void)state;
    expect_set_complaint("a", "--set: \"a\" is not of the form key.path=value");
    expect_set_complaint("=3", "--set: \"=3\" is not of the form");
    expect_set_complaint(".a=3", "--set: \".a=3\" is not of the form");
    expect_set_complaint("a.=3", "--set: \"a.=3\" is not of the form");
    expect_set_complaint("a..b=3", "--set: \"a..b=3\" is not of the form");
    expect_set_complaint("a b=3", "--set: \"a b=3\" is not of the form");
    expect_set_complaint("a=", "--set: a: a value is missing");
    expect_set_complaint("a.b=3", "--set: a is a whole number and holds no settings");
    expect_set_complaint("a={b=1;}", "--set: a: set the settings of a group one by one");
    expect_set_complaint("a=\"x\"; b = 3", "--set a: more than one value");
    expect_set_complaint("a=1e400", "--set a:1: 1e400 is too large");
    expect_set_complaint("a=99999999999999999999", "--set a:1: 99999999999999999999 does not fit");
    expect_set_complaint("a=[1", "--set a:1: the [ here is not closed");
    expect_set_complaint("a=\"x", "--set a:1: the text that begins here is not closed");
    expect_set_complaint("a=\xFF", "--set: a: the value is not UTF-8");
}

static void overlays_merge_groups(void **state)
{
    (void)state;
    struct reading r = read_text("g: { a = 1; h: { b = 2; }; };\n"
                                 "over: { name = \"x\"; g: { a = 3; h: { c = 4; }; }; d = 5; };\n");
    struct experiment_tree *t = tree_copy(r.tree);
    assert_non_null(t);
    static const char *const except[] = {"name", NULL};
    assert_true(tree_overlay(t, child(&r, "over"), except, "case \"x\""));
    done(&r); /* the copy shares nothing with it */
    const struct node *root = tree_root(t);
    const struct node *g = node_child(root, "g");
    assert_int_equal(node_child(g, "a")->value.integer, 3);
    assert_string_equal(node_child(g, "a")->layer, "case \"x\"");
    assert_int_equal(node_child(g, "a")->line, 2);
    assert_int_equal(node_child(g, "a")->under->value.integer, 1);
    assert_null(node_child(g, "a")->under->layer);
    assert_int_equal(node_child(node_child(g, "h"), "b")->value.integer, 2);
    assert_int_equal(node_child(node_child(g, "h"), "c")->value.integer, 4);
    assert_int_equal(node_child(root, "d")->value.integer, 5);
    assert_null(node_child(root, "name"));
    tree_destroy(t);
}

static int make_folder(void **state)
{
    (void)state;
    char sub[64];
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(sub, sizeof sub, "%s/sub", folder);
    return mkdir(sub, 0700);
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_have_64_bits),
        cmocka_unit_test(reals_are_finite_and_exact),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(unclosed_things_are_found_where_they_begin),
        cmocka_unit_test(comments_and_texts_hide_what_they_hold),
        cmocka_unit_test(encodings_other_than_utf8_are_refused),
        cmocka_unit_test(lists_may_mix_and_end_with_a_comma),
        cmocka_unit_test(errors_of_the_grammar_are_explained),
        cmocka_unit_test(many_errors_are_told_at_once),
        cmocka_unit_test(size_and_depth_are_bounded),
        cmocka_unit_test(separators_are_optional_as_in_libconfig),
        cmocka_unit_test(included_files_keep_their_places),
        cmocka_unit_test(errors_of_included_files_name_them),
        cmocka_unit_test(includes_that_cannot_be_read_are_errors),
        cmocka_unit_test(files_that_are_none_are_refused),
        cmocka_unit_test(set_replaces_and_adds),
        cmocka_unit_test(set_refuses_what_is_no_assignment),
        cmocka_unit_test(set_refuses_the_same_again),
        cmocka_unit_test(overlays_merge_groups),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
