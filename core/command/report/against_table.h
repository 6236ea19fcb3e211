/* against_table.h - the rows of a table against one of them, with paired statistics. */
#ifndef OSAFL_REPORT_AGAINST_TABLE_H
#define OSAFL_REPORT_AGAINST_TABLE_H

#include "report_tables.h"

/* NULL: there is no such row, and the table by COMPARED_BEST says so.  s->against names the row.
 * by: COMPARED_BEST, COMPARED_LAST or COMPARED_TAIL. */
struct text_table *against_table(const struct summarized_table *s, enum compared by);

#endif
