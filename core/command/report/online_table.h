/* online_table.h - the online measures of a table's rows (results/measures.h). */
#ifndef OSAFL_REPORT_ONLINE_TABLE_H
#define OSAFL_REPORT_ONLINE_TABLE_H

#include "report_tables.h"

/* Those that some run has, in the last round that has a value or as the mean over the rounds; NULL:
 * no run has any. */
struct text_table *online_table(const struct summarized_table *s, bool last);

#endif
