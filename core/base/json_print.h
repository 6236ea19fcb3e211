/* json_print.h - JSON values as text, and of text. */
#ifndef OSAFL_CORE_JSON_PRINT_H
#define OSAFL_CORE_JSON_PRINT_H

#include <jansson.h>

/* As json_dumps(), which leaves out what it has no memory for without reporting it (jansson 2.14):
 * here NULL means that memory was short.  Owned by the caller, free(). */
char *json_print(const json_t *value, size_t flags);

/* A string; null for NULL.  Names of files may be any bytes, JSON is UTF-8: in text that is not,
 * all bytes but ASCII become '?'.  NULL: out of memory. */
json_t *json_text(const char *s);

#endif
