/* message.h - the one sentence that says why something failed.
 *
 * Functions of the core that can fail for a reason worth telling take `char *message`, an array of
 * MESSAGE_BYTES, and fill it exactly when they do not return OSAFL_OK. */
#ifndef OSAFL_CORE_MESSAGE_H
#define OSAFL_CORE_MESSAGE_H

#include "osafl/base.h"

#define MESSAGE_BYTES 1024

/* Formats the message, cut to MESSAGE_BYTES, and returns code.  No trailing newline. */
osafl_status message_fail(char *message, osafl_status code, const char *fmt, ...)
    OSAFL_PRINTF(3, 4);

/* "cannot WHAT PATH: REASON; REMEDY" for the errno value `error`; returns OSAFL_E_IO (OSAFL_E_NOMEM
 * for ENOMEM).  what: "write", "create", ... */
osafl_status message_io(char *message, int error, const char *what, const char *path);

#endif
