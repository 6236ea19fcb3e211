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

#include "error.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define BUFFER_BYTES 65536

struct csv_writer {
    char *path;
    int fd;
    int error; /* errno of the first failed write; 0: none */
    bool in_row;
    uint64_t length;    /* of the file, without the buffer */
    XXH3_state_t *hash; /* of those bytes */
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
    XXH3_64bits_update(w->hash, w->buffer, done);
    w->length += done;
    w->used = 0;
}

static void put(struct csv_writer *w, char c)
{
    if (w->used == BUFFER_BYTES)
        drain(w);
    w->buffer[w->used++] = c;
}

/* Whether block, from offset `at` on, agrees with the header and its line's end. */
static bool fits_header(const char *header, uint64_t at, const char *block, size_t n)
{
    const uint64_t size = strlen(header);
    if (at > size)
        return true;
    const size_t shared = n < size - at ? n : (size_t)(size - at);
    return memcmp(block, header + at, shared) == 0 && (n == shared || block[shared] == '\n');
}

/* Reads the first `length` bytes, which must begin with the header and a line's end, into the hash.
 * The buffer is empty and serves for that. */
static osafl_status read_beginning(struct csv_writer *w, const char *header, uint64_t length,
                                   struct error *error)
{
    bool same = length > strlen(header);
    for (uint64_t at = 0; at < length && same;) {
        const size_t n = length - at < BUFFER_BYTES ? (size_t)(length - at) : BUFFER_BYTES;
        const ssize_t got = pread(w->fd, w->buffer, n, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_io(error, errno, "read", w->path);
        same = got > 0 && fits_header(header, at, w->buffer, (size_t)got);
        XXH3_64bits_update(w->hash, w->buffer, (size_t)got);
        at += (uint64_t)got;
    }
    if (same)
        return OSAFL_OK;
    return error_set(error, OSAFL_E_STATE,
                     "%s has other columns than this program writes; start afresh in another "
                     "folder with --out or --results, or here with --force",
                     w->path);
}

/* Never through a symbolic link: it may lead to a file of somebody else.  Appending shows by the
 * length that somebody cut the file meanwhile. */
static osafl_status open_file(struct csv_writer *w, struct stat *st, struct error *error)
{
    w->fd = open(w->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (w->fd < 0)
        return error_io(error, errno, "write", w->path);
    if (fstat(w->fd, st) != 0)
        return error_io(error, errno, "read the length of", w->path);
    if (S_ISREG(st->st_mode) || S_ISCHR(st->st_mode))
        return OSAFL_OK;
    return error_set(error, OSAFL_E_IO,
                     "cannot write %s: it is not a regular file; remove it, or choose another "
                     "folder with --out or --results",
                     w->path);
}

static osafl_status open_at(struct csv_writer *w, const char *header, uint64_t length,
                            struct error *error)
{
    struct stat st;
    OSAFL_TRY(open_file(w, &st, error));
    if ((uint64_t)st.st_size < length)
        return error_set(error, OSAFL_E_STATE,
                         "%s has %" PRIu64 " bytes, but its checkpoint was written after %" PRIu64
                         "; the file was changed: restore it, or start afresh with --force",
                         w->path, (uint64_t)st.st_size, length);
    if (length > 0)
        OSAFL_TRY(read_beginning(w, header, length, error));
    if (ftruncate(w->fd, (off_t)length) != 0)
        return error_io(error, errno, "write", w->path);
    w->length = length;
    if (length > 0)
        return OSAFL_OK;
    for (const char *c = header; *c != '\0'; c++)
        put(w, *c);
    put(w, '\n');
    return csv_flush(w, error);
}

osafl_status csv_writer_open(const char *path, const char *header, uint64_t length,
                             struct csv_writer **out, struct error *error)
{
    struct csv_writer *w = calloc(1, sizeof *w);
    if (w != NULL) {
        w->fd = -1;
        w->path = strdup(path);
        w->hash = XXH3_createState();
    }
    if (w == NULL || w->path == NULL || w->hash == NULL) {
        csv_writer_close(w);
        return error_io(error, ENOMEM, "write", path);
    }
    XXH3_64bits_reset(w->hash);
    const osafl_status status = open_at(w, header, length, error);
    if (status != OSAFL_OK) {
        csv_writer_close(w);
        return status;
    }
    *out = w;
    return OSAFL_OK;
}

void csv_writer_close(struct csv_writer *w)
{
    if (w == NULL)
        return;
    if (w->fd >= 0)
        close(w->fd);
    XXH3_freeState(w->hash);
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
    for (; *s != '\0'; s++) {
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
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, CSV_REAL_BYTES, "%.*g", digits, v);
        if (strtod(out, NULL) == v) /* in the same locale, whatever it is */
            break;
    }
    /* Of all the locale's habits only the decimal separator shows in %g, as what is no digit,
     * sign or letter; it may take several bytes. */
    char *to = out;
    bool separated = false;
    for (const char *from = out; *from != '\0'; from++) {
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

osafl_status csv_flush(struct csv_writer *w, struct error *error)
{
    drain(w);
    return w->error == 0 ? OSAFL_OK : error_io(error, w->error, "write", w->path);
}

/* Rows that went into a file which is no longer there, or which somebody cut, are lost. */
static osafl_status check_place(const struct csv_writer *w, struct error *error)
{
    struct stat ours;
    struct stat found;
    if (fstat(w->fd, &ours) != 0)
        return error_io(error, errno, "read the length of", w->path);
    if (!S_ISREG(ours.st_mode))
        return OSAFL_OK;
    const bool there =
        lstat(w->path, &found) == 0 && found.st_dev == ours.st_dev && found.st_ino == ours.st_ino;
    if (there && (uint64_t)ours.st_size == w->length)
        return OSAFL_OK;
    return error_set(error, OSAFL_E_IO,
                     "cannot write %s: the file was %s while the run worked on it; start afresh "
                     "with --force",
                     w->path, there ? "changed" : "removed or replaced");
}

static bool sync_file(int fd)
{
    while (fsync(fd) != 0) {
        if (errno != EINTR)
            return false;
    }
    return true;
}

osafl_status csv_sync(struct csv_writer *w, struct error *error)
{
    OSAFL_TRY(csv_flush(w, error));
    if (!sync_file(w->fd)) {
        w->error = errno;
        return error_io(error, w->error, "write", w->path);
    }
    return check_place(w, error);
}

uint64_t csv_length(const struct csv_writer *w)
{
    return w->length + w->used;
}

uint64_t csv_hash(const struct csv_writer *w)
{
    return XXH3_64bits_digest(w->hash);
}
