/* result_text.h - texts of the JSON files of results, as reports use them. */
#ifndef OSAFL_REPORT_RESULT_TEXT_H
#define OSAFL_REPORT_RESULT_TEXT_H

#include <jansson.h>

#include "base/error.h"
#include "osafl/base.h"

/* Reads a JSON object.  OSAFL_E_IO or OSAFL_E_DATA with a message (error.h) that names file and
 * line. */
osafl_status result_read_json(const char *path, json_t **out, struct error *error);

/* A copy in which "?" stands for what could move a terminal's cursor or break a line of a table:
 * control characters and what is no UTF-8.  free(), as all texts here. */
char *result_printable(const char *text);
/* "PROGRAM: SENTENCE" to standard error, printable: it may hold the name of a folder. */
void result_say(const char *program, const char *sentence);

/* A value as libconfig text, made plain: a string without its quotes, a real with as few digits as
 * it needs ("60.0" as "60"), and so in a list of numbers. */
char *result_plain_value(const char *text);

/* A varied setting is part of a case's name (grid.h): "CASE,KEY=VALUE", or "KEY=VALUE" without
 * cases, where the case is "main".  *varied: "KEY=VALUE,..."; "". */
void result_split_case(const char *name, char **case_name, char **varied);

/* Where the value of a key begins in "KEY=VALUE,..."; it ends at a comma or at the end.  NULL: the
 * key is none of them. */
const char *result_varied_value(const char *varied, const char *key);

#endif
