/* csv_writer.h - appends rows to a CSV file (RFC 4180, lines end in \n) that can be read while it
 * grows and cut back to an earlier length.
 *
 * Errors of the file are kept and answered by the next flush or sync. */
#ifndef OSAFL_CORE_CSV_WRITER_H
#define OSAFL_CORE_CSV_WRITER_H

#include <stdint.h>

#include "error.h"
#include "osafl/base.h"

struct csv_writer;

/* Enough for any double that csv_format_real() prints. */
#define CSV_REAL_BYTES 32

/* Opens path for appending at `length`.  0 empties or creates the file and writes the header (a
 * line without its end); else the file must begin with that header and have at least that length,
 * and is cut to it: OSAFL_E_STATE otherwise.  A symbolic link is refused.  error: error.h */
osafl_status csv_writer_open(const char *path, const char *header, uint64_t length,
                             struct csv_writer **out, struct error *error);
/* Closes without a flush.  NULL is allowed. */
void csv_writer_close(struct csv_writer *w);

/* One field each; the row ends with csv_end_row(). */
void csv_text(struct csv_writer *w, const char *s); /* quoted where needed; NULL: empty */
void csv_count(struct csv_writer *w, uint64_t v);
void csv_real(struct csv_writer *w, double v); /* NAN: empty */
void csv_end_row(struct csv_writer *w);

/* Hands all rows to the system / to the disk.  The latter also finds a file that was removed,
 * replaced or cut meanwhile: OSAFL_E_IO. */
osafl_status csv_flush(struct csv_writer *w, struct error *error);
osafl_status csv_sync(struct csv_writer *w, struct error *error);
/* Bytes of the file with everything added so far. */
uint64_t csv_length(const struct csv_writer *w);
/* XXH3 of all bytes of the file, after a flush. */
uint64_t csv_hash(const struct csv_writer *w);

/* The fewest digits (15 to 17 significant) that read back as v, with a point whatever the locale;
 * "inf", "-inf"; "" for NAN. */
void csv_format_real(double v, char out[CSV_REAL_BYTES]);

#endif
