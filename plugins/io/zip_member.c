/* zip_member.c - the bytes of one member of a ZIP archive. */
#include "zip_member.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define END_BYTES 22u /* of the end of the central directory, with a comment behind it */
#define MOST_COMMENT 65535u
#define LOCATOR_BYTES 20u
#define END64_BYTES 56u
#define ENTRY_BYTES 46u /* of an entry of the directory, with name, extra field and comment */
#define LOCAL_BYTES 30u /* in front of a member's bytes, with name and extra field */
#define NAME_BYTES 256u /* longest name that is looked at */

enum { STORED = 0, DEFLATED = 8 };

struct zip_member {
    char *archive;
    struct io_message *message;
    FILE *file;
    uint64_t file_bytes;
    uint64_t entries; /* of the directory */
    uint64_t directory;
    bool found;
    uint32_t method;
    uint32_t checksum;
    uint64_t packed; /* bytes of the member in the file that were not read yet */
    uint64_t size;   /* of the member */
    uint64_t left;   /* bytes of it to come */
    uint64_t offset; /* of its local header */
    uint32_t so_far; /* checksum of what came */
    bool inflating;
    z_stream stream;
    unsigned char in[16384];
};

static osafl_status damaged(const struct zip_member *z, const char *why)
{
    return io_fail(z->message, OSAFL_E_DATA, "%s: is no ZIP archive that can be read: %s",
                   z->archive, why);
}

static uint64_t little_endian(const unsigned char *bytes, unsigned n)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static osafl_status read_at(struct zip_member *z, uint64_t offset, void *out, size_t n)
{
    if (offset > z->file_bytes || n > z->file_bytes - offset)
        return damaged(z, "its directory leads beyond its end; is the file cut off?");
    if (fseeko(z->file, (off_t)offset, SEEK_SET) != 0 || fread(out, 1, n, z->file) != n)
        return io_fail(z->message, OSAFL_E_IO, "%s: cannot be read: %s", z->archive,
                       strerror(errno));
    return OSAFL_OK;
}

/* --- The directory */

/* Where the directory is larger than 32 bits can say, or the writer was careful. */
static osafl_status read_end64(struct zip_member *z, uint64_t end)
{
    unsigned char locator[LOCATOR_BYTES];
    unsigned char bytes[END64_BYTES];
    if (end < LOCATOR_BYTES)
        return damaged(z, "its ZIP64 directory is missing");
    OSAFL_TRY(read_at(z, end - LOCATOR_BYTES, locator, sizeof locator));
    if (memcmp(locator, "PK\x06\x07", 4) != 0)
        return damaged(z, "its ZIP64 directory is missing");
    OSAFL_TRY(read_at(z, little_endian(locator + 8, 8), bytes, sizeof bytes));
    if (memcmp(bytes, "PK\x06\x06", 4) != 0)
        return damaged(z, "its ZIP64 directory is missing");
    z->entries = little_endian(bytes + 32, 8);
    z->directory = little_endian(bytes + 48, 8);
    return OSAFL_OK;
}

/* The directory's end stands at the end of the file, behind it only a comment. */
static osafl_status find_directory(struct zip_member *z)
{
    const uint64_t most = END_BYTES + MOST_COMMENT;
    const size_t n = (size_t)(z->file_bytes < most ? z->file_bytes : most);
    unsigned char *tail = malloc(n + 1);
    if (tail == NULL)
        return io_fail(z->message, OSAFL_E_NOMEM, "%s: out of memory", z->archive);
    osafl_status status = read_at(z, z->file_bytes - n, tail, n);
    bool found = false;
    for (size_t back = END_BYTES; status == OSAFL_OK && !found && back <= n; back++) {
        const unsigned char *end = tail + n - back;
        found = memcmp(end, "PK\x05\x06", 4) == 0 && little_endian(end + 20, 2) == back - END_BYTES;
        if (!found)
            continue;
        z->entries = little_endian(end + 10, 2);
        z->directory = little_endian(end + 16, 4);
        if (z->entries == UINT16_MAX || z->directory == UINT32_MAX)
            status = read_end64(z, z->file_bytes - back);
    }
    free(tail);
    if (status == OSAFL_OK && !found)
        return damaged(z, "it does not end in a directory; is the file cut off?");
    return status;
}

/* Takes the numbers that an entry has in its extra field, since they do not fit 32 bits. */
static void read_extra(struct zip_member *z, const unsigned char *extra, size_t n)
{
    uint64_t *const wide[] = {&z->size, &z->packed, &z->offset};
    for (size_t at = 0; at + 4 <= n;) {
        const size_t length = (size_t)little_endian(extra + at + 2, 2);
        const unsigned char *value = extra + at + 4;
        if (length > n - at - 4)
            break;
        size_t used = 0;
        for (size_t i = 0; i < 3 && little_endian(extra + at, 2) == 1; i++)
            if (*wide[i] == UINT32_MAX && used + 8 <= length) {
                *wide[i] = little_endian(value + used, 8);
                used += 8;
            }
        at += 4 + length;
    }
}

static osafl_status take_entry(struct zip_member *z, const unsigned char *entry, uint64_t at)
{
    unsigned char *extra = NULL;
    const size_t extra_bytes = (size_t)little_endian(entry + 30, 2);
    if ((entry[8] & 1) != 0)
        return damaged(z, "the member is encrypted");
    z->found = true;
    z->method = (uint32_t)little_endian(entry + 10, 2);
    z->checksum = (uint32_t)little_endian(entry + 16, 4);
    z->packed = little_endian(entry + 20, 4);
    z->size = little_endian(entry + 24, 4);
    z->offset = little_endian(entry + 42, 4);
    if (extra_bytes == 0)
        return OSAFL_OK;
    extra = malloc(extra_bytes);
    if (extra == NULL)
        return io_fail(z->message, OSAFL_E_NOMEM, "%s: out of memory", z->archive);
    const osafl_status status =
        read_at(z, at + ENTRY_BYTES + little_endian(entry + 28, 2), extra, extra_bytes);
    if (status == OSAFL_OK)
        read_extra(z, extra, extra_bytes);
    free(extra);
    return status;
}

static bool is_named(const char *name, const char *wanted)
{
    const size_t n = strlen(wanted);
    return n == 0 || strcmp(name, wanted) == 0 ||
           (strncmp(name, wanted, n) == 0 && strcmp(name + n, ".npy") == 0);
}

static void add_name(char *names, size_t size, const char *name)
{
    const size_t used = strlen(names);
    const size_t n = strlen(name);
    const size_t end = n > 4 && strcmp(name + n - 4, ".npy") == 0 ? n - 4 : n;
    (void)snprintf(names + used, size - used, "%s%.*s", used > 0 ? ", " : "", (int)end, name);
}

static osafl_status find_member(struct zip_member *z, const char *member)
{
    char names[256] = "";
    uint64_t matches = 0;
    for (uint64_t at = z->directory, i = 0; i < z->entries; i++) {
        unsigned char entry[ENTRY_BYTES];
        char name[NAME_BYTES] = "";
        OSAFL_TRY(read_at(z, at, entry, sizeof entry));
        if (memcmp(entry, "PK\x01\x02", 4) != 0)
            return damaged(z, "its directory is damaged");
        const size_t length = (size_t)little_endian(entry + 28, 2);
        if (length < NAME_BYTES)
            OSAFL_TRY(read_at(z, at + ENTRY_BYTES, name, length));
        if (length < NAME_BYTES && is_named(name, member) && matches++ == 0)
            OSAFL_TRY(take_entry(z, entry, at));
        add_name(names, sizeof names, name);
        at += ENTRY_BYTES + length + little_endian(entry + 30, 2) + little_endian(entry + 32, 2);
    }
    if (matches == 1)
        return OSAFL_OK;
    return io_fail(z->message, OSAFL_E_DATA,
                   matches > 1 ? "%s: holds several arrays (%s); say which one, as in \"%s:%.*s\""
                               : "%s: holds no array of that name, but: %s; name one as in "
                                 "\"%s:%.*s\"",
                   z->archive, names, z->archive, (int)strcspn(names, ","), names);
}

/* --- The member's bytes */

static osafl_status find_bytes(struct zip_member *z)
{
    unsigned char header[LOCAL_BYTES];
    OSAFL_TRY(read_at(z, z->offset, header, sizeof header));
    if (memcmp(header, "PK\x03\x04", 4) != 0)
        return damaged(z, "its directory leads to no member");
    const uint64_t begin =
        z->offset + LOCAL_BYTES + little_endian(header + 26, 2) + little_endian(header + 28, 2);
    if (begin > z->file_bytes || z->packed > z->file_bytes - begin)
        return damaged(z, "a member goes beyond its end; is the file cut off?");
    if (z->method != STORED && z->method != DEFLATED)
        return damaged(z, "the member is neither stored nor deflated");
    if (z->method == STORED && z->packed != z->size)
        return damaged(z, "its directory is damaged");
    z->left = z->size;
    z->so_far = (uint32_t)crc32(0, NULL, 0);
    if (fseeko(z->file, (off_t)begin, SEEK_SET) != 0)
        return io_fail(z->message, OSAFL_E_IO, "%s: cannot be read: %s", z->archive,
                       strerror(errno));
    if (z->method == DEFLATED) {
        if (inflateInit2(&z->stream, -MAX_WBITS) != Z_OK)
            return io_fail(z->message, OSAFL_E_NOMEM, "%s: out of memory", z->archive);
        z->inflating = true;
    }
    return OSAFL_OK;
}

osafl_status zip_open(const char *archive, const char *member, struct io_message *m,
                      struct zip_member **out)
{
    struct zip_member *z = calloc(1, sizeof *z);
    if (z == NULL)
        return io_fail(m, OSAFL_E_NOMEM, "%s: out of memory", archive);
    z->archive = strdup(archive);
    z->message = m;
    if (z->archive == NULL) {
        zip_close(z);
        return io_fail(m, OSAFL_E_NOMEM, "%s: out of memory", archive);
    }
    z->file = fopen(archive, "rbe");
    osafl_status status = OSAFL_OK;
    if (z->file == NULL || fseeko(z->file, 0, SEEK_END) != 0)
        status = io_fail(m, OSAFL_E_IO, "%s: cannot be opened: %s", archive, strerror(errno));
    if (status == OSAFL_OK) {
        const off_t end = ftello(z->file);
        z->file_bytes = end > 0 ? (uint64_t)end : 0;
        status = find_directory(z);
    }
    if (status == OSAFL_OK)
        status = find_member(z, member);
    if (status == OSAFL_OK)
        status = find_bytes(z);
    if (status != OSAFL_OK) {
        zip_close(z);
        return status;
    }
    *out = z;
    return OSAFL_OK;
}

void zip_close(struct zip_member *z)
{
    if (z->inflating)
        (void)inflateEnd(&z->stream);
    if (z->file != NULL)
        (void)fclose(z->file);
    free(z->archive);
    free(z);
}

uint64_t zip_size(const struct zip_member *z)
{
    return z->size;
}

/* Reads packed bytes. */
static osafl_status read_packed(struct zip_member *z, unsigned char *out, size_t size, size_t *n)
{
    const size_t wanted = z->packed < size ? (size_t)z->packed : size;
    *n = fread(out, 1, wanted, z->file);
    if (*n != wanted)
        return io_fail(z->message, OSAFL_E_IO, "%s: cannot be read: %s", z->archive,
                       strerror(errno));
    z->packed -= wanted;
    return OSAFL_OK;
}

static osafl_status inflate_some(struct zip_member *z, unsigned char *out, size_t size, size_t *n)
{
    int code = Z_OK;
    z->stream.next_out = out;
    z->stream.avail_out = (unsigned)size;
    while (code == Z_OK && z->stream.avail_out > 0) {
        if (z->stream.avail_in == 0) {
            size_t got = 0;
            OSAFL_TRY(read_packed(z, z->in, sizeof z->in, &got));
            z->stream.next_in = z->in;
            z->stream.avail_in = (unsigned)got;
        }
        code = inflate(&z->stream, Z_NO_FLUSH);
    }
    *n = size - z->stream.avail_out;
    if (code == Z_MEM_ERROR)
        return io_fail(z->message, OSAFL_E_NOMEM, "%s: out of memory", z->archive);
    /* A stream that goes on, or ends, elsewhere than the directory says. */
    if (code != Z_OK && code != Z_STREAM_END)
        return damaged(z, "the compressed data are damaged or cut off");
    return OSAFL_OK;
}

osafl_status zip_read(struct zip_member *z, unsigned char *out, size_t size, size_t *n)
{
    *n = 0;
    if (z->left == 0)
        return OSAFL_OK;
    const size_t wanted = z->left < size ? (size_t)z->left : size;
    OSAFL_TRY(z->method == STORED ? read_packed(z, out, wanted, n)
                                  : inflate_some(z, out, wanted, n));
    if (*n == 0)
        return damaged(z, "a member is shorter than its directory says");
    z->left -= *n;
    z->so_far = (uint32_t)crc32(z->so_far, out, (unsigned)*n);
    if (z->left == 0 && z->so_far != z->checksum)
        return damaged(z, "the checksum of a member is wrong; fetch the file again");
    return OSAFL_OK;
}
