/* file_read.h - a whole file in memory. */
#ifndef OSAFL_CORE_FILE_READ_H
#define OSAFL_CORE_FILE_READ_H

#include <stddef.h>

/* The bytes of a regular file of at most `most` bytes, and a NUL after them; *size without it.
 * free() it.  Never waits: a pipe is refused.  NULL with an errno value in *error: ENOENT where
 * there is no file, EINVAL for what is not a regular file, EFBIG for one that is too large. */
void *file_read(const char *path, size_t most, size_t *size, int *error);

/* The same of a pipe, read until its end, which is waited for; EINVAL for one that brings nothing.
 */
void *pipe_read(const char *path, size_t most, size_t *size, int *error);

/* Such a value in words: "No such file or directory", "not a regular file", ... */
const char *file_read_problem(int error);

#endif
