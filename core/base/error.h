/* error.h - why something failed, in one sentence.
 *
 * Functions of the core that can fail for a reason that a user should read take a `struct error *`
 * as their last parameter and fill it exactly when they do not return OSAFL_OK.  The text names
 * what a user can find (file and line, key) and the remedy.  The call that a plugin is given holds
 * the same object.  Several errors at once are collected by diagnostics.h. */
#ifndef OSAFL_CORE_ERROR_H
#define OSAFL_CORE_ERROR_H

#include "error.h"
#include "osafl/base.h"

#define ERROR_BYTES 1024

struct error {
    char text[ERROR_BYTES]; /* no trailing newline; "": none */
};

/* Formats the text, cut to ERROR_BYTES, and returns code. */
osafl_status error_set(struct error *error, osafl_status code, const char *fmt, ...)
    OSAFL_PRINTF(3, 4);

/* "cannot WHAT PATH: REASON; REMEDY" for the value of errno `number`; returns OSAFL_E_IO
 * (OSAFL_E_NOMEM for ENOMEM).  what: "write", "create", ... */
osafl_status error_io(struct error *error, int number, const char *what, const char *path);

#endif
