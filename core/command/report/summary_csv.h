/* summary_csv.h - every number of a report as comma-separated values (RFC 4180), in the units of
 * the result files: a header, then one line a row of every table.  A number that does not exist is
 * an empty field. */
#ifndef OSAFL_REPORT_SUMMARY_CSV_H
#define OSAFL_REPORT_SUMMARY_CSV_H

#include "report_tables.h"

void summary_csv_header(FILE *to);
void summary_csv_rows(const struct summarized_table *s, FILE *to);

#endif
