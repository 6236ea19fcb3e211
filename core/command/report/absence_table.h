/* absence_table.h - why clients sat out, or their updates did not count. */
#ifndef OSAFL_REPORT_ABSENCE_TABLE_H
#define OSAFL_REPORT_ABSENCE_TABLE_H

#include "report_tables.h"

/* A column for each reason in clients.csv, holding the share of all clients and rounds of the row's
 * runs (those that enter its other numbers).  NULL: nobody sat out.  A file that cannot be read is
 * given in a note. */
struct text_table *absence_table(const struct summarized_table *s);

#endif
