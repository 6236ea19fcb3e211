/* json_print.h - a JSON value as text. */
#ifndef OSAFL_CORE_JSON_PRINT_H
#define OSAFL_CORE_JSON_PRINT_H

#include <jansson.h>

/* As json_dumps(), which leaves out what it has no memory for and tells nobody (jansson 2.14): here
 * NULL means that memory was short.  Owned by the caller, free(). */
char *json_print(const json_t *value, size_t flags);

#endif
