/* complaints.h - what a list of diagnostics says, for tests. */
#ifndef OSAFL_TESTS_COMPLAINTS_H
#define OSAFL_TESTS_COMPLAINTS_H

#include <stddef.h>

struct diagnostics;

/* Fails the running cmocka test, showing everything, unless the list holds exactly these lines:
 * each expected text must be the beginning of the line of the same number. */
void assert_complaints(const struct diagnostics *d, const char *const *expected, size_t n);

/* The same with the lines as arguments. */
#define ASSERT_COMPLAINTS(d, ...)                                                                  \
    do {                                                                                           \
        const char *const expected_[] = {__VA_ARGS__};                                             \
        assert_complaints((d), expected_, sizeof(expected_) / sizeof expected_[0]);                \
    } while (0)

/* The list must be empty. */
void assert_no_complaints(const struct diagnostics *d);

#endif
