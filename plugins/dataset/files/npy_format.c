/* npy_format.c - one array in NumPy's .npy format. */
#include "npy_format.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More dimensions than NumPy has. */
#define MOST_DIMENSIONS 64u

/* Longest header text that is read; NumPy's own are below 200 bytes. */
#define HEADER_BYTES 4096u

static osafl_status bad_header(struct byte_source *s, const char *why)
{
    return io_fail(s->message, OSAFL_E_DATA, "%s: its .npy header cannot be used: %s", s->name,
                   why);
}

/* --- The header is a Python dictionary of three entries, as in
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 784), } */

static const char *skip_spaces(const char *text)
{
    return text + strspn(text, " \t\n");
}

/* Skips spaces and a given word; NULL if something else follows. */
static const char *skip(const char *text, const char *word)
{
    text = skip_spaces(text);
    const size_t n = strlen(word);
    return strncmp(text, word, n) == 0 ? text + n : NULL;
}

/* A string in single or double quotes, without escapes. */
static const char *parse_string(const char *text, char *out, size_t size)
{
    text = skip_spaces(text);
    const char quote = *text;
    if (quote != '\'' && quote != '"')
        return NULL;
    const char *end = strchr(text + 1, quote);
    if (end == NULL || (size_t)(end - text - 1) >= size)
        return NULL;
    memcpy(out, text + 1, (size_t)(end - text - 1));
    out[end - text - 1] = '\0';
    return end + 1;
}

static const char *parse_size(const char *text, uint64_t *out)
{
    text = skip_spaces(text);
    if (*text < '0' || *text > '9')
        return NULL;
    for (*out = 0; *text >= '0' && *text <= '9'; text++) {
        if (*out > (UINT64_MAX - 9) / 10)
            return NULL;
        *out = *out * 10 + (uint64_t)(*text - '0');
    }
    return *text == 'L' ? text + 1 : text; /* Python 2 wrote 784L */
}

/* A tuple of sizes: (5,), (5, 784). */
static const char *parse_shape(const char *text, struct npy_header *h)
{
    text = skip(text, "(");
    h->rank = 0;
    while (text != NULL) {
        const char *end = skip(text, ")");
        if (end != NULL)
            return end;
        uint64_t size = 0;
        text = parse_size(text, &size);
        if (text == NULL || h->rank == MOST_DIMENSIONS)
            return NULL;
        if (h->rank < NPY_MAX_RANK) /* counted on beyond that for the message */
            h->shape[h->rank] = size;
        h->rank++;
        const char *comma = skip(text, ",");
        if (comma == NULL)
            return h->rank >= 2 ? skip(text, ")") : NULL;
        text = comma;
    }
    return NULL;
}

struct entries {
    char descr[16];
    bool fortran_order;
    bool has_descr, has_order, has_shape;
};

/* "key: value" at text; NULL if it is none of the three, or was there before. */
static const char *parse_entry(const char *text, struct entries *e, struct npy_header *h)
{
    char key[16];
    text = parse_string(text, key, sizeof key);
    if (text == NULL || (text = skip(text, ":")) == NULL)
        return NULL;
    if (strcmp(key, "descr") == 0 && !e->has_descr) {
        e->has_descr = true;
        return parse_string(text, e->descr, sizeof e->descr);
    }
    if (strcmp(key, "fortran_order") == 0 && !e->has_order) {
        e->has_order = true;
        const char *end = skip(text, "True");
        e->fortran_order = end != NULL;
        return end != NULL ? end : skip(text, "False");
    }
    if (strcmp(key, "shape") == 0 && !e->has_shape) {
        e->has_shape = true;
        return parse_shape(text, h);
    }
    return NULL;
}

static bool parse_dictionary(const char *text, struct entries *e, struct npy_header *h)
{
    text = skip(text, "{");
    while (text != NULL) {
        const char *end = skip(text, "}");
        if (end != NULL)
            return *skip_spaces(end) == '\0' && e->has_descr && e->has_order && e->has_shape;
        text = parse_entry(text, e, h);
        if (text != NULL && skip(text, "}") == NULL)
            text = skip(text, ",");
    }
    return false;
}

/* "<f4": byte order, kind, size. */
static bool parse_type(const char *descr, struct npy_header *h)
{
    if (strlen(descr) != 3 || strchr("<>|=", descr[0]) == NULL || strchr("1248", descr[2]) == NULL)
        return false;
    h->size = (uint32_t)(descr[2] - '0');
    h->big_endian = descr[0] == '>';
    h->kind = descr[1];
    if (descr[0] == '|' && h->size != 1)
        return false;
    if (h->kind == 'f')
        return h->size >= 2;
    return h->kind == 'i' || h->kind == 'u' || (h->kind == 'b' && h->size == 1);
}

static osafl_status check_shape(struct byte_source *s, struct npy_header *h)
{
    if (h->rank > NPY_MAX_RANK)
        return io_fail(s->message, OSAFL_E_DATA,
                       "%s: has %" PRIu32 " dimensions, and at most 4 can be used; bring it into "
                       "another shape with reshape()",
                       s->name, h->rank);
    /* Every dimension fits 32 bits and the product 61, so that sizes in bytes cannot overflow. */
    if (h->rank == 0)
        return bad_header(s, "the array is a single number");
    h->n = 1;
    for (uint32_t i = 0; i < h->rank; i++) {
        if (h->shape[i] == 0)
            return bad_header(s, "the array is empty");
        if (h->shape[i] > UINT32_MAX || h->n > UINT64_MAX / 8 / h->shape[i])
            return bad_header(s, "the shape is too large");
        h->n *= h->shape[i];
    }
    return byte_source_expect(s, h->n * h->size, "the array");
}

osafl_status npy_open(struct byte_source *s, const char *path, struct io_message *m)
{
    const char *end = strstr(path, ".npz");
    while (end != NULL && end[4] != '\0' && end[4] != ':')
        end = strstr(end + 4, ".npz");
    if (end == NULL)
        return byte_source_open(s, path, m);
    char *archive = strndup(path, (size_t)(end + 4 - path));
    if (archive == NULL)
        return io_fail(m, OSAFL_E_NOMEM, "%s: out of memory", path);
    const osafl_status status =
        byte_source_open_member(s, path, archive, end[4] == ':' ? end + 5 : "", m);
    free(archive);
    return status;
}

osafl_status npy_read_header(struct byte_source *s, struct npy_header *h)
{
    unsigned char start[8];
    unsigned char length[4] = {0};
    char text[HEADER_BYTES + 1];
    *h = (struct npy_header){0};
    OSAFL_TRY(byte_source_exactly(s, start, sizeof start, "the magic string"));
    if (memcmp(start, "\x93NUMPY", 6) != 0)
        return io_fail(s->message, OSAFL_E_DATA,
                       "%s: is not a .npy file; write one with numpy.save()", s->name);
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return bad_header(s, "its version is neither 1.0, 2.0 nor 3.0");
    OSAFL_TRY(byte_source_exactly(s, length, start[6] == 1 ? 2 : 4, "the header"));
    const uint32_t n = (uint32_t)length[0] | (uint32_t)length[1] << 8 | (uint32_t)length[2] << 16 |
                       (uint32_t)length[3] << 24;
    if (n > HEADER_BYTES)
        return bad_header(s, "it is longer than 4096 bytes");
    OSAFL_TRY(byte_source_exactly(s, text, n, "the header"));
    text[n] = '\0';
    struct entries e = {.descr = ""};
    if (strlen(text) != n || !parse_dictionary(text, &e, h))
        return bad_header(s, "it is damaged, or describes more than one plain array");
    if (!parse_type(e.descr, h))
        return io_fail(s->message, OSAFL_E_DATA,
                       "%s: its .npy header cannot be used: elements must be integers or floats of "
                       "2, 4 or 8 bytes and are of type \"%s\"; convert with astype(), texts with "
                       "numpy.unique(y, return_inverse=True)[1]",
                       s->name, e.descr);
    h->fortran = e.fortran_order;
    return check_shape(s, h);
}

/* --- Elements */

/* Where the next element of the file belongs in C order. */
struct place {
    uint64_t at;
    uint64_t index[NPY_MAX_RANK];
};

static void next_place(const struct npy_header *h, struct place *p)
{
    uint64_t stride = h->n;
    if (!h->fortran) {
        p->at++;
        return;
    }
    for (uint32_t d = 0; d < h->rank; d++) {
        stride /= h->shape[d];
        p->at += stride;
        if (++p->index[d] < h->shape[d])
            return;
        p->at -= stride * h->shape[d];
        p->index[d] = 0;
    }
}

/* A number of 16 bits (IEEE 754 binary16). */
static double half(uint64_t bits)
{
    const int exponent = (int)(bits >> 10 & 31);
    const double fraction = (double)(bits & 1023);
    double value = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024.0 + fraction, exponent - 25);
    if (exponent == 31)
        value = fraction == 0.0 ? (double)INFINITY : (double)NAN;
    return (bits & 0x8000) != 0 ? -value : value;
}

/* The value of one element, put together byte by byte, so that the order of this machine's bytes
 * does not matter.  64-bit integers above 2^53 are rounded. */
static double element(const struct npy_header *h, const unsigned char *bytes)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < h->size; i++)
        bits |= (uint64_t)bytes[h->big_endian ? h->size - 1 - i : i] << (8 * i);
    if (h->kind == 'f' && h->size == 2)
        return half(bits);
    if (h->kind == 'f' && h->size == 4) {
        const uint32_t word = (uint32_t)bits;
        float value;
        memcpy(&value, &word, sizeof value);
        return (double)value;
    }
    if (h->kind == 'f') {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (h->kind == 'u' || h->kind == 'b')
        return (double)bits;
    /* Two's complement, without a conversion that the language leaves open. */
    const uint32_t unused = 64 - 8 * h->size;
    const uint64_t sign = (uint64_t)1 << (8 * h->size - 1);
    const uint64_t magnitude = (bits & sign) != 0 ? (~bits + 1) << unused >> unused : bits;
    return (bits & sign) != 0 ? -(double)magnitude : (double)magnitude;
}

static osafl_status next_element(struct byte_source *s, const struct npy_header *h, double *value)
{
    unsigned char bytes[8];
    OSAFL_TRY(byte_source_exactly(s, bytes, h->size, "an element"));
    *value = element(h, bytes);
    return OSAFL_OK;
}

osafl_status npy_read_floats(struct byte_source *s, const struct npy_header *h, float *out)
{
    struct place p = {0};
    for (uint64_t i = 0; i < h->n; i++, next_place(h, &p)) {
        double value = 0.0;
        OSAFL_TRY(next_element(s, h, &value));
        out[p.at] = (float)value;
        if (!isfinite(out[p.at]))
            return io_fail(s->message, OSAFL_E_DATA,
                           "%s: element %" PRIu64
                           " (C order) is not finite as a 32-bit float; replace it, for example by "
                           "numpy.nan_to_num()",
                           s->name, p.at);
    }
    return byte_source_end(s);
}

osafl_status npy_read_doubles(struct byte_source *s, const struct npy_header *h, const char *remedy,
                              double *out)
{
    struct place p = {0};
    for (uint64_t i = 0; i < h->n; i++, next_place(h, &p)) {
        OSAFL_TRY(next_element(s, h, &out[p.at]));
        if (!isfinite(out[p.at]))
            return io_fail(s->message, OSAFL_E_DATA, "%s: element %" PRIu64 " is %g; %s", s->name,
                           p.at, out[p.at], remedy);
    }
    return byte_source_end(s);
}

osafl_status npy_read_bytes(struct byte_source *s, const struct npy_header *h, uint8_t *out)
{
    assert(h->kind == 'u' && h->size == 1);
    struct place p = {0};
    if (!h->fortran)
        OSAFL_TRY(byte_source_exactly(s, out, h->n, "the array"));
    for (uint64_t i = 0; h->fortran && i < h->n; i++, next_place(h, &p))
        OSAFL_TRY(byte_source_exactly(s, &out[p.at], 1, "an element"));
    return byte_source_end(s);
}

osafl_status npy_read_numbers(struct byte_source *s, const struct npy_header *h, int64_t first,
                              uint32_t limit, const char *remedy, uint32_t *out)
{
    struct place p = {0};
    for (uint64_t i = 0; i < h->n; i++, next_place(h, &p)) {
        double value = 0.0;
        OSAFL_TRY(next_element(s, h, &value));
        const double number = value - (double)first;
        if (!(number >= 0.0 && number < limit) || number != floor(number))
            return io_fail(s->message, OSAFL_E_DATA,
                           "%s: element %" PRIu64 " is %g, not a whole number of %" PRId64
                           " .. %" PRId64 "%s",
                           s->name, p.at, value, first, first + limit - 1, remedy);
        out[p.at] = (uint32_t)number;
    }
    return byte_source_end(s);
}
