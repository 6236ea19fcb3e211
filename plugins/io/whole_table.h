/* whole_table.h - a table of whole numbers in text: a header with the names of the columns, in any
 * order, and rows of numbers of 0 .. 2^32 - 2. */
#ifndef OSAFL_IO_WHOLE_TABLE_H
#define OSAFL_IO_WHOLE_TABLE_H

#include "byte_source.h"

struct whole_table {
    const char *name; /* of the file; not owned */
    uint32_t columns;
    uint64_t rows;
    uint32_t *value; /* [rows][columns] */
    uint32_t *line;  /* [rows]: where the row stands in the file, from 1 */
    uint64_t capacity;
};

/* Reads a file, plain or gzip, whose columns are exactly the named ones; they stand in t in the
 * order of names.  path is kept.  OSAFL_E_IO, OSAFL_E_DATA (naming file, line and column),
 * OSAFL_E_NOMEM. */
osafl_status whole_table_read(struct whole_table *t, const char *path, const char *const *names,
                              uint32_t columns, struct io_message *m);
void whole_table_free(struct whole_table *t); /* a zeroed struct is allowed */

#endif
