/* test_loader.c - which file is loaded for a name, and why one is refused.
 *
 * The plugins that break rules are those of tests/conformance/bad. */
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/diagnostics.h"
#include "plugin/loader.h"
#include "plugin/plugin_file.h"
#include "plugin/plugin_path.h"
#include "plugin_fixture.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Everything that was said, as the user would see it. */
static char said[32768];

static void take_words(struct diagnostics *d)
{
    memset(said, 0, sizeof said);
    FILE *to = fmemopen(said, sizeof said - 1, "w");
    assert_non_null(to);
    diagnostics_print(d, to);
    fclose(to);
}

static void expect_said(const char *text)
{
    if (strstr(said, text) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", said, text);
}

/* Loads a deletion plugin from one folder; what was said is in `said`. */
static const struct loaded_plugin *load_from(const char *folder, const char *name)
{
    struct diagnostics *d = diagnostics_create();
    struct loader *l = loader_create(&folder, 1, d);
    const struct loaded_plugin *p = NULL;
    if (l != NULL)
        p = loader_load(l, OSAFL_KIND_DELETION, name, d, "some.cfg", 12);
    assert_int_equal(diagnostics_errors(d), p == NULL ? 1 : 0);
    take_words(d);
    loader_destroy(l);
    diagnostics_destroy(d);
    return p;
}

/* ---- a folder of our own ------------------------------------------------------------------- */

struct playground {
    char root[256];
    char kind[300]; /* ROOT/deletion */
};

static void copy_file(const char *from, const char *to, size_t most)
{
    FILE *in = fopen(from, "rb");
    FILE *out = fopen(to, "wb");
    assert_non_null(in);
    assert_non_null(out);
    for (int c = fgetc(in); c != EOF && most > 0; c = fgetc(in), most--)
        fputc(c, out);
    fclose(in);
    fclose(out);
    assert_int_equal(chmod(to, 0755), 0);
}

static size_t file_size(const char *path)
{
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    return (size_t)s.st_size;
}

static const char good_file[] = OSAFL_TEST_BAD_DIR "/deletion/keeps_rules.so";

/* ROOT/deletion/keeps_rules.so, the first `most` bytes of the good file. */
static void make_playground(struct playground *p, size_t most)
{
    snprintf(p->root, sizeof p->root, "/tmp/osafl-loader-XXXXXX");
    assert_non_null(mkdtemp(p->root));
    assert_int_equal(chmod(p->root, 0755), 0);
    snprintf(p->kind, sizeof p->kind, "%s/deletion", p->root);
    assert_int_equal(mkdir(p->kind, 0755), 0);
    char file[400];
    snprintf(file, sizeof file, "%s/keeps_rules.so", p->kind);
    copy_file(good_file, file, most);
}

static void remove_playground(const struct playground *p)
{
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s'", p->root);
    assert_int_equal(system(command), 0);
}

/* ---- finding ------------------------------------------------------------------------------- */

/* Texts of our own plugins are one sentence without a full stop, as the headers ask. */
static void check_text(const char *plugin, const char *text)
{
    const size_t length = strlen(text);
    if (length == 0 || text[length - 1] == '.' || strchr(text, '\n') != NULL)
        fail_msg("%s: \"%s\" is not one sentence without a full stop", plugin, text);
}

static void check_texts(const osafl_plugin *p)
{
    check_text(p->name, p->summary);
    for (uint32_t i = 0; i < p->n_params; i++)
        check_text(p->name, OSAFL_AT(osafl_param, p->params, p->param_size, i)->doc);
    for (uint32_t i = 0; i < p->n_metrics; i++)
        check_text(p->name, OSAFL_AT(osafl_metric, p->metrics, p->metric_size, i)->doc);
}

static void test_every_built_in_plugin_loads(void **state)
{
    (void)state;
    const char *dir = OSAFL_TEST_PLUGIN_DIR;
    struct diagnostics *d = diagnostics_create();
    struct loader *l = loader_create(&dir, 1, d);
    assert_non_null(l);
    size_t seen = 0;
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++) {
        assert_int_equal(kind_from_name(kind_name(kind)), kind);
        struct names names;
        assert_int_equal(loader_names(l, kind, &names), OSAFL_OK);
        for (size_t i = 0; i < names.n; i++) {
            const char *name = names.name[i];
            assert_true(i == 0 || strcmp(names.name[i - 1], name) < 0);
            const struct loaded_plugin *p = loader_load(l, kind, name, d, NULL, 0);
            if (p == NULL)
                diagnostics_print(d, stderr);
            assert_non_null(p);
            assert_string_equal(p->plugin->name, name);
            assert_ptr_equal(loader_load(l, kind, name, d, NULL, 0), p);
            check_texts(p->plugin);
            seen++;
        }
        names_free(&names);
    }
    assert_true(seen > 0);
    assert_null(kind_name(0));
    assert_null(kind_name(LOADER_KINDS + 1));
    assert_int_equal(kind_from_name("nonsense"), 0);
    loader_destroy(l);
    diagnostics_destroy(d);
}

static void hash_at_once(const char *path, char hash[PLUGIN_HASH_BYTES])
{
    const size_t size = file_size(path);
    unsigned char *data = malloc(size);
    FILE *in = fopen(path, "rb");
    assert_int_equal(fread(data, 1, size, in), size);
    fclose(in);
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, size));
    for (size_t i = 0; i < 16; i++)
        snprintf(hash + 2 * i, 3, "%02x", canonical.digest[i]);
    free(data);
}

static void test_path_and_hash(void **state)
{
    (void)state;
    const struct loaded_plugin *p = load_from(OSAFL_TEST_BAD_DIR, "keeps_rules");
    assert_non_null(p);
    char real[PLUGIN_PATH_BYTES];
    assert_non_null(realpath(good_file, real));
    assert_string_equal(p->path, real);

    char hash[PLUGIN_HASH_BYTES];
    hash_at_once(good_file, hash);
    assert_string_equal(p->hash, hash);
}

/* A file of many blocks has the hash of all its bytes. */
static void test_hash_of_any_file(void **state)
{
    (void)state;
    struct error error = {0};
    char hash[PLUGIN_HASH_BYTES];
    char expected[PLUGIN_HASH_BYTES];
    assert_true(file_size("/proc/self/exe") > 2 * 65536);
    hash_at_once("/proc/self/exe", expected);
    assert_int_equal(file_hash("/proc/self/exe", hash, &error), OSAFL_OK);
    assert_string_equal(hash, expected);
    assert_int_equal(file_hash(good_file, hash, &error), OSAFL_OK);
    hash_at_once(good_file, expected);
    assert_string_equal(hash, expected);

    struct playground mine;
    make_playground(&mine, 0);
    char file[400];
    snprintf(file, sizeof file, "%s/keeps_rules.so", mine.kind);
    assert_int_equal(file_hash(file, hash, &error), OSAFL_E_IO);
    assert_string_equal(error.text, "is empty");
    assert_int_equal(file_hash(mine.kind, hash, &error), OSAFL_E_IO);
    assert_string_equal(error.text, "is not a regular file");
    remove_playground(&mine);
    assert_int_equal(file_hash(file, hash, &error), OSAFL_E_IO);
    assert_string_equal(error.text, "cannot be read: No such file or directory");
}

static void test_missing_plugin(void **state)
{
    (void)state;
    assert_null(load_from(OSAFL_TEST_BAD_DIR, "keep_rules"));
    expect_said("some.cfg:12: ");
    expect_said("no deletion plugin is called \"keep_rules\"");
    expect_said("did you mean \"keeps_rules\"?");
    expect_said("other_kind");
    expect_said("deletion/keep_rules.so in " OSAFL_TEST_BAD_DIR " (--plugin-dir), ");
    assert_null(load_from(OSAFL_TEST_BAD_DIR, "xyzzyx"));
    assert_null(strstr(said, "did you mean"));
    assert_null(strstr(said, "give --plugin-dir"));
}

/* Beginners give the folder of the build, or that of the kind. */
static void test_folder_beside_the_right_one(void **state)
{
    (void)state;
    assert_null(load_from(OSAFL_TEST_BAD_DIR "/deletion", "keeps_rules"));
    expect_said("it lies elsewhere: give --plugin-dir " OSAFL_TEST_BAD_DIR);
    char build[] = "/tmp/osafl-build-XXXXXX";
    char link[64];
    char target[64];
    assert_non_null(mkdtemp(build));
    snprintf(link, sizeof link, "%s/plugins", build);
    assert_int_equal(symlink(OSAFL_TEST_BAD_DIR, link), 0);
    snprintf(target, sizeof target, "%s", build);
    assert_null(load_from(target, "keeps_rules"));
    expect_said("it lies elsewhere: give --plugin-dir " OSAFL_TEST_BAD_DIR);
    unlink(link);
    rmdir(build);
}

static void test_names_are_no_paths(void **state)
{
    (void)state;
    static const char *const names[] = {"",
                                        "../deletion/keeps_rules",
                                        "/etc/passwd",
                                        "keeps_rules.so",
                                        "Keeps",
                                        "1st",
                                        "a-b",
                                        "a b",
                                        "a123456789b123456789c123456789d123456789e12345678"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_null(load_from(OSAFL_TEST_BAD_DIR, names[i]));
        expect_said("is not a plugin name");
    }
    assert_true(plugin_name_is_valid("a123456789b123456789c123456789d123456789e1234567"));
}

static void test_first_folder_wins(void **state)
{
    (void)state;
    struct playground mine;
    make_playground(&mine, SIZE_MAX);
    const char *const dirs[] = {mine.root, OSAFL_TEST_BAD_DIR};
    struct diagnostics *d = diagnostics_create();
    struct loader *l = loader_create(dirs, 2, d);
    const struct loaded_plugin *p = loader_load(l, OSAFL_KIND_DELETION, "keeps_rules", d, NULL, 0);
    assert_non_null(p);
    assert_int_equal(strncmp(p->path, mine.root, strlen(mine.root)), 0);
    struct names names;
    size_t found = 0;
    assert_int_equal(loader_names(l, OSAFL_KIND_DELETION, &names), OSAFL_OK);
    for (size_t i = 0; i < names.n; i++)
        found += strcmp(names.name[i], "keeps_rules") == 0 ? 1 : 0;
    assert_int_equal(found, 1);
    names_free(&names);
    loader_destroy(l);
    diagnostics_destroy(d);
    remove_playground(&mine);
}

/* A loader that cannot be made; the reason is in `said`. */
static void expect_no_loader(const char *dir, const char *text)
{
    struct diagnostics *d = diagnostics_create();
    assert_null(loader_create(&dir, dir != NULL ? 1 : 0, d));
    assert_int_equal(diagnostics_errors(d), 1);
    take_words(d);
    expect_said(text);
    diagnostics_destroy(d);
}

static void test_search_path(void **state)
{
    (void)state;
    expect_no_loader("/nowhere/at/all", "--plugin-dir /nowhere/at/all: No such file");
    expect_no_loader("/etc/passwd", "is not a folder");
    setenv("OSAFL_PLUGIN_PATH", "relative/folder", 1);
    expect_no_loader(NULL, "OSAFL_PLUGIN_PATH holds \"relative/folder\"");
    setenv("OSAFL_PLUGIN_PATH", "/usr/lib::/opt", 1); /* an empty folder would be the present one */
    expect_no_loader(NULL, "OSAFL_PLUGIN_PATH holds \"\"");

    struct playground mine;
    make_playground(&mine, SIZE_MAX);
    char list[600];
    snprintf(list, sizeof list, "/nowhere:%s", mine.root);
    setenv("OSAFL_PLUGIN_PATH", list, 1);
    struct diagnostics *d = diagnostics_create();
    struct loader *l = loader_create(NULL, 0, d);
    const struct loaded_plugin *p = loader_load(l, OSAFL_KIND_DELETION, "keeps_rules", d, NULL, 0);
    assert_non_null(p);
    assert_int_equal(strncmp(p->path, mine.root, strlen(mine.root)), 0);
    loader_destroy(l);
    diagnostics_destroy(d);
    unsetenv("OSAFL_PLUGIN_PATH");
    remove_playground(&mine);
}

/* ---- files --------------------------------------------------------------------------------- */

static void test_writable_by_everyone(void **state)
{
    (void)state;
    struct playground mine;
    make_playground(&mine, SIZE_MAX);
    char file[400];
    snprintf(file, sizeof file, "%s/keeps_rules.so", mine.kind);
    const char *const places[] = {file, mine.kind, mine.root};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(chmod(places[i], 0757), 0);
        assert_null(load_from(mine.root, "keeps_rules"));
        expect_said("is writable by everyone; make it safe with: chmod o-w");
        expect_said(places[i]);
        assert_int_equal(chmod(places[i], 0755), 0);
    }
    assert_non_null(load_from(mine.root, "keeps_rules"));
    assert_string_equal(said, "");
    remove_playground(&mine);
}

/* A link to a file that is gone is not passed over: the next folder's plugin would take its place
 * unseen. */
static void test_broken_link(void **state)
{
    (void)state;
    struct playground mine;
    make_playground(&mine, SIZE_MAX);
    char file[400];
    snprintf(file, sizeof file, "%s/keeps_rules.so", mine.kind);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(symlink("/nowhere/keeps_rules.so", file), 0);
    assert_null(load_from(mine.root, "keeps_rules"));
    expect_said("cannot be examined: No such file");
    expect_said(file);
    remove_playground(&mine);
}

static void test_other_owner(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("only root can give files away: skipped\n");
        skip();
    }
    struct playground mine;
    make_playground(&mine, SIZE_MAX);
    char file[400];
    snprintf(file, sizeof file, "%s/keeps_rules.so", mine.kind);
    assert_int_equal(chown(file, 54321, 54321), 0);
    assert_null(load_from(mine.root, "keeps_rules"));
    expect_said("belongs to user 54321");
    /* A group of several people is worth a warning, no more. */
    assert_int_equal(chown(file, 0, 54321), 0);
    assert_int_equal(chmod(file, 0775), 0);
    assert_non_null(load_from(mine.root, "keeps_rules"));
    expect_said("a whole group, or a user of its access list, may write");
    remove_playground(&mine);
}

/* An access list lets a user write whose group would not; the bits of the group then are its mask.
 */
static void test_access_list(void **state)
{
    (void)state;
    struct entry {
        uint16_t tag;
        uint16_t may;
        uint32_t id;
    };
    const struct {
        uint32_t version;
        struct entry entry[5];
    } list = {.version = 2,
              .entry = {{0x01, 6, UINT32_MAX},
                        {0x02, 6, 54321},
                        {0x04, 4, UINT32_MAX},
                        {0x10, 6, UINT32_MAX},
                        {0x20, 4, UINT32_MAX}}};
    struct playground mine;
    make_playground(&mine, SIZE_MAX);
    char file[400];
    snprintf(file, sizeof file, "%s/keeps_rules.so", mine.kind);
    if (setxattr(file, "system.posix_acl_access", &list, sizeof list, 0) != 0) {
        print_message("this file system has no access lists: skipped\n");
        remove_playground(&mine);
        skip();
    }
    assert_non_null(load_from(mine.root, "keeps_rules"));
    expect_said("a whole group, or a user of its access list, may write");
    remove_playground(&mine);
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(data, 1, size, out), size);
    fclose(out);
    assert_int_equal(chmod(path, 0755), 0);
}

static void test_files_that_are_no_plugins(void **state)
{
    (void)state;
    struct playground mine;
    make_playground(&mine, 0);
    char file[400];
    snprintf(file, sizeof file, "%s/keeps_rules.so", mine.kind);
    assert_null(load_from(mine.root, "keeps_rules"));
    expect_said("is empty");
    write_file(file, "#!/bin/sh\n", 10);
    assert_null(load_from(mine.root, "keeps_rules"));
    expect_said("is not a shared object (no ELF header)");

    unsigned char head[64];
    FILE *in = fopen(good_file, "rb");
    assert_int_equal(fread(head, 1, sizeof head, in), sizeof head);
    fclose(in);
    head[4] ^= 3; /* ELFCLASS64 <-> ELFCLASS32 */
    write_file(file, head, sizeof head);
    assert_null(load_from(mine.root, "keeps_rules"));
    expect_said("another word size");
    head[4] ^= 3;
    head[18] ^= 0x55; /* e_machine */
    write_file(file, head, sizeof head);
    assert_null(load_from(mine.root, "keeps_rules"));
    expect_said("another processor");

    assert_int_equal(unlink(file), 0);
    assert_int_equal(mkdir(file, 0755), 0);
    assert_null(load_from(mine.root, "keeps_rules"));
    expect_said("is not a regular file");
    assert_int_equal(rmdir(file), 0);
    assert_int_equal(mkfifo(file, 0600), 0);
    assert_null(load_from(mine.root, "keeps_rules"));
    expect_said("is not a regular file");
    remove_playground(&mine);
}

/* Wherever a file is cut, it is refused or still whole in all that is mapped: never a crash. */
static void test_truncated_file(void **state)
{
    (void)state;
    const size_t size = file_size(good_file);
    size_t refused = 0;
    for (size_t part = 1; part < 16; part++) {
        struct playground mine;
        make_playground(&mine, size * part / 16);
        if (load_from(mine.root, "keeps_rules") == NULL) {
            expect_said("truncated or damaged");
            refused++;
        }
        remove_playground(&mine);
    }
    assert_true(refused >= 4);
}

/* ---- plugins that break rules -------------------------------------------------------------- */

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *words[3];
    } cases[] = {
        {"other_major", {"was built for ABI 7", "this program has ABI 0.", "rebuild it"}},
        {"other_minor", {"was built for ABI 0.3", "this program has ABI 0.2", "rebuild it"}},
        {"other_kind", {"is of kind aggregator", "folder of kind deletion", "move it to"}},
        {"other_name", {"calls itself \"another_name\"", "name the file another_name.so", ""}},
        {"lacks_operation", {"lacks the operation select", "", ""}},
        {"no_entry", {"exports no osafl_plugin_entry_v0", "OSAFL_EXPORT", ""}},
        {"null_entry", {"returns NULL from osafl_plugin_entry_v0", "", ""}},
        {"undefined_symbol", {"cannot be loaded", "function_that_nobody_has", ""}},
        {"locale_in_entry", {"changes the locale", "", ""}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_null(load_from(OSAFL_TEST_BAD_DIR, cases[i].name));
        expect_said("some.cfg:12: ");
        expect_said(cases[i].name);
        expect_said(OSAFL_TEST_BAD_DIR "/deletion/");
        for (size_t k = 0; k < 3; k++)
            expect_said(cases[i].words[k]);
    }
    assert_string_equal(setlocale(LC_NUMERIC, NULL), "C");
}

static void test_mode_of_constructors_is_undone(void **state)
{
    (void)state;
    assert_non_null(load_from(OSAFL_TEST_BAD_DIR, "rounding_on_load"));
    expect_said("rounding_on_load.so changed the floating-point environment");
    assert_int_equal(fegetround(), FE_TONEAREST);
}

static void test_create_that_changes_the_process(void **state)
{
    (void)state;
    struct fixture *f = fixture_open_in(OSAFL_TEST_BAD_DIR, "deletion", "rounding_in_create");
    assert_int_equal(fixture_create(f, NULL), OSAFL_E_BUG);
    assert_non_null(strstr(f->error.text, "changed the floating-point environment"));
    assert_int_equal(fegetround(), FE_TONEAREST);
    fixture_close(f);
    f = fixture_open_in(OSAFL_TEST_BAD_DIR, "deletion", "locale_in_create");
    assert_int_equal(fixture_create(f, NULL), OSAFL_E_BUG);
    assert_non_null(strstr(f->error.text, "changed the locale"));
    assert_string_equal(setlocale(LC_NUMERIC, NULL), "C");
    fixture_close(f);
}

/* ---- probing ------------------------------------------------------------------------------- */

static void probe(const char *name, double limit_s, struct probed_plugin *out)
{
    const char *dir = OSAFL_TEST_BAD_DIR;
    struct diagnostics *d = diagnostics_create();
    struct loader *l = loader_create(&dir, 1, d);
    assert_non_null(l);
    assert_int_equal(loader_probe(l, OSAFL_KIND_DELETION, name, limit_s, out), OSAFL_OK);
    loader_destroy(l);
    diagnostics_destroy(d);
}

static void test_probing(void **state)
{
    (void)state;
    struct probed_plugin p;
    probe("keeps_rules", 20.0, &p);
    assert_string_equal(p.problem, "");
    assert_string_equal(p.version, "1.0.0");
    assert_string_equal(p.summary, "Removes the first samples");
    assert_non_null(strstr(p.path, "/deletion/keeps_rules.so"));
    probe("crash_on_load", 20.0, &p);
    assert_string_equal(p.problem, "BROKEN (signal 11)");
    assert_non_null(strstr(p.path, "/deletion/crash_on_load.so"));
    probe("exit_on_load", 20.0, &p);
    assert_string_equal(p.problem, "BROKEN (ended the program, status 3)");
    probe("hang_on_load", 0.2, &p);
    assert_string_equal(p.problem, "BROKEN (not loaded within 0.2 s)");
    probe("other_minor", 20.0, &p);
    assert_non_null(strstr(p.problem, "was built for ABI 0.3"));
    probe("not_there", 20.0, &p);
    assert_string_equal(p.path, "");
    assert_non_null(strstr(p.problem, "no deletion plugin is called"));
}

/* "osafl check" outlives a file that ends whoever maps it, and says which it is. */
static void test_trying_first(void **state)
{
    (void)state;
    static const char *const ends[][2] = {{"crash_on_load", "(signal 11)"},
                                          {"exit_on_load", "(ended the program, status 3)"}};
    const char *dir = OSAFL_TEST_BAD_DIR;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char expected[256];
        struct diagnostics *d = diagnostics_create();
        struct loader *l = loader_create(&dir, 1, d);
        loader_try_first(l);
        assert_null(loader_load(l, OSAFL_KIND_DELETION, ends[i][0], d, "some.cfg", 12));
        snprintf(expected, sizeof expected,
                 "/deletion/%s.so ends the program that maps it %s: ", ends[i][0], ends[i][1]);
        assert_int_equal(diagnostics_errors(d), 1);
        take_words(d);
        expect_said("some.cfg:12: deletion plugin ");
        expect_said(expected);
        loader_destroy(l);
        diagnostics_destroy(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probing), /* before plugins are in this process */
        cmocka_unit_test(test_trying_first),
        cmocka_unit_test(test_every_built_in_plugin_loads),
        cmocka_unit_test(test_path_and_hash),
        cmocka_unit_test(test_hash_of_any_file),
        cmocka_unit_test(test_missing_plugin),
        cmocka_unit_test(test_folder_beside_the_right_one),
        cmocka_unit_test(test_names_are_no_paths),
        cmocka_unit_test(test_first_folder_wins),
        cmocka_unit_test(test_search_path),
        cmocka_unit_test(test_writable_by_everyone),
        cmocka_unit_test(test_broken_link),
        cmocka_unit_test(test_other_owner),
        cmocka_unit_test(test_access_list),
        cmocka_unit_test(test_files_that_are_no_plugins),
        cmocka_unit_test(test_truncated_file),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_mode_of_constructors_is_undone),
        cmocka_unit_test(test_create_that_changes_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
