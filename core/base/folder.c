/* folder.c - folders for results. */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"

/* Brings a new folder's entry in the one above it to the disk.  Where that cannot be done, as for
 * want of permission to read it or on some network file systems, the folder serves all the same. */
static void sync_above(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *above = slash == NULL   ? strdup(".")
                  : slash == path ? strdup("/")
                                  : strndup(path, (size_t)(slash - path));
    const int fd = above != NULL ? open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(above);
}

static osafl_status create_folder(const char *path, struct error *error)
{
    if (mkdir(path, 0777) == 0) {
        sync_above(path);
        return OSAFL_OK;
    }
    const int problem = errno; /* of a folder that exists, it may be one that matters to new ones */
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return OSAFL_OK;
    if (problem == EEXIST)
        return error_set(error, OSAFL_E_IO,
                         "cannot create the folder %s: a file has that name; choose another "
                         "folder with --out or --results",
                         path);
    return error_io(error, problem, "create the folder", path);
}

osafl_status folder_create(const char *path, struct error *error)
{
    char *copy = strdup(path);
    if (copy == NULL)
        return error_io(error, ENOMEM, "create", path);
    osafl_status status = OSAFL_OK;
    for (char *slash = strchr(copy + 1, '/'); slash != NULL && status == OSAFL_OK;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        status = create_folder(copy, error);
        *slash = '/';
    }
    free(copy);
    return status == OSAFL_OK ? create_folder(path, error) : status;
}

char *folder_temporary(struct error *error)
{
    const char *above = getenv("TMPDIR");
    char *path = NULL;
    if (asprintf(&path, "%s/osafl-XXXXXX", above != NULL && above[0] != '\0' ? above : "/tmp") <
        0) {
        error_set(error, OSAFL_E_NOMEM, "out of memory for a temporary folder");
        return NULL;
    }
    if (mkdtemp(path) != NULL)
        return path;
    error_set(error, OSAFL_E_IO,
              "cannot make a temporary folder %s: %s; set TMPDIR to a "
              "folder with room",
              path, strerror(errno));
    free(path);
    return NULL;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    (void)remove(path);
    return 0;
}

void folder_remove(const char *path)
{
    (void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
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

FILE *file_open_regular(const char *path)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    FILE *file = NULL;
    if (fstat(fd, &st) == 0) {
        if (S_ISREG(st.st_mode))
            file = fdopen(fd, "rb");
        else
            errno = EINVAL;
    }
    if (file == NULL) {
        const int error = errno;
        close(fd);
        errno = error;
    }
    return file;
}

FILE *file_open_in(const char *folder, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0) {
        errno = ENOMEM;
        return NULL;
    }
    FILE *file = file_open_regular(path);
    const int error = errno;
    free(path);
    errno = error;
    return file;
}
