/* json_print.c - a JSON value as text. */
#include "json_print.h"

#include <errno.h>
#include <stdlib.h>

char *json_print(const json_t *value, size_t flags)
{
    errno = 0;
    char *const text = json_dumps(value, flags);
    if (errno != ENOMEM)
        return text;
    free(text);
    return NULL;
}
