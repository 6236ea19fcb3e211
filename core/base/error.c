/* error.c - the one sentence that says why something failed. */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

osafl_status error_set(struct error *error, osafl_status code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(error->text, sizeof error->text, fmt, args);
    va_end(args);
    return code;
}

static const char *remedy(int number)
{
    switch (number) {
    case ENOSPC:
    case EDQUOT:
        return "free space there or choose another folder with --out or --results, then run the "
               "same command again to resume";
    case EACCES:
    case EPERM:
    case EROFS:
        return "choose a folder that you may write with --out or --results";
    case ENOENT:
    case ENOTDIR:
        return "it is gone or its name is wrong";
    case ELOOP:
        return "there is a symbolic link, and osafl does not write through links; remove it";
    case ENAMETOOLONG:
        return "choose a shorter folder with --out or --results";
    case EMFILE:
    case ENFILE:
        return "raise the limit of open files (ulimit -n)";
    case EIO:
        return "the disk reports a fault; run the same command again on a sound one";
    default:
        return "run the same command again to resume";
    }
}

osafl_status error_io(struct error *error, int number, const char *what, const char *path)
{
    char buffer[128];
    const char *text = strerror_r(number, buffer, sizeof buffer);
    return error_set(error, number == ENOMEM ? OSAFL_E_NOMEM : OSAFL_E_IO, "cannot %s %s: %s; %s",
                     what, path, text, remedy(number));
}
