/* byte_source.c - the bytes of a file, of a member of an archive, or of a piece of memory. */
#include "byte_source.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "zip_member.h"

#define BUFFER_BYTES 65536u

/* A deflate stream cannot stand for more than so many bytes per byte of its own. */
#define DEFLATE_MOST 1032u

osafl_status io_fail(struct io_message *m, osafl_status code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(m->text, sizeof m->text, fmt, args);
    va_end(args);
    return code;
}

static bool named_gz(const char *name)
{
    const size_t n = strlen(name);
    return n >= 3 && strcmp(name + n - 3, ".gz") == 0;
}

/* Reads the next piece of a file into the buffer; left stays 0 at the end. */
static osafl_status fill(struct byte_source *s)
{
    assert(s->left == 0);
    if (s->zip != NULL) {
        size_t got = 0;
        OSAFL_TRY(zip_read(s->zip, s->buffer, BUFFER_BYTES, &got));
        s->next = s->buffer;
        s->left = got;
        return OSAFL_OK;
    }
    if (s->gz == NULL)
        return OSAFL_OK;
    errno = 0;
    const int n = gzread(s->gz, s->buffer, BUFFER_BYTES);
    /* zlib returns what it could decode of a file that is cut off, and reports it only when asked.
     */
    int code = Z_OK;
    const char *text = gzerror(s->gz, &code);
    if (n < 0 || (code != Z_OK && code != Z_STREAM_END)) {
        if (code == Z_ERRNO)
            return io_fail(s->message, OSAFL_E_IO, "%s: cannot be read: %s", s->name,
                           strerror(errno));
        return io_fail(s->message, OSAFL_E_DATA,
                       "%s: the gzip data are damaged or cut off after %" PRIu64
                       " decoded bytes (%s); fetch the file again",
                       s->name, s->taken, code == Z_BUF_ERROR ? "unexpected end" : text);
    }
    s->next = s->buffer;
    s->left = (uint64_t)n;
    return OSAFL_OK;
}

/* Looked at before it is opened: opening a pipe would wait for a writer. */
static osafl_status look_at(const char *name, uint64_t *size, struct io_message *m)
{
    struct stat info;
    if (stat(name, &info) != 0)
        return io_fail(m, OSAFL_E_IO, "%s: cannot be opened: %s", name, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return io_fail(m, OSAFL_E_IO, "%s: is not a regular file", name);
    *size = (uint64_t)info.st_size;
    return OSAFL_OK;
}

/* What n bytes of deflated data can stand for at most. */
static uint64_t inflated(uint64_t n)
{
    return n > UINT64_MAX / DEFLATE_MOST ? UINT64_MAX : n * DEFLATE_MOST;
}

osafl_status byte_source_open(struct byte_source *s, const char *name, struct io_message *m)
{
    uint64_t size = 0;
    *s = (struct byte_source){.name = name, .message = m};
    OSAFL_TRY(look_at(name, &size, m));
    s->buffer = malloc(BUFFER_BYTES);
    s->gz = gzopen(name, "rbe");
    osafl_status status = OSAFL_OK;
    if (s->gz == NULL && errno != 0)
        status = io_fail(m, OSAFL_E_IO, "%s: cannot be opened: %s", name, strerror(errno));
    else if (s->gz == NULL || s->buffer == NULL)
        status = io_fail(m, OSAFL_E_NOMEM, "%s: out of memory", name);
    /* Whether the file is gzip, zlib finds out from its first bytes. */
    if (status == OSAFL_OK)
        status = fill(s);
    const bool plain = status == OSAFL_OK && gzdirect(s->gz) != 0;
    if (plain && named_gz(name))
        status = io_fail(m, OSAFL_E_DATA, "%s: is named .gz but holds no gzip data", name);
    if (status != OSAFL_OK) {
        byte_source_close(s);
        return status;
    }
    s->at_most = plain ? size : inflated(size);
    return OSAFL_OK;
}

osafl_status byte_source_open_member(struct byte_source *s, const char *name, const char *archive,
                                     const char *member, struct io_message *m)
{
    uint64_t size = 0;
    *s = (struct byte_source){.name = name, .message = m};
    OSAFL_TRY(look_at(archive, &size, m));
    OSAFL_TRY(zip_open(archive, member, m, &s->zip));
    s->buffer = malloc(BUFFER_BYTES);
    if (s->buffer == NULL) {
        byte_source_close(s);
        return io_fail(m, OSAFL_E_NOMEM, "%s: out of memory", name);
    }
    s->at_most = zip_size(s->zip) < inflated(size) ? zip_size(s->zip) : inflated(size);
    return OSAFL_OK;
}

void byte_source_memory(struct byte_source *s, const char *name, const void *data, uint64_t n,
                        struct io_message *m)
{
    *s = (struct byte_source){.name = name, .message = m, .next = data, .left = n, .at_most = n};
}

void byte_source_close(struct byte_source *s)
{
    if (s->gz != NULL)
        (void)gzclose_r(s->gz);
    if (s->zip != NULL)
        zip_close(s->zip);
    free(s->buffer);
    *s = (struct byte_source){0};
}

osafl_status byte_source_read(struct byte_source *s, void *out, uint64_t n, uint64_t *got)
{
    unsigned char *to = out;
    *got = 0;
    while (*got < n) {
        if (s->left == 0) {
            OSAFL_TRY(fill(s));
            if (s->left == 0)
                break;
        }
        const uint64_t piece = s->left < n - *got ? s->left : n - *got;
        memcpy(to + *got, s->next, piece);
        s->next += piece;
        s->left -= piece;
        s->taken += piece;
        *got += piece;
    }
    return OSAFL_OK;
}

static osafl_status cut_off(struct byte_source *s, uint64_t n, const char *what)
{
    return io_fail(s->message, OSAFL_E_DATA,
                   "%s: is cut off: %s should end at byte %" PRIu64
                   ", the file ends before; fetch it again",
                   s->name, what, s->taken + n);
}

osafl_status byte_source_exactly(struct byte_source *s, void *out, uint64_t n, const char *what)
{
    uint64_t got = 0;
    OSAFL_TRY(byte_source_read(s, out, n, &got));
    return got == n ? OSAFL_OK : cut_off(s, n - got, what);
}

osafl_status byte_source_expect(struct byte_source *s, uint64_t n, const char *what)
{
    const uint64_t can_come = s->at_most > s->taken ? s->at_most - s->taken : 0;
    return n <= can_come ? OSAFL_OK : cut_off(s, n, what);
}

osafl_status byte_source_load(struct byte_source *s, uint64_t n, const char *what, void **out)
{
    assert(n >= 1);
    OSAFL_TRY(byte_source_expect(s, n, what));
    void *memory = n <= SIZE_MAX ? malloc((size_t)n) : NULL;
    if (memory == NULL)
        return io_fail(s->message, OSAFL_E_NOMEM, "%s: out of memory: %s has %" PRIu64 " bytes",
                       s->name, what, n);
    const osafl_status status = byte_source_exactly(s, memory, n, what);
    if (status != OSAFL_OK) {
        free(memory);
        return status;
    }
    *out = memory;
    return OSAFL_OK;
}

osafl_status byte_source_end(struct byte_source *s)
{
    unsigned char byte;
    uint64_t got = 0;
    OSAFL_TRY(byte_source_read(s, &byte, 1, &got));
    if (got == 0)
        return OSAFL_OK;
    return io_fail(s->message, OSAFL_E_DATA,
                   "%s: goes on after the %" PRIu64
                   " bytes that it should have; it is not the file that it claims to be",
                   s->name, s->taken - 1);
}

int byte_source_get(struct byte_source *s)
{
    if (s->left == 0) {
        if (fill(s) != OSAFL_OK)
            return BYTE_SOURCE_FAILED;
        if (s->left == 0)
            return BYTE_SOURCE_END;
    }
    s->left--;
    s->taken++;
    return *s->next++;
}
