/* records.h - named, typed records in sections, packed into one block of bytes and back.
 *
 * Pure functions of buffers: what becomes of the bytes (checkpoint.c writes them to a file) is
 * decided elsewhere.  The bytes depend on nothing but the names, the values and the release of
 * zlib, on any machine:
 *
 *   block    8 bytes 8f 'O' 'S' 'A' 'F' 'L' 0d 0a, u32 format, u32 sections, u64 size of the block,
 *            sections, u64 XXH3 of everything before it
 *   section  u32 length of its name, u32 state version, u64 size of its records, name, records
 *   record   u32 length of its key, u32 type, u64 elements, key, elements
 *
 * Integers and doubles of 64 KiB and more are deflated where that makes them smaller: 0x100 is
 * added to their type, and in place of the elements are a u64, the bytes of a zlib stream, and the
 * stream.
 *
 * All integers are little-endian, floats IEEE 754; names and elements are padded with zeros to a
 * multiple of 8 bytes.  `error` is filled exactly on failure. */
#ifndef OSAFL_CORE_RECORDS_H
#define OSAFL_CORE_RECORDS_H

#include "error.h"
#include "osafl/plugin.h"

#define RECORD_NAME_BYTES 128 /* of the longest name of a section or key, with its end */

/* ---- writing ---- */

struct record_writer; /* a block under construction */

struct record_writer *record_writer_create(void);    /* NULL: out of memory */
void record_writer_destroy(struct record_writer *w); /* NULL is allowed */

/* Starts a section; the result takes its records until the next section starts or the block is
 * finished.  name: [a-z][a-z0-9_./]*, unique.  Never NULL: whatever goes wrong here or in a record
 * also makes record_writer_finish() fail, so that only records made by plugins need a look at their
 * status. */
osafl_writer *record_writer_section(struct record_writer *w, const char *name,
                                    uint32_t state_version);

/* OSAFL_OK while every record was taken. */
osafl_status record_writer_status(const struct record_writer *w);
/* Why a record was refused; "" when none was. */
const char *record_writer_problem(const struct record_writer *w);

/* Completes the block.  data belongs to the writer and lives as long as it.
 * OSAFL_E_BUG: a name was wrong or there twice; OSAFL_E_NOMEM. */
osafl_status record_writer_finish(struct record_writer *w, const void **data, size_t *size,
                                  struct error *error);

/* ---- reading ---- */

struct record_set; /* a block whose every length, name and checksum has been checked */

/* data is borrowed, and must stay unchanged as long as the set lives.  OSAFL_E_STATE: truncated,
 * damaged, or no block of ours; OSAFL_E_NOMEM. */
osafl_status record_set_open(const void *data, size_t size, struct record_set **out,
                             struct error *error);
void record_set_destroy(struct record_set *s); /* NULL is allowed */

/* Reads one section.  Lives where the caller puts it and refers to the set. */
struct record_reader {
    osafl_reader base; /* give &reader.base to whoever reads */
    const struct record_set *set;
    uint32_t section;
    struct error error; /* of the first record that did not fit; "" when all did */
};

/* OSAFL_E_STATE when there is no such section. */
osafl_status record_reader_open(const struct record_set *s, const char *section,
                                struct record_reader *out, struct error *error);

/* Records of the section. */
uint32_t record_reader_records(const struct record_reader *r);

#endif
