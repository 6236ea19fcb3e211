/* folder.h - folders for results. */
#ifndef OSAFL_CORE_FOLDER_H
#define OSAFL_CORE_FOLDER_H

#include <stdbool.h>
#include <stdio.h>

#include "error.h"
#include "osafl/base.h"

/* Creates a folder and those above it; one that is there already serves.  The
 * error names --out and --results as the remedy where a file has the name. */
osafl_status folder_create(const char *path, struct error *error);

/* A new folder below TMPDIR, or /tmp, whose name begins with "osafl-".  free(); NULL: message says
 * why. */
char *folder_temporary(struct error *error);
/* Removes a folder with all that is in it; what cannot be removed stays. */
void folder_remove(const char *path);

/* Whether a folder holds a file of that name. */
bool folder_has(const char *folder, const char *name);

/* Opens a regular file for reading, without waiting for a pipe's other end.  NULL with errno;
 * EINVAL: it is something else. */
FILE *file_open_regular(const char *path);
/* The same for a file of a folder. */
FILE *file_open_in(const char *folder, const char *name);

#endif
