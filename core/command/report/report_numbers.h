/* report_numbers.h - how the numbers of a report's tables are written. */
#ifndef OSAFL_REPORT_REPORT_NUMBERS_H
#define OSAFL_REPORT_REPORT_NUMBERS_H

#include "report_tables.h"

/* All texts: free(). */

/* Label of a row, and " (failed)" or " (so far)". */
char *row_name(const struct summarized_table *s, size_t row);

/* "best accuracy" of "best ", with ", %" where shares are written as percent. */
char *measure_heading(const struct summarized_table *s, const char *before);

/* "test accuracy"; of an online measure its name alone. */
char *measure_title(const struct summarized_table *s);

/* Four decimals, or two of a percentage: with its sign, and a mean with its deviation ("-" without
 * a value). */
char *difference_text(const struct summarized_table *s, enum compared by, double value);
char *mean_text(const struct summarized_table *s, enum compared by, double mean, double deviation);

/* The same as percent or not. */
char *spread_text(bool percent, double mean, double deviation);

/* What the row's runs come to; "diverged" where they did. */
char *compared_text(const struct summarized_table *s, size_t row, enum compared by);

/* Three significant digits, without an exponent where the number has a usual size; a whole number
 * as such. */
char *amount_text(double value);

#endif
