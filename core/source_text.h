/* source_text.h - reading of text files with bounds. */
#ifndef OSAFL_CORE_SOURCE_TEXT_H
#define OSAFL_CORE_SOURCE_TEXT_H

#include <stddef.h>

/* The bytes of a regular file and a NUL after them, to be freed.  NULL with the reason in *why, a
 * static text or that of strerror().  Never waits: a pipe is refused. */
char *source_read(const char *file, size_t max_bytes, size_t *size, const char **why);

/* Bytes of the valid UTF-8 at the start of s. */
size_t utf8_valid_bytes(const char *s, size_t n);

#endif
