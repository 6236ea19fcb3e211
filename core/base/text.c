/* text.c - short texts. */
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char more[] = "...";

bool text_whole(const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
    const size_t digits = strspn(text, "0123456789");
    errno = 0;
    const uintmax_t value = strtoumax(text, NULL, 10);
    if (digits == 0 || text[digits] != '\0' || errno != 0 || value < least || value > most)
        return false;
    *out = value;
    return true;
}

bool text_real(const char *text, double *out)
{
    char *end = NULL;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || text[strspn(text, "0123456789+-.eE")] != '\0' ||
        !isfinite(value))
        return false;
    *out = value;
    return true;
}

void text_append(char *text, size_t size, const char *fmt, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, fmt);
    vsnprintf(text + used, size - used, fmt, args);
    va_end(args);
}

bool text_append_item(char *list, size_t size, const char *between, const char *item)
{
    const size_t used = strlen(list);
    const size_t reserve = strlen(between) + sizeof more; /* for the end of a list that is cut */
    if (used >= strlen(more) && strcmp(list + used - strlen(more), more) == 0)
        return false;
    const char *before = used > 0 ? between : "";
    const bool fits = used + strlen(before) + strlen(item) + reserve <= size;
    text_append(list, size, "%s%s", before, fits ? item : more);
    return fits;
}

const char *text_shape(char text[TEXT_SHAPE_BYTES], const uint32_t *shape, uint32_t rank)
{
    text[0] = '\0';
    for (uint32_t i = 0; i < rank; i++)
        text_append(text, TEXT_SHAPE_BYTES, "%s%u", i > 0 ? " x " : "", shape[i]);
    return text;
}
