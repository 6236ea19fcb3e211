/* expected_errors.c - what a list of diagnostics says, for tests. */
#include "expected_errors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/diagnostics.h"

static char *text_of(const struct diagnostics *d)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    diagnostics_print(d, f);
    assert_int_equal(fclose(f), 0);
    return text;
}

void assert_errors(const struct diagnostics *d, const char *const *expected, size_t n)
{
    char *text = text_of(d);
    const char *line = text;
    for (size_t i = 0; i < n; i++) {
        if (strncmp(line, expected[i], strlen(expected[i])) != 0)
            fail_msg("line %zu is not \"%s\" in:\n%s", i + 1, expected[i], text);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    if (*line != '\0')
        fail_msg("more than %zu lines:\n%s", n, text);
    free(text);
}

void assert_no_errors(const struct diagnostics *d)
{
    assert_errors(d, NULL, 0);
}
