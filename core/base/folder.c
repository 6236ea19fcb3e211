/* folder.c - folders for results. */
#include "folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

static osafl_status create_folder(const char *path, char *message)
{
    if (mkdir(path, 0777) == 0)
        return OSAFL_OK;
    const int error = errno; /* of a folder that exists, it may be one that matters to new ones */
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return OSAFL_OK;
    if (error == EEXIST)
        return message_fail(message, OSAFL_E_IO,
                            "cannot create the folder %s: a file has that name; choose another "
                            "folder with --out or --results",
                            path);
    return message_io(message, error, "create the folder", path);
}

osafl_status folder_create(const char *path, char *message)
{
    char *const copy = strdup(path);
    if (copy == NULL)
        return message_io(message, ENOMEM, "create", path);
    osafl_status status = OSAFL_OK;
    for (char *slash = strchr(copy + 1, '/'); slash != NULL && status == OSAFL_OK;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        status = create_folder(copy, message);
        *slash = '/';
    }
    free(copy);
    return status == OSAFL_OK ? create_folder(path, message) : status;
}

bool folder_has(const char *folder, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return false;
    const bool found = access(path, F_OK) == 0;
    free(path);
    return found;
}
