/* checked_alloc.h - memory for commands that only read results.
 *
 * report and plot hold nothing that could be lost, so a command that gets no memory says so and
 * ends with EXIT_RUN_FAILED (exit_status.h); callers need no path for it.  Everything is freed by
 * free().
 */
#ifndef OSAFL_REPORT_CHECKED_ALLOC_H
#define OSAFL_REPORT_CHECKED_ALLOC_H

#include <stdio.h>

#include "osafl/base.h"

/* count elements of size bytes, zeroed; never NULL, even for count 0. */
void *checked_alloc(size_t count, size_t size);
char *checked_copy(const char *text);
char *checked_format(const char *fmt, ...) OSAFL_PRINTF(1, 2);

/* A stream into memory: write to it, then take the text with checked_stream_text(). */
struct checked_stream {
    FILE *file;
    char *text;
    size_t size;
};
void checked_stream_open(struct checked_stream *s);
/* Closes the stream; the text is the caller's. */
char *checked_stream_text(struct checked_stream *s);

/* Makes room for element number `count` of a growing array: ARRAY = checked_grow(ARRAY, COUNT,
 * sizeof *ARRAY) before ARRAY[COUNT++] = ... */
void *checked_grow(void *array, size_t count, size_t size);

#endif
