/* csv_writer.c - appends rows to a CSV file. */
#include "csv_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

#define BUFFER_BYTES 65536

struct csv_writer {
    char *path;
    int fd;
    int error; /* errno of the first failed write; 0: none */
    bool in_row;
    uint64_t length; /* of the file, without the buffer */
    size_t used;
    char buffer[BUFFER_BYTES];
};

/* Empties the buffer into the file; after an error nothing more is written. */
static void drain(struct csv_writer *w)
{
    size_t done = 0;
    while (w->error == 0 && done < w->used) {
        const ssize_t written = write(w->fd, w->buffer + done, w->used - done);
        if (written >= 0)
            done += (size_t)written;
        else if (errno != EINTR)
            w->error = errno;
    }
    w->length += done;
    w->used = 0;
}

static void put(struct csv_writer *w, char c)
{
    if (w->used == BUFFER_BYTES)
        drain(w);
    w->buffer[w->used++] = c;
}

/* The file must begin with the header and a line's end, within its first `length` bytes. */
static osafl_status check_header(const struct csv_writer *w, const char *header, uint64_t length,
                                 char *message)
{
    const size_t size = strlen(header);
    char *const found = malloc(size + 1);
    if (found == NULL)
        return message_io(message, ENOMEM, "read", w->path);
    const ssize_t got = pread(w->fd, found, size + 1, 0);
    const int error = errno;
    const bool same = length > size && got == (ssize_t)size + 1 &&
                      memcmp(found, header, size) == 0 && found[size] == '\n';
    free(found);
    if (same)
        return OSAFL_OK;
    if (got < 0)
        return message_io(message, error, "read", w->path);
    return message_fail(message, OSAFL_E_STATE,
                        "%s has other columns than this program writes; start afresh in another "
                        "folder with --out or --results, or here with --force",
                        w->path);
}

static osafl_status open_at(struct csv_writer *w, const char *header, uint64_t length,
                            char *message)
{
    w->fd = open(w->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (w->fd < 0)
        return message_io(message, errno, "write", w->path);
    struct stat st;
    if (fstat(w->fd, &st) != 0)
        return message_io(message, errno, "read the length of", w->path);
    if ((uint64_t)st.st_size < length)
        return message_fail(message, OSAFL_E_STATE,
                            "%s has %" PRIu64
                            " bytes, but its checkpoint was written after %" PRIu64
                            "; the file was changed: restore it, or start afresh with --force",
                            w->path, (uint64_t)st.st_size, length);
    if (length > 0)
        OSAFL_TRY(check_header(w, header, length, message));
    if (ftruncate(w->fd, (off_t)length) != 0 || lseek(w->fd, (off_t)length, SEEK_SET) < 0)
        return message_io(message, errno, "write", w->path);
    w->length = length;
    if (length > 0)
        return OSAFL_OK;
    for (const char *c = header; *c != '\0'; ++c)
        put(w, *c);
    put(w, '\n');
    return csv_flush(w, message);
}

osafl_status csv_open(const char *path, const char *header, uint64_t length,
                      struct csv_writer **out, char *message)
{
    struct csv_writer *const w = calloc(1, sizeof *w);
    if (w != NULL) {
        w->fd = -1;
        w->path = strdup(path);
    }
    if (w == NULL || w->path == NULL) {
        csv_close(w);
        return message_io(message, ENOMEM, "write", path);
    }
    const osafl_status status = open_at(w, header, length, message);
    if (status != OSAFL_OK) {
        csv_close(w);
        return status;
    }
    *out = w;
    return OSAFL_OK;
}

void csv_close(struct csv_writer *w)
{
    if (w == NULL)
        return;
    if (w->fd >= 0)
        close(w->fd);
    free(w->path);
    free(w);
}

static void put_field(struct csv_writer *w, const char *s, bool quoted)
{
    if (w->in_row)
        put(w, ',');
    w->in_row = true;
    if (quoted)
        put(w, '"');
    for (; *s != '\0'; ++s) {
        if (quoted && *s == '"')
            put(w, '"');
        put(w, *s);
    }
    if (quoted)
        put(w, '"');
}

void csv_text(struct csv_writer *w, const char *s)
{
    if (s == NULL)
        s = "";
    put_field(w, s, strpbrk(s, ",\"\r\n") != NULL);
}

void csv_count(struct csv_writer *w, uint64_t v)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, v);
    put_field(w, text, false);
}

void csv_format_real(double v, char out[CSV_REAL_BYTES])
{
    if (isnan(v)) {
        out[0] = '\0';
        return;
    }
    for (int digits = 15; digits <= 17; ++digits) {
        snprintf(out, CSV_REAL_BYTES, "%.*g", digits, v);
        if (strtod(out, NULL) == v) /* in the same locale, whatever it is */
            break;
    }
    /* Of all the locale's habits only the decimal separator shows in %g, as what is no digit,
     * sign or letter; it may take several bytes. */
    char *to = out;
    bool separated = false;
    for (const char *from = out; *from != '\0'; ++from) {
        if (strchr("+-0123456789einfa", *from) != NULL) {
            *to++ = *from;
        } else if (!separated) {
            *to++ = '.';
            separated = true;
        }
    }
    *to = '\0';
}

void csv_real(struct csv_writer *w, double v)
{
    char text[CSV_REAL_BYTES];
    csv_format_real(v, text);
    put_field(w, text, false);
}

void csv_end_row(struct csv_writer *w)
{
    put(w, '\n');
    w->in_row = false;
}

osafl_status csv_flush(struct csv_writer *w, char *message)
{
    drain(w);
    return w->error == 0 ? OSAFL_OK : message_io(message, w->error, "write", w->path);
}

osafl_status csv_sync(struct csv_writer *w, char *message)
{
    OSAFL_TRY(csv_flush(w, message));
    if (fsync(w->fd) != 0) {
        w->error = errno;
        return message_io(message, w->error, "write", w->path);
    }
    return OSAFL_OK;
}

uint64_t csv_length(const struct csv_writer *w)
{
    return w->length + w->used;
}
