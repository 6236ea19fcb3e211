/* test_diagnostics.c - the list of errors, and "did you mean". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/diagnostics.h"
#include "base/suggest.h"
#include "expected_errors.h"

static void messages_keep_their_order_and_place(void **state)
{
    (void)state;
    struct diagnostics *d = diagnostics_create();
    assert_non_null(d);
    assert_int_equal(diagnostics_errors(d), 0);
    diagnostics_error(d, "b.cfg", 7, "%s is %d", "x", 3);
    diagnostics_warn(d, "a.cfg", 0, "old");
    diagnostics_error(d, NULL, 0, "lost");
    assert_int_equal(diagnostics_errors(d), 2);
    ASSERT_ERRORS(d, "b.cfg:7: x is 3", "a.cfg: warning: old", "lost");
    diagnostics_destroy(d);
}

static void repeated_messages_are_kept_once(void **state)
{
    (void)state;
    struct diagnostics *d = diagnostics_create();
    for (int i = 0; i < 100; i++)
        diagnostics_error(d, "a.cfg", 1, "the same");
    diagnostics_error(d, "a.cfg", 2, "the same");
    assert_int_equal(diagnostics_errors(d), 101);
    ASSERT_ERRORS(d, "a.cfg:1: the same", "a.cfg:2: the same");
    diagnostics_destroy(d);
}

static void only_the_first_messages_are_kept(void **state)
{
    (void)state;
    struct diagnostics *d = diagnostics_create();
    for (unsigned i = 0; i < 100000; i++) /* each compared with all others, this would not end */
        diagnostics_error(d, "a.cfg", i + 1, "wrong");
    diagnostics_warn(d, NULL, 0, "odd");
    assert_int_equal(diagnostics_errors(d), 100000);
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    diagnostics_print(d, f);
    fclose(f);
    assert_non_null(strstr(text, "a.cfg:200: wrong\n"));
    assert_null(strstr(text, "a.cfg:201: wrong\n"));
    assert_non_null(strstr(text, "warning: odd\nthere are more errors; these 200 are the first\n"));
    free(text);
    diagnostics_destroy(d);
}

static void messages_are_lines(void **state)
{
    (void)state;
    struct diagnostics *d = diagnostics_create();
    diagnostics_error(d, NULL, 0, "\"%s\" is wrong", "a\nb.cfg:1: \x1b[2J\x7f");
    ASSERT_ERRORS(d, "\"a?b.cfg:1: ?[2J?\" is wrong");
    diagnostics_destroy(d);
}

static void edits_are_counted(void **state)
{
    (void)state;
    assert_int_equal(suggest_edits("", ""), 0);
    assert_int_equal(suggest_edits("", "abc"), 3);
    assert_int_equal(suggest_edits("kitten", "sitting"), 3);
    assert_int_equal(suggest_edits("fedagv", "fedavg"), 1); /* neighbours swapped */
    assert_int_equal(suggest_edits("minclients", "min_clients"), 1);
    char longest[80];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_true(suggest_edits(longest, "a") > 64);
}

static const char *suggestion(const char *word, const char *const *from)
{
    struct suggestion s = suggest_begin(word);
    for (size_t i = 0; from[i] != NULL; i++)
        suggest_offer(&s, from[i]);
    return s.best;
}

static void only_close_names_are_suggested(void **state)
{
    (void)state;
    static const char *const names[] = {"fedavg", "fedprox", "osafl", "learning_rate", NULL};
    assert_string_equal(suggestion("fedavgg", names), "fedavg");
    assert_string_equal(suggestion("oasfl", names), "osafl");
    assert_string_equal(suggestion("learningrate", names), "learning_rate");
    assert_string_equal(suggestion("lerning_raet", names), "learning_rate");
    /* More than half of the word, or more than four edits. */
    assert_null(suggestion("os", names));
    assert_null(suggestion("xyz", names));
    assert_null(suggestion("learn_my_rates_x", names));
    assert_null(suggestion("", names));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_keep_their_order_and_place),
        cmocka_unit_test(repeated_messages_are_kept_once),
        cmocka_unit_test(only_the_first_messages_are_kept),
        cmocka_unit_test(messages_are_lines),
        cmocka_unit_test(edits_are_counted),
        cmocka_unit_test(only_close_names_are_suggested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
