/* errors.h - what a list of diagnostics says, for tests. */
#ifndef OSAFL_TESTS_EXPECTED_ERRORS_H
#define OSAFL_TESTS_EXPECTED_ERRORS_H

#include <stddef.h>

struct diagnostics;

/* Fails the running cmocka test, showing everything, unless the list holds exactly these lines:
 * each expected text must be the beginning of the line of the same number. */
void assert_errors(const struct diagnostics *d, const char *const *expected, size_t n);

/* The same with the lines as arguments. */
#define ASSERT_ERRORS(d, ...)                                                                      \
    do {                                                                                           \
        const char *const expected_[] = {__VA_ARGS__};                                             \
        assert_errors((d), expected_, sizeof(expected_) / sizeof expected_[0]);                    \
    } while (0)

/* The list must be empty. */
void assert_no_errors(const struct diagnostics *d);

#endif
