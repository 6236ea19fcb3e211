/* csv_field.h - fields of comma-separated values (RFC 4180) for programs that calculate. */
#ifndef OSAFL_REPORT_CSV_FIELD_H
#define OSAFL_REPORT_CSV_FIELD_H

#include <stdio.h>

/* Quoted where needed.  Before a text that a spreadsheet would take for a formula stands "'". */
void csv_field_text(const char *text, FILE *to);

/* A comma and the number; NAN: nothing. */
void csv_field_real(double value, FILE *to);

#endif
