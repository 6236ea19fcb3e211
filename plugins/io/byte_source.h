/* byte_source.h - the bytes of a file, plain or gzip, of a member of a ZIP archive, or of a piece
 * of memory.
 *
 * Parsers read from a source and know nothing of files, so that a fuzzer can feed them from
 * memory.  Every failure leaves one message that begins with the source's name. */
#ifndef OSAFL_IO_BYTE_SOURCE_H
#define OSAFL_IO_BYTE_SOURCE_H

#include "osafl/base.h"

struct io_message {
    char text[768];
};

/* Formats the message and returns code. */
osafl_status io_fail(struct io_message *m, osafl_status code, const char *fmt, ...)
    OSAFL_PRINTF(3, 4);

struct byte_source {
    const char *name;           /* of the file; not owned */
    struct io_message *message; /* where failures are reported; not owned */
    void *gz;                   /* zlib's gzFile, or */
    struct zip_member *zip;     /* a member of an archive; both NULL: memory */
    unsigned char *buffer;      /* of a file */
    const unsigned char *next;  /* what was read but not taken yet: next[0 .. left) */
    uint64_t left;
    uint64_t taken;
    /* No more than so many bytes can come in all, however long a header claims the content to be:
     * a plain file's size, or 1032 times that of a gzip file, the most that deflate can do. */
    uint64_t at_most;
};

/* Opens a regular file.  A file whose name ends in .gz must be gzip; any other may be.  name is
 * kept.  OSAFL_E_IO, OSAFL_E_DATA, OSAFL_E_NOMEM. */
osafl_status byte_source_open(struct byte_source *s, const char *name, struct io_message *m);

/* Opens a member of a ZIP archive: one of this name, with or without ".npy"; "" is the only one.
 * name: of the source, for messages; archive and name are kept.  Failures as above. */
osafl_status byte_source_open_member(struct byte_source *s, const char *name, const char *archive,
                                     const char *member, struct io_message *m);

/* Reads from memory, which must outlive s. */
void byte_source_memory(struct byte_source *s, const char *name, const void *data, uint64_t n,
                        struct io_message *m);

void byte_source_close(struct byte_source *s);

/* Takes up to n bytes; *got is smaller than n only at the end. */
osafl_status byte_source_read(struct byte_source *s, void *out, uint64_t n, uint64_t *got);

/* Takes exactly n bytes; "is cut off" otherwise.  what: for the message, "the header". */
osafl_status byte_source_exactly(struct byte_source *s, void *out, uint64_t n, const char *what);

/* OSAFL_E_DATA when the source cannot hold n bytes more, whatever they are: to be asked before
 * memory is allocated for what a header claims. */
osafl_status byte_source_expect(struct byte_source *s, uint64_t n, const char *what);

/* Allocates *out with malloc() and takes exactly n >= 1 bytes, if they can be expected. */
osafl_status byte_source_load(struct byte_source *s, uint64_t n, const char *what, void **out);

/* OSAFL_E_DATA unless the source ends here. */
osafl_status byte_source_end(struct byte_source *s);

enum { BYTE_SOURCE_END = -1, BYTE_SOURCE_FAILED = -2 };
/* Takes one byte: 0 .. 255, or BYTE_SOURCE_*. */
int byte_source_get(struct byte_source *s);

#endif
