/* zip_member.h - the bytes of one member of a ZIP archive, stored or deflated, as NumPy's .npz
 * files have them (PKWARE APPNOTE 6.3.10 with its ZIP64 extensions).  No encryption, no archives in
 * several parts. */
#ifndef OSAFL_IO_ZIP_MEMBER_H
#define OSAFL_IO_ZIP_MEMBER_H

#include "byte_source.h"

struct zip_member;

/* Finds a member by its name, or by its name and ".npy"; "" is the only member.  OSAFL_E_DATA with
 * the names that there are where none is meant.  OSAFL_E_IO, OSAFL_E_NOMEM. */
osafl_status zip_open(const char *archive, const char *member, struct io_message *m,
                      struct zip_member **out);

/* Bytes of the member. */
uint64_t zip_size(const struct zip_member *z);

/* Reads up to size >= 1 bytes; *n is 0 at the end, where the checksum has been compared. */
osafl_status zip_read(struct zip_member *z, unsigned char *out, size_t size, size_t *n);

void zip_close(struct zip_member *z);

#endif
