/* report_body.h - what "osafl report" says about one table of results, in any format. */
#ifndef OSAFL_REPORT_REPORT_BODY_H
#define OSAFL_REPORT_REPORT_BODY_H

#include "report_tables.h"

/* Shared facts, the tables, and what is missing. */
void report_body_write(const struct summarized_table *s, enum table_format format, FILE *to);

#endif
