/* json_print.c - JSON values as text, and of text. */
#include "json_print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

char *json_print(const json_t *value, size_t flags)
{
    errno = 0;
    char *text = json_dumps(value, flags);
    if (errno != ENOMEM)
        return text;
    free(text);
    return NULL;
}

json_t *json_text(const char *s)
{
    if (s == NULL)
        return json_null();
    errno = 0;
    json_t *value = json_string(s);
    if (value == NULL && errno != ENOMEM) {
        char *copy = strdup(s);
        for (char *c = copy; c != NULL && *c != '\0'; c++)
            *c = (unsigned char)*c < 0x80 ? *c : '?';
        value = copy == NULL ? NULL : json_string(copy);
        free(copy);
    }
    return value;
}
