/* test_text.c - numbers that a user wrote, lists that grow in a fixed buffer, lists of names, files
 * in memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file_read.h"
#include "base/names.h"
#include "base/text.h"

static void test_whole_numbers(void **state)
{
    (void)state;
    uint64_t n = 7;
    assert_true(text_whole("18446744073709551615", 0, UINT64_MAX, &n));
    assert_true(n == UINT64_MAX);
    assert_true(text_whole("3", 3, 3, &n) && n == 3);
    const char *const wrong[] = {
        "", "2", "4", "-3", "+3", " 3", "3 ", "3x", "0x3", "3.0", "18446744073709551616"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(text_whole(wrong[i], 3, 3, &n));
    assert_int_equal(n, 3); /* left as it was */
}

static void test_real_numbers(void **state)
{
    (void)state;
    double x = 7.0;
    assert_true(text_real("-2.5e-3", &x) && x == -2.5e-3);
    assert_true(text_real("+4", &x) && x == 4.0);
    const char *const wrong[] = {"", ".", " 1", "1 ", "1,5", "0x10", "inf", "nan", "1e999", "1e"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(text_real(wrong[i], &x));
    assert_true(x == 4.0);
}

static void test_lists_end_with_dots(void **state)
{
    (void)state;
    char list[16] = "";
    assert_true(text_append_item(list, sizeof list, ", ", "one"));
    assert_true(text_append_item(list, sizeof list, ", ", "two"));
    assert_false(text_append_item(list, sizeof list, ", ", "three"));
    assert_string_equal(list, "one, two, ...");
    assert_false(text_append_item(list, sizeof list, ", ", "x"));
    assert_string_equal(list, "one, two, ...");
    text_append(list, sizeof list, "%d%d", 12, 345);
    assert_string_equal(list, "one, two, ...12");
}

static void test_names(void **state)
{
    (void)state;
    struct names list = {0};
    char *text = names_join(&list);
    assert_string_equal(text, "");
    free(text);
    assert_true(names_add(&list, "b") && names_add(&list, "a") && names_add(&list, "b"));
    assert_true(names_have(&list, "a"));
    assert_false(names_have(&list, "c"));
    names_sort(&list);
    text = names_join(&list);
    assert_string_equal(text, "a, b");
    free(text);
    names_free(&list);
    assert_int_equal(list.n, 0);
}

static void test_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/osafl-text-XXXXXX";
    char path[64];
    int error = 0;
    size_t size = 0;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    assert_null(file_read(path, 100, &size, &error));
    assert_int_equal(error, ENOENT);
    FILE *to = fopen(path, "we");
    assert_non_null(to);
    assert_true(fwrite("a\0b", 1, 3, to) == 3 && fclose(to) == 0);
    char *data = file_read(path, 3, &size, &error);
    assert_non_null(data);
    assert_int_equal(size, 3);
    assert_memory_equal(data, "a\0b", 4);
    free(data);
    assert_null(file_read(path, 2, &size, &error));
    assert_int_equal(error, EFBIG);
    assert_null(file_read(folder, 100, &size, &error));
    assert_string_equal(file_read_problem(error), "not a regular file");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes to it: reading would wait */
    assert_null(file_read(path, 100, &size, &error));
    assert_int_equal(error, EINVAL);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_real_numbers),
        cmocka_unit_test(test_lists_end_with_dots),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
