/* records.c - named, typed records in sections, packed into one block of bytes and back. */
#include "records.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zlib.h>

#define FORMAT 2
#define OLDEST_FORMAT 1 /* has no deflated records */
#define BLOCK_HEAD_BYTES 24
#define ITEM_HEAD_BYTES 16 /* of a section and of a record */
#define CHECKSUM_BYTES 8
/* Sections are few and searched one by one; more would let a hostile block keep us busy. */
#define MOST_SECTIONS 1024

/* Line ends and a byte above 0x7f, as in PNG: a transfer that treats the file as text shows. */
static const unsigned char magic[8] = {0x8f, 'O', 'S', 'A', 'F', 'L', '\r', '\n'};

enum record_type { RECORD_U64 = 1, RECORD_F64, RECORD_F32, RECORD_BYTES };

/* Beside the type: the elements are a u64, the bytes of a zlib stream, and the stream. */
#define DEFLATED 0x100u
#define STREAM_SIZE_BYTES 8
/* Large tables are deflated; they consist of small or equal numbers.  Parameters of a model would
 * hardly shrink. */
#define DEFLATE_FROM (UINT64_C(64) << 10)
/* No stream holds more than so many bytes in one of its own. */
#define DEFLATE_RATIO 1032
#define CHUNK_BYTES 16384u

static const struct {
    const char *name;
    uint32_t width; /* bytes of an element */
} types[] = {
    [RECORD_U64] = {"u64", 8},
    [RECORD_F64] = {"f64", 8},
    [RECORD_F32] = {"f32", 4},
    [RECORD_BYTES] = {"bytes", 1},
};

static uint32_t width_of(uint32_t type)
{
    return type >= RECORD_U64 && type <= RECORD_BYTES ? types[type].width : 0;
}

/* ---- bytes --------------------------------------------------------------------------------- */

static uint64_t padded(uint64_t bytes)
{
    return (bytes + 7) & ~UINT64_C(7);
}

static void put_u32(unsigned char *at, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(v >> (8 * i));
}

static void put_u64(unsigned char *at, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        at[i] = (unsigned char)(v >> (8 * i));
}

static uint32_t get_u32(const unsigned char *at)
{
    uint32_t v = 0;
    for (int i = 0; i < 4; i++)
        v |= (uint32_t)at[i] << (8 * i);
    return v;
}

static uint64_t get_u64(const unsigned char *at)
{
    return get_u32(at) | (uint64_t)get_u32(at + 4) << 32;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Copies n elements between this machine's byte order and the block's, either way. */
static void copy_elements(void *to, const void *from, uint64_t n, uint32_t width)
{
    if (n == 0)
        return; /* the pointers may be NULL */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(to, from, (size_t)n * width);
#else
    for (uint64_t i = 0; i < n; i++) {
        for (uint32_t b = 0; b < width; b++)
            ((unsigned char *)to)[i * width + b] =
                ((const unsigned char *)from)[i * width + (width - 1 - b)];
    }
#endif
}

/* First a letter, then letters, digits and the given punctuation. */
static bool name_is_valid(const char *name, size_t length, const char *punctuation)
{
    if (length == 0 || length >= RECORD_NAME_BYTES || name[0] < 'a' || name[0] > 'z')
        return false;
    for (size_t i = 1; i < length; i++) {
        const char c = name[i];
        const bool alphanumeric = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!alphanumeric && (c == '\0' || strchr(punctuation, c) == NULL))
            return false;
    }
    return true;
}

static const char section_punctuation[] = "_./";
static const char key_punctuation[] = "_.";

/* ---- deflated elements --------------------------------------------------------------------- */

/* Writes a stream of n > 0 elements.  Returns its bytes; 0: it does not fit, or memory is short. */
static uint64_t deflate_elements(unsigned char *to, uint64_t room, const void *from, uint64_t n,
                                 uint32_t width)
{
    const uint64_t step = CHUNK_BYTES / width;
    unsigned char chunk[CHUNK_BYTES];
    z_stream z = {0};
    if (deflateInit(&z, Z_BEST_SPEED) != Z_OK)
        return 0;
    z.next_out = to;
    int status = Z_OK;
    for (uint64_t k = 0; k < n && status == Z_OK; k += step) {
        const uint64_t part = smaller(n - k, step);
        copy_elements(chunk, (const unsigned char *)from + k * width, part, width);
        z.next_in = chunk;
        z.avail_in = (uInt)(part * width);
        z.avail_out = (uInt)smaller(room - z.total_out, UINT32_MAX);
        status = deflate(&z, k + part == n ? Z_FINISH : Z_NO_FLUSH);
        if (z.avail_in > 0)
            status = Z_BUF_ERROR; /* no room for the rest */
    }
    deflateEnd(&z);
    return status == Z_STREAM_END ? z.total_out : 0;
}

/* Reads exactly n > 0 elements.  OSAFL_E_STATE: the stream does not hold them. */
static osafl_status inflate_elements(void *to, uint64_t n, uint32_t width,
                                     const unsigned char *stream, uint64_t bytes)
{
    const uint64_t step = CHUNK_BYTES / width;
    unsigned char chunk[CHUNK_BYTES];
    z_stream z = {0};
    if (inflateInit(&z) != Z_OK)
        return OSAFL_E_NOMEM;
    z.next_in = (z_const Bytef *)(uintptr_t)stream;
    int status = Z_OK;
    for (uint64_t k = 0; k < n && status == Z_OK; k += step) {
        const uint64_t part = smaller(n - k, step);
        z.next_out = chunk;
        z.avail_out = (uInt)(part * width);
        while (z.avail_out > 0 && status == Z_OK) {
            z.avail_in = (uInt)smaller(bytes - z.total_in, UINT32_MAX);
            status = inflate(&z, Z_NO_FLUSH);
        }
        if (z.avail_out > 0 || (status == Z_STREAM_END && k + part < n))
            status = Z_DATA_ERROR;
        else
            copy_elements((unsigned char *)to + k * width, chunk, part, width);
    }
    if (status == Z_OK) { /* all elements are there; what is left is the end of the stream */
        z.avail_out = 0;
        z.avail_in = (uInt)smaller(bytes - z.total_in, UINT32_MAX);
        status = inflate(&z, Z_FINISH);
    }
    inflateEnd(&z);
    if (status == Z_MEM_ERROR)
        return OSAFL_E_NOMEM;
    return status == Z_STREAM_END && z.total_in == bytes ? OSAFL_OK : OSAFL_E_STATE;
}

/* ---- index --------------------------------------------------------------------------------- */

/* Where a record is, for search by key. */
struct entry {
    const char *key; /* not terminated */
    uint32_t length;
    uint32_t type;
    uint64_t n;
    const unsigned char *elements;
    uint64_t stream; /* bytes at elements, if deflated; 0: they are the elements themselves */
};

static int compare_keys(const char *a, size_t a_length, const char *b, size_t b_length)
{
    const int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    if (order != 0)
        return order;
    return (a_length > b_length) - (a_length < b_length);
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;
    return compare_keys(x->key, x->length, y->key, y->length);
}

struct section {
    char name[RECORD_NAME_BYTES];
    uint32_t state_version;
    uint32_t n;            /* records */
    struct entry *entries; /* ascending keys */
};

struct record_set {
    struct section *sections;
    uint32_t n;
};

/* ---- writing ------------------------------------------------------------------------------- */

struct record_writer {
    osafl_writer face; /* what the present section's records go to */
    unsigned char *data;
    size_t size;
    size_t capacity;
    size_t section; /* offset of the present section's head; 0: none */
    uint32_t n_sections;
    osafl_status status; /* of the first thing that went wrong */
    char problem[ERROR_BYTES];
};

/* Keeps the first problem. */
static OSAFL_PRINTF(3, 4) osafl_status
    spoil(struct record_writer *w, osafl_status status, const char *fmt, ...)
{
    if (w->status == OSAFL_OK) {
        va_list args;
        va_start(args, fmt);
        vsnprintf(w->problem, sizeof w->problem, fmt, args);
        va_end(args);
        w->status = status;
    }
    return status;
}

/* Appends bytes of unspecified value; NULL: out of memory. */
static unsigned char *extend(struct record_writer *w, uint64_t bytes)
{
    if (bytes > (uint64_t)PTRDIFF_MAX - w->size)
        return NULL;
    const size_t needed = w->size + (size_t)bytes;
    if (needed > w->capacity) {
        /* Half as much again: pages that are never touched cost nothing. */
        size_t capacity = w->capacity < 4096 ? 4096 : w->capacity + w->capacity / 2;
        if (capacity < needed)
            capacity = needed;
        unsigned char *grown = realloc(w->data, capacity);
        if (grown == NULL)
            return NULL;
        w->data = grown;
        w->capacity = capacity;
    }
    unsigned char *at = w->data + w->size;
    w->size = needed;
    return at;
}

/* Appends the head of a section or a record, its name and room for its elements, padding zeroed.
 * Returns the place of the elements; NULL: out of memory. */
static unsigned char *append_item(struct record_writer *w, const char *name, uint32_t word,
                                  uint64_t n, uint64_t bytes)
{
    const size_t length = strlen(name);
    const uint64_t name_bytes = padded(length);
    unsigned char *at = extend(w, ITEM_HEAD_BYTES + name_bytes + padded(bytes));
    if (at == NULL)
        return NULL;
    put_u32(at, (uint32_t)length);
    put_u32(at + 4, word);
    put_u64(at + 8, n);
    at += ITEM_HEAD_BYTES;
    memset(at, 0, name_bytes);
    memcpy(at, name, length);
    at += name_bytes;
    memset(at + bytes, 0, padded(bytes) - bytes);
    return at;
}

/* Deflates elements to `at`, where there is room for them as they are, and gives back what it does
 * not need.  False, with nothing done: it does not pay. */
static bool put_deflated(struct record_writer *w, unsigned char *at, enum record_type type,
                         const void *v, uint64_t n)
{
    const uint64_t plain = n * types[type].width;
    if ((type != RECORD_U64 && type != RECORD_F64) || plain < DEFLATE_FROM)
        return false;
    const uint64_t stream = deflate_elements(at + STREAM_SIZE_BYTES, plain - STREAM_SIZE_BYTES, v,
                                             n, types[type].width);
    if (stream == 0)
        return false;
    const uint64_t bytes = STREAM_SIZE_BYTES + stream;
    put_u64(at, stream);
    w->size -= plain - padded(bytes);
    memset(at + bytes, 0, padded(bytes) - bytes);
    return true;
}

static osafl_status append_record(osafl_writer *face, const char *key, enum record_type type,
                                  const void *v, uint64_t n)
{
    struct record_writer *w = face->priv;
    const uint32_t width = types[type].width;
    if (!name_is_valid(key, strnlen(key, RECORD_NAME_BYTES), key_punctuation))
        return spoil(w, OSAFL_E_BUG, "\"%.40s\" is not a record key: a key is [a-z][a-z0-9_.]*",
                     key);
    if (n > PTRDIFF_MAX / 2 / width)
        return spoil(w, OSAFL_E_NOMEM, "record %s has too many elements", key);
    const size_t head = w->size;
    unsigned char *at = append_item(w, key, type, n, n * width);
    if (at == NULL)
        return spoil(w, OSAFL_E_NOMEM, "out of memory for record %s", key);
    if (put_deflated(w, at, type, v, n))
        put_u32(w->data + head + 4, (uint32_t)type | DEFLATED);
    else
        copy_elements(at, v, n, width);
    return OSAFL_OK;
}

static osafl_status write_u64(osafl_writer *w, const char *key, const uint64_t *v, uint64_t n)
{
    return append_record(w, key, RECORD_U64, v, n);
}

static osafl_status write_f64(osafl_writer *w, const char *key, const double *v, uint64_t n)
{
    return append_record(w, key, RECORD_F64, v, n);
}

static osafl_status write_f32(osafl_writer *w, const char *key, const float *v, uint64_t n)
{
    return append_record(w, key, RECORD_F32, v, n);
}

static osafl_status write_bytes(osafl_writer *w, const char *key, const void *v, uint64_t n)
{
    return append_record(w, key, RECORD_BYTES, v, n);
}

struct record_writer *record_writer_create(void)
{
    struct record_writer *w = calloc(1, sizeof *w);
    if (w == NULL)
        return NULL;
    w->face = (osafl_writer){.struct_size = sizeof(osafl_writer),
                             .priv = w,
                             .u64 = write_u64,
                             .f64 = write_f64,
                             .f32 = write_f32,
                             .bytes = write_bytes};
    unsigned char *head = extend(w, BLOCK_HEAD_BYTES);
    if (head == NULL) {
        free(w);
        return NULL;
    }
    memcpy(head, magic, sizeof magic);
    put_u32(head + 8, FORMAT);
    return w;
}

void record_writer_destroy(struct record_writer *w)
{
    if (w == NULL)
        return;
    free(w->data);
    free(w);
}

/* Writes the present section's size into its head. */
static void close_section(struct record_writer *w)
{
    if (w->section == 0)
        return;
    unsigned char *head = w->data + w->section;
    const uint64_t name_bytes = padded(get_u32(head));
    put_u64(head + 8, w->size - w->section - ITEM_HEAD_BYTES - name_bytes);
    w->section = 0;
}

osafl_writer *record_writer_section(struct record_writer *w, const char *name,
                                    uint32_t state_version)
{
    if (w->status != OSAFL_OK)
        return &w->face;
    close_section(w);
    if (!name_is_valid(name, strnlen(name, RECORD_NAME_BYTES), section_punctuation)) {
        spoil(w, OSAFL_E_BUG, "\"%.40s\" is not a section name", name);
        return &w->face;
    }
    if (w->n_sections == MOST_SECTIONS) {
        spoil(w, OSAFL_E_BUG, "saved state has more than %d sections", MOST_SECTIONS);
        return &w->face;
    }
    const size_t section = w->size;
    if (append_item(w, name, state_version, 0, 0) == NULL) {
        spoil(w, OSAFL_E_NOMEM, "out of memory for section %s", name);
        return &w->face;
    }
    w->section = section;
    w->n_sections++;
    return &w->face;
}

osafl_status record_writer_status(const struct record_writer *w)
{
    return w->status;
}

const char *record_writer_problem(const struct record_writer *w)
{
    return w->problem;
}

osafl_status record_writer_finish(struct record_writer *w, const void **data, size_t *size,
                                  struct error *error)
{
    if (w->status == OSAFL_OK) {
        close_section(w);
        unsigned char *sum = extend(w, CHECKSUM_BYTES);
        if (sum == NULL) {
            spoil(w, OSAFL_E_NOMEM, "out of memory for saved state");
        } else {
            put_u32(w->data + 12, w->n_sections);
            put_u64(w->data + 16, w->size);
            put_u64(sum, XXH3_64bits(w->data, w->size - CHECKSUM_BYTES));
        }
    }
    if (w->status != OSAFL_OK)
        return error_set(error, w->status, "%s", w->problem);

    /* The reader's checks are the writer's too: they find names that are there twice. */
    struct record_set *set = NULL;
    const osafl_status status = record_set_open(w->data, w->size, &set, error);
    record_set_destroy(set);
    if (status != OSAFL_OK)
        return spoil(w, status == OSAFL_E_STATE ? OSAFL_E_BUG : status, "%s", error->text);
    *data = w->data;
    *size = w->size;
    return OSAFL_OK;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The rest of a block, consumed from its front. */
struct byte_cursor {
    const unsigned char *at;
    uint64_t left;
};

struct item {
    const char *name; /* not terminated */
    uint32_t length;
    uint32_t word;
    uint64_t n;
};

/* Takes a head and its name; false: they are not all there or the padding is not zero. */
static bool take_item(struct byte_cursor *c, struct item *out)
{
    if (c->left < ITEM_HEAD_BYTES)
        return false;
    out->length = get_u32(c->at);
    out->word = get_u32(c->at + 4);
    out->n = get_u64(c->at + 8);
    const uint64_t bytes = ITEM_HEAD_BYTES + padded(out->length);
    if (out->length >= RECORD_NAME_BYTES || bytes > c->left)
        return false;
    out->name = (const char *)c->at + ITEM_HEAD_BYTES;
    for (uint64_t i = ITEM_HEAD_BYTES + out->length; i < bytes; i++) {
        if (c->at[i] != 0)
            return false;
    }
    c->at += bytes;
    c->left -= bytes;
    return true;
}

/* The bytes of a record's elements, and of their stream if they are deflated; false: they are not
 * all there. */
static bool measure_elements(const struct byte_cursor *c, const struct item *item, uint64_t *bytes,
                             uint64_t *stream)
{
    const uint32_t width = width_of(item->word & ~DEFLATED);
    *stream = 0;
    if (width == 0)
        return false;
    if ((item->word & DEFLATED) == 0) {
        *bytes = item->n * width;
        return item->n <= c->left / width;
    }
    if (c->left < STREAM_SIZE_BYTES)
        return false;
    *stream = get_u64(c->at);
    *bytes = STREAM_SIZE_BYTES + *stream;
    return *stream > 0 && *stream <= c->left - STREAM_SIZE_BYTES && item->n > 0 &&
           item->n <= *stream * DEFLATE_RATIO / width;
}

/* Takes one record; false: it is not whole or not well formed. */
static bool take_record(struct byte_cursor *c, struct entry *out)
{
    struct item item;
    uint64_t bytes = 0;
    uint64_t stream = 0;
    if (!take_item(c, &item) || !name_is_valid(item.name, item.length, key_punctuation) ||
        !measure_elements(c, &item, &bytes, &stream))
        return false;
    const uint64_t whole = padded(bytes);
    if (whole > c->left)
        return false;
    for (uint64_t i = bytes; i < whole; i++) {
        if (c->at[i] != 0)
            return false;
    }
    *out = (struct entry){.key = item.name,
                          .length = item.length,
                          .type = item.word & ~DEFLATED,
                          .n = item.n,
                          .elements = stream > 0 ? c->at + STREAM_SIZE_BYTES : c->at,
                          .stream = stream};
    c->at += whole;
    c->left -= whole;
    return true;
}

/* Counts the records of a section, then indexes them. */
static osafl_status index_records(struct byte_cursor records, struct section *s,
                                  struct error *error)
{
    struct entry entry;
    uint64_t n = 0;
    for (struct byte_cursor c = records; c.left > 0; n++) {
        if (!take_record(&c, &entry))
            return error_set(error, OSAFL_E_STATE,
                             "saved state is damaged: record number %llu of section %s is not "
                             "well formed",
                             (unsigned long long)n, s->name);
    }
    if (n > UINT32_MAX)
        return error_set(error, OSAFL_E_STATE, "section %s has too many records", s->name);
    if (n == 0)
        return OSAFL_OK;
    s->entries = calloc((size_t)n, sizeof *s->entries);
    if (s->entries == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for section %s", s->name);
    for (s->n = 0; s->n < n; s->n++)
        (void)take_record(&records, &s->entries[s->n]);
    qsort(s->entries, s->n, sizeof *s->entries, compare_entries);
    for (uint32_t i = 1; i < s->n; i++) {
        if (compare_entries(&s->entries[i - 1], &s->entries[i]) == 0)
            return error_set(error, OSAFL_E_STATE, "section %s has record %.*s twice", s->name,
                             (int)s->entries[i].length, s->entries[i].key);
    }
    return OSAFL_OK;
}

/* s->n where there is none.  Blocks have a few dozen sections. */
static uint32_t find_section(const struct record_set *s, const char *name)
{
    uint32_t i = 0;
    while (i < s->n && strcmp(s->sections[i].name, name) != 0)
        i++;
    return i;
}

static osafl_status index_section(struct byte_cursor *c, struct record_set *set,
                                  struct error *error)
{
    struct item item;
    if (!take_item(c, &item) || !name_is_valid(item.name, item.length, section_punctuation) ||
        item.n > c->left || item.n % 8 != 0)
        return error_set(error, OSAFL_E_STATE,
                         "saved state is damaged: section number %u is not well formed",
                         (unsigned)set->n);
    struct section *s = &set->sections[set->n];
    memcpy(s->name, item.name, item.length);
    s->name[item.length] = '\0';
    s->state_version = item.word;
    if (find_section(set, s->name) < set->n)
        return error_set(error, OSAFL_E_STATE, "saved state has section %s twice", s->name);
    set->n++;
    const struct byte_cursor records = {c->at, item.n};
    c->at += item.n;
    c->left -= item.n;
    return index_records(records, s, error);
}

/* Head and checksum; then c is what lies between them. */
static osafl_status check_block(const unsigned char *data, size_t size, uint32_t *n_sections,
                                struct byte_cursor *c, struct error *error)
{
    if (size < sizeof magic || memcmp(data, magic, sizeof magic) != 0)
        return error_set(error, OSAFL_E_STATE, "is not saved state of this program");
    if (size < BLOCK_HEAD_BYTES + CHECKSUM_BYTES)
        return error_set(error, OSAFL_E_STATE, "saved state is truncated after %zu bytes", size);
    const uint32_t format = get_u32(data + 8);
    if (format < OLDEST_FORMAT || format > FORMAT)
        return error_set(error, OSAFL_E_STATE,
                         "saved state has format %u, this program reads formats %u to %u",
                         (unsigned)format, (unsigned)OLDEST_FORMAT, (unsigned)FORMAT);
    const uint64_t stated = get_u64(data + 16);
    if (stated != size)
        return error_set(error, OSAFL_E_STATE,
                         "saved state is %s: it has %zu bytes and says that it has %llu",
                         size < stated ? "truncated" : "damaged", size, (unsigned long long)stated);
    if (get_u64(data + size - CHECKSUM_BYTES) != XXH3_64bits(data, size - CHECKSUM_BYTES))
        return error_set(error, OSAFL_E_STATE, "saved state is damaged: its checksum does not fit");
    *n_sections = get_u32(data + 12);
    *c = (struct byte_cursor){data + BLOCK_HEAD_BYTES, size - BLOCK_HEAD_BYTES - CHECKSUM_BYTES};
    if (*n_sections > MOST_SECTIONS)
        return error_set(error, OSAFL_E_STATE,
                         "saved state is damaged: it says that it has %u sections",
                         (unsigned)*n_sections);
    return OSAFL_OK;
}

osafl_status record_set_open(const void *data, size_t size, struct record_set **out,
                             struct error *error)
{
    *out = NULL;
    uint32_t n_sections = 0;
    struct byte_cursor c;
    OSAFL_TRY(check_block(data, size, &n_sections, &c, error));
    struct record_set *set = calloc(1, sizeof *set);
    if (set != NULL)
        set->sections = calloc((size_t)n_sections + 1, sizeof *set->sections);
    if (set == NULL || set->sections == NULL) {
        free(set);
        return error_set(error, OSAFL_E_NOMEM, "out of memory for saved state");
    }
    osafl_status status = OSAFL_OK;
    for (uint32_t i = 0; i < n_sections && status == OSAFL_OK; i++)
        status = index_section(&c, set, error);
    if (status == OSAFL_OK && c.left != 0)
        status = error_set(error, OSAFL_E_STATE,
                           "saved state is damaged: %llu bytes belong to no section",
                           (unsigned long long)c.left);
    if (status != OSAFL_OK) {
        record_set_destroy(set);
        return status;
    }
    *out = set;
    return OSAFL_OK;
}

void record_set_destroy(struct record_set *s)
{
    if (s == NULL)
        return;
    for (uint32_t i = 0; i < s->n; i++)
        free(s->sections[i].entries);
    free(s->sections);
    free(s);
}

static OSAFL_PRINTF(2, 3) osafl_status misfit(struct record_reader *r, const char *fmt, ...)
{
    if (r->error.text[0] == '\0') {
        va_list args;
        va_start(args, fmt);
        vsnprintf(r->error.text, sizeof r->error.text, fmt, args);
        va_end(args);
    }
    return OSAFL_E_STATE;
}

static osafl_status find_record(struct record_reader *r, const char *key, const struct entry **out)
{
    const struct section *s = &r->set->sections[r->section];
    const struct entry wanted = {.key = key, .length = (uint32_t)strnlen(key, RECORD_NAME_BYTES)};
    const struct entry *found = NULL;
    if (s->n > 0)
        found = bsearch(&wanted, s->entries, s->n, sizeof *s->entries, compare_entries);
    if (found == NULL)
        return misfit(r, "saved state has no record %.40s in section %s", key, s->name);
    *out = found;
    return OSAFL_OK;
}

static osafl_status read_count(osafl_reader *face, const char *key, uint64_t *n)
{
    const struct entry *e = NULL;
    OSAFL_TRY(find_record(face->priv, key, &e));
    *n = e->n;
    return OSAFL_OK;
}

static osafl_status read_record(osafl_reader *face, const char *key, enum record_type type, void *v,
                                uint64_t n)
{
    struct record_reader *r = face->priv;
    const struct entry *e = NULL;
    OSAFL_TRY(find_record(r, key, &e));
    const char *section = r->set->sections[r->section].name;
    if (e->type != (uint32_t)type)
        return misfit(r, "saved state has record %s of section %s as %s, expected is %s", key,
                      section, types[e->type].name, types[type].name);
    if (e->n != n)
        return misfit(r,
                      "saved state has %llu elements in record %s of section %s, expected are "
                      "%llu",
                      (unsigned long long)e->n, key, section, (unsigned long long)n);
    if (e->stream == 0) {
        copy_elements(v, e->elements, n, types[type].width);
        return OSAFL_OK;
    }
    const osafl_status status = inflate_elements(v, n, types[type].width, e->elements, e->stream);
    if (status != OSAFL_OK)
        (void)misfit(r,
                     status == OSAFL_E_NOMEM ? "out of memory for record %s of section %s"
                                             : "saved state is damaged: record %s of section %s "
                                               "cannot be inflated",
                     key, section);
    return status;
}

static osafl_status read_u64(osafl_reader *r, const char *key, uint64_t *v, uint64_t n)
{
    return read_record(r, key, RECORD_U64, v, n);
}

static osafl_status read_f64(osafl_reader *r, const char *key, double *v, uint64_t n)
{
    return read_record(r, key, RECORD_F64, v, n);
}

static osafl_status read_f32(osafl_reader *r, const char *key, float *v, uint64_t n)
{
    return read_record(r, key, RECORD_F32, v, n);
}

static osafl_status read_bytes(osafl_reader *r, const char *key, void *v, uint64_t n)
{
    return read_record(r, key, RECORD_BYTES, v, n);
}

osafl_status record_reader_open(const struct record_set *s, const char *section,
                                struct record_reader *out, struct error *error)
{
    const uint32_t i = find_section(s, section);
    if (i == s->n)
        return error_set(error, OSAFL_E_STATE, "saved state has no section %s", section);
    out->base = (osafl_reader){.struct_size = sizeof(osafl_reader),
                               .state_version = s->sections[i].state_version,
                               .priv = out,
                               .count = read_count,
                               .u64 = read_u64,
                               .f64 = read_f64,
                               .f32 = read_f32,
                               .bytes = read_bytes};
    out->set = s;
    out->section = i;
    out->error.text[0] = '\0';
    return OSAFL_OK;
}

uint32_t record_reader_records(const struct record_reader *r)
{
    return (uint32_t)r->set->sections[r->section].n;
}
