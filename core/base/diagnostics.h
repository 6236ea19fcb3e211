/* diagnostics.h - collects every error of an experiment before any is acted upon. */
#ifndef OSAFL_CORE_DIAGNOSTICS_H
#define OSAFL_CORE_DIAGNOSTICS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "osafl/base.h"

struct diagnostics; /* a growing list of messages, in the order of their addition */

struct diagnostics *diagnostics_create(void); /* NULL: out of memory */
void diagnostics_destroy(struct diagnostics *d);

/* file may be NULL (no place), line 0 (no line); "--set" is a file of its own.  Control characters
 * of a message become "?". */
void diagnostics_error(struct diagnostics *d, const char *file, unsigned line, const char *fmt, ...)
    OSAFL_PRINTF(4, 5);
void diagnostics_warn(struct diagnostics *d, const char *file, unsigned line, const char *fmt, ...)
    OSAFL_PRINTF(4, 5);

/* An error that is not the user's. */
void diagnostics_no_memory(struct diagnostics *d);
/* The reason of a failed call, which may be memory. */
void diagnostics_failure(struct diagnostics *d, osafl_status status, const char *reason);
/* Whether memory was short, for that or for a message. */
bool diagnostics_lack_memory(const struct diagnostics *d);

/* All that were added, those among them whose message was there already and is not kept again. */
size_t diagnostics_errors(const struct diagnostics *d);
/* Prints "file:line: text" lines, warnings marked as such; of several hundred the first. */
void diagnostics_print(const struct diagnostics *d, FILE *to);
/* What that prints, without the last newline; free() it.  NULL: out of memory. */
char *diagnostics_text(const struct diagnostics *d);

#endif
