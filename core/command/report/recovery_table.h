/* recovery_table.h - how many rounds a measure needs to recover from a change.
 *
 * For a change at round c, let m be the mean of the measure over the rounds evaluated among the
 * `before` last ones ahead of c, and b = m - margin (m + margin where less is better).  The
 * measure falls in the first round f >= c in which it is worse than b, and is back in the first
 * round r > f in which it is not; the rounds to recover are r - c, or 0 if it never falls.  What
 * comes from the next change on does not count.  Rounds without a value are passed over. */
#ifndef OSAFL_REPORT_RECOVERY_TABLE_H
#define OSAFL_REPORT_RECOVERY_TABLE_H

#include "report_tables.h"

/* Of value[0 .. rounds), with change `change` of the question.  NAN: there is no mean, or no round
 * after the change; INFINITY: it does not come back. */
double rounds_to_recover(const struct recovery_question *q, size_t change, bool higher_is_better,
                         const double *value, size_t rounds);

/* NULL: nothing is asked. */
struct text_table *recovery_table(const struct summarized_table *s);

#endif
