/* file_read.c - a whole file in memory. */
#include "file_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Up to n bytes into data; fewer when the file has become shorter.  An errno value, 0: none. */
static int read_bytes(int fd, char *data, size_t n, size_t *got)
{
    *got = 0;
    while (*got < n) {
        const ssize_t piece = read(fd, data + *got, n - *got);
        if (piece == 0)
            return 0;
        if (piece > 0)
            *got += (size_t)piece;
        else if (errno != EINTR)
            return errno;
    }
    return 0;
}

void *file_read(const char *path, size_t most, size_t *size, int *error)
{
    char *data = NULL;
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *size = 0;
    *error = 0;
    if (fd < 0 || fstat(fd, &st) != 0)
        *error = errno;
    else if (!S_ISREG(st.st_mode))
        *error = EINVAL;
    else if ((uintmax_t)st.st_size > most)
        *error = EFBIG;
    else if ((data = malloc((size_t)st.st_size + 1)) == NULL)
        *error = ENOMEM;
    else
        *error = read_bytes(fd, data, (size_t)st.st_size, size);
    if (fd >= 0)
        close(fd);
    if (*error != 0) {
        free(data);
        return NULL;
    }
    data[*size] = '\0';
    return data;
}

/* Until the end of the pipe, or one byte more than `most`.  An errno value, 0: none. */
static int read_pipe(int fd, char *data, size_t most, size_t *got)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return errno;
    if (!S_ISFIFO(st.st_mode))
        return EINVAL;
    /* It was opened so that a pipe that nobody writes to has an end; now it is waited for. */
    if (fcntl(fd, F_SETFL, 0) != 0)
        return errno;
    const int error = read_bytes(fd, data, most + 1, got);
    if (error != 0 || (*got > 0 && *got <= most))
        return error;
    return *got == 0 ? EINVAL : EFBIG;
}

void *pipe_read(const char *path, size_t most, size_t *size, int *error)
{
    char *data = malloc(most + 2);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *size = 0;
    if (data == NULL)
        *error = ENOMEM;
    else if (fd < 0)
        *error = errno;
    else
        *error = read_pipe(fd, data, most, size);
    if (fd >= 0)
        close(fd);
    if (*error != 0) {
        free(data);
        return NULL;
    }
    data[*size] = '\0';
    return data;
}

const char *file_read_problem(int error)
{
    if (error == EINVAL)
        return "not a regular file";
    return error == EFBIG ? "too large" : strerror(error);
}
