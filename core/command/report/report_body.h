/* report_body.h - what "osafl report" says about one table of results, in any format. */
#ifndef OSAFL_REPORT_REPORT_BODY_H
#define OSAFL_REPORT_REPORT_BODY_H

#include "report_tables.h"

/* What an experiment's file asks for and no table shows; nothing where there is no such thing. */
void report_end_write(const struct grid_experiment *e, enum table_format format, FILE *to);

/* Shared facts, the tables, and what is missing. */
void report_body_write(const struct summarized_table *s, enum table_format format, FILE *to);

#endif
