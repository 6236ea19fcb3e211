/* checked_alloc.c - memory for commands that only read results. */
#include "checked_alloc.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_status.h"

static void *checked(void *memory)
{
    if (memory == NULL) {
        fputs("osafl: out of memory for the report; name fewer result folders\n", stderr);
        exit(EXIT_RUN_FAILED);
    }
    return memory;
}

void *checked_alloc(size_t count, size_t size)
{
    return checked(calloc(count == 0 ? 1 : count, size));
}

/* Grows or shrinks; new elements are not initialised. */
static void *checked_resize(void *old, size_t count, size_t size)
{
    return checked(reallocarray(old, count == 0 ? 1 : count, size));
}

void *checked_grow(void *array, size_t count, size_t size)
{
    /* Capacities are the powers of two, so that no capacity must be stored. */
    if (count != 0 && (count & (count - 1)) != 0)
        return array;
    return checked_resize(array, count == 0 ? 1 : 2 * count, size);
}

char *checked_copy(const char *text)
{
    return checked(strdup(text));
}

char *checked_format(const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    const int length = vasprintf(&text, fmt, args);
    va_end(args);
    return checked(length < 0 ? NULL : text);
}

void checked_stream_open(struct checked_stream *s)
{
    *s = (struct checked_stream){NULL, NULL, 0};
    s->file = checked(open_memstream(&s->text, &s->size));
}

char *checked_stream_text(struct checked_stream *s)
{
    /* A memory stream fails only for lack of memory. */
    if (fclose(s->file) != 0)
        checked(NULL);
    s->file = NULL;
    return checked(s->text);
}
