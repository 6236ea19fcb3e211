/* run_folder.c - the folder that holds the results of one run. */
#include "run_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.h"
#include "base/folder.h"

#define LOCK_FILE ".lock"
#define LOCK_FLAGS (O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

const char *const run_folder_files[] = {"checkpoint.0",     "checkpoint.1",
                                        "environment.json", "model.safetensors",
                                        "best.safetensors", "confusion.json",
                                        "theory.csv",       "data.json",
                                        "rounds.csv",       "clients.csv",
                                        "timing.csv",       "changes.txt",
                                        "resolved.cfg",     NULL};

char *path_component(const char *name)
{
    char *out = strdup(name[0] == '\0' ? "_" : name);
    for (char *p = out; out != NULL && *p != '\0'; p++) {
        const bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                           (*p >= '0' && *p <= '9') || *p == '-' || *p == '_' ||
                           (*p == '.' && p != out);
        if (!plain)
            *p = '_';
    }
    return out;
}

char *experiment_folder_path(const char *base, const char *name)
{
    char *component = path_component(name);
    char *path = NULL;
    if (component != NULL && asprintf(&path, "%s/%s", base, component) < 0)
        path = NULL;
    free(component);
    return path;
}

char *run_folder_path(const char *base, const struct experiment *e)
{
    char *folder = experiment_folder_path(base, e->general.name);
    char *cell = path_component(e->case_name);
    char *path = NULL;
    if (folder != NULL && cell != NULL &&
        asprintf(&path, "%s/%s/seed-%" PRId64 "-%.8s", folder, cell, e->general.seed, e->identity) <
            0)
        path = NULL;
    free(folder);
    free(cell);
    return path;
}

static char *join(const char *folder, const char *prefix, const char *name, const char *suffix)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s%s%s", folder, prefix, name, suffix) < 0 ? NULL : path;
}

/* A temporary file has no other writer, but maybe a symbolic link of that name leads elsewhere. */
static int create_new(int folder, const char *name)
{
    if (unlinkat(folder, name, 0) != 0 && errno != ENOENT)
        return -1;
    return openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

/* What a crash left behind, now that nobody else works here. */
static void remove_temporary_files(const char *path)
{
    for (const char *const *name = run_folder_files;; name++) {
        char *temporary = join(path, ".", *name != NULL ? *name : "manifest.json", ".tmp");
        if (temporary != NULL)
            unlink(temporary);
        free(temporary);
        if (*name == NULL)
            return;
    }
}

/* Whose lock it is; also keeps those who clean up empty files from removing it. */
static void sign(int fd)
{
    struct utsname host = {0};
    char text[128];
    uname(&host);
    const int n =
        snprintf(text, sizeof text, "%.64s, process %ld\n", host.nodename, (long)getpid());
    const bool written = ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)n, 0) == n;
    (void)written; /* it serves without */
}

static osafl_status refuse_second(int fd, const char *path, struct error *error)
{
    char owner[128] = "";
    const ssize_t n = pread(fd, owner, sizeof owner - 1, 0);
    owner[n > 0 ? strcspn(owner, "\n") : 0] = '\0';
    for (char *c = owner; *c != '\0'; c++)
        *c = *c < ' ' || *c > '~' ? '?' : *c;
    return error_set(error, OSAFL_E_IO,
                     "another process is working in %.600s%s%s%s; wait until it ends, or choose "
                     "another folder with --out or --results",
                     path, owner[0] != '\0' ? " (" : "", owner, owner[0] != '\0' ? ")" : "");
}

static osafl_status lock_failed(int fd, const char *path, const char *lock, struct error *error)
{
    switch (errno) {
    case EWOULDBLOCK:
        return refuse_second(fd, path, error);
    case ENOSYS:
    case EOPNOTSUPP:
    case ENOLCK:
        return error_set(error, OSAFL_E_IO,
                         "cannot lock %s: the file system has no locks; choose a folder on "
                         "another one with --out or --results",
                         lock);
    default:
        return error_io(error, errno, "lock", lock);
    }
}

osafl_status run_folder_claim(const char *path, struct run_folder *out, struct error *error)
{
    OSAFL_TRY(folder_create(path, error));
    char *copy = strdup(path);
    char *lock = join(path, "", LOCK_FILE, "");
    osafl_status status = OSAFL_OK;
    int fd = -1;
    if (copy == NULL || lock == NULL)
        status = error_io(error, ENOMEM, "claim", path);
    else if ((fd = open(lock, LOCK_FLAGS, 0666)) < 0)
        status = error_io(error, errno, "write", lock);
    else if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        status = lock_failed(fd, path, lock, error);
    free(lock);
    if (status != OSAFL_OK) {
        if (fd >= 0)
            close(fd);
        free(copy);
        return status;
    }
    remove_temporary_files(path);
    *out = (struct run_folder){.path = copy, .lock_fd = fd};
    return OSAFL_OK;
}

void run_folder_sign(const struct run_folder *f)
{
    sign(f->lock_fd);
}

void run_folder_release(struct run_folder *f)
{
    if (f->lock_fd >= 0)
        close(f->lock_fd); /* which unlocks */
    free(f->path);
    *f = (struct run_folder){.lock_fd = -1};
}

static int write_all(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        const ssize_t written = write(fd, at, size);
        if (written < 0 && errno != EINTR)
            return -1;
        if (written > 0) {
            at += written;
            size -= (size_t)written;
        }
    }
    return 0;
}

static int sync_file(int fd)
{
    while (fsync(fd) != 0) {
        if (errno != EINTR)
            return -1;
    }
    return 0;
}

/* Some file systems have no such operation for folders, and say EINVAL: FUSE, SMB, 9p. */
static int sync_folder(int fd)
{
    return sync_file(fd) == 0 || errno == EINVAL ? 0 : -1;
}

/* The new content under its temporary name, on the disk. */
static int write_file(int folder, const char *name, const void *data, size_t size)
{
    const int fd = create_new(folder, name);
    if (fd < 0)
        return -1;
    const bool failed = write_all(fd, data, size) != 0 || sync_file(fd) != 0;
    const int error = errno;
    if (close(fd) != 0 && !failed)
        return -1;
    errno = error;
    return failed ? -1 : 0;
}

/* Makes the lock anew where somebody removed it, and nobody else has come since; it takes the old
 * one's place.  False: somebody has. */
static bool restore_lock(const struct run_folder *f, int folder)
{
    const int fd = openat(folder, LOCK_FILE, LOCK_FLAGS | O_EXCL, 0666);
    if (fd < 0)
        return false;
    const bool done =
        flock(fd, LOCK_EX | LOCK_NB) == 0 && dup3(fd, f->lock_fd, O_CLOEXEC) == f->lock_fd;
    close(fd);
    if (done)
        sign(f->lock_fd);
    return done;
}

/* Whether the folder is still the one that was claimed: it may have been removed and made anew by
 * somebody else, whose files must stay whole. */
static bool is_still_ours(const struct run_folder *f, int folder)
{
    struct stat ours;
    struct stat found;
    if (f->lock_fd < 0)
        return true;
    if (fstatat(folder, LOCK_FILE, &found, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT && restore_lock(f, folder);
    return fstat(f->lock_fd, &ours) == 0 && ours.st_dev == found.st_dev &&
           ours.st_ino == found.st_ino;
}

/* A rename is lasting only when the folder's own entries are on the disk. */
static int replace_file(int folder, const char *temporary, const char *name, const void *data,
                        size_t size)
{
    if (write_file(folder, temporary, data, size) == 0 &&
        renameat(folder, temporary, folder, name) == 0 && sync_folder(folder) == 0)
        return 0;
    const int error = errno;
    unlinkat(folder, temporary, 0);
    errno = error;
    return -1;
}

/* f NULL: nobody claims the folder. */
static osafl_status replace_in(const char *folder_path, const struct run_folder *f,
                               const char *temporary, const char *name, const void *data,
                               size_t size, struct error *error)
{
    char *path = join(folder_path, "", name, "");
    osafl_status status = OSAFL_OK;
    int folder = -1;
    if (path == NULL) {
        status = error_io(error, ENOMEM, "write", name);
    } else if ((folder = open(folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
        status = error_io(error, errno, "write", path);
    } else if (f != NULL && !is_still_ours(f, folder)) {
        status = error_set(error, OSAFL_E_IO,
                           "cannot write %s: the folder was removed or replaced while this run "
                           "worked in it; run the same command again",
                           path);
    } else if (replace_file(folder, temporary, name, data, size) != 0) {
        status = error_io(error, errno, "write", path);
    }
    if (folder >= 0)
        close(folder);
    free(path);
    return status;
}

osafl_status run_folder_remove(const struct run_folder *f, const char *name, struct error *error)
{
    char *path = join(f->path, "", name, "");
    if (path == NULL)
        return error_io(error, ENOMEM, "remove", name);
    const bool failed = unlink(path) != 0 && errno != ENOENT;
    const osafl_status status = failed ? error_io(error, errno, "remove", path) : OSAFL_OK;
    free(path);
    return status;
}

osafl_status run_folder_clear(const struct run_folder *f, struct error *error)
{
    for (const char *const *name = run_folder_files; *name != NULL; name++)
        OSAFL_TRY(run_folder_remove(f, *name, error));
    const int folder = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool synced = folder >= 0 && sync_folder(folder) == 0;
    const osafl_status status = synced ? OSAFL_OK : error_io(error, errno, "write", f->path);
    if (folder >= 0)
        close(folder);
    return status;
}

osafl_status run_folder_append(const struct run_folder *f, const char *name, const char *line,
                               struct error *error)
{
    char *path = join(f->path, "", name, "");
    if (path == NULL)
        return error_io(error, ENOMEM, "write", name);
    const int fd =
        open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    const bool written = fd >= 0 && write_all(fd, line, strlen(line)) == 0 && sync_file(fd) == 0;
    const osafl_status status = written ? OSAFL_OK : error_io(error, errno, "write", path);
    if (fd >= 0)
        close(fd);
    free(path);
    return status;
}

osafl_status run_folder_replace(const struct run_folder *f, const char *name, const void *data,
                                size_t size, struct error *error)
{
    char *temporary = NULL;
    if (asprintf(&temporary, ".%s.tmp", name) < 0)
        return error_io(error, ENOMEM, "write", name);
    const osafl_status status = replace_in(f->path, f, temporary, name, data, size, error);
    free(temporary);
    return status;
}

osafl_status shared_file_replace(const char *folder, const char *name, const void *data,
                                 size_t size, struct error *error)
{
    struct utsname host = {0};
    char *temporary = NULL;
    uname(&host);
    if (asprintf(&temporary, ".%.40s.%.40s-%ld.tmp", name, host.nodename, (long)getpid()) < 0)
        return error_io(error, ENOMEM, "write", name);
    const osafl_status status = replace_in(folder, NULL, temporary, name, data, size, error);
    free(temporary);
    return status;
}
