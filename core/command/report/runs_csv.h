/* runs_csv.h - every run of a report as a line of comma-separated values, for programs that
 * calculate: all settings in which runs differ are columns, a setting that a run has not is empty,
 * and so is a number that does not exist.  Numbers are in the units of the result files; rounds are
 * counted from 1. */
#ifndef OSAFL_REPORT_RUNS_CSV_H
#define OSAFL_REPORT_RUNS_CSV_H

#include "row_summary.h"

void runs_csv_write(const struct result_grid *g, const struct summary_question *q, FILE *to);

#endif
