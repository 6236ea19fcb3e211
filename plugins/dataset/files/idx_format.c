/* idx_format.c - the IDX format of the MNIST family. */
#include "idx_format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIDE 65535u
#define MAX_FEATURES (1u << 24)

enum { UBYTE = 0x08, BYTE = 0x09, SHORT = 0x0b, INT = 0x0c, FLOAT = 0x0d, DOUBLE = 0x0e };

struct element_type {
    uint8_t type;
    uint8_t size; /* bytes */
    const char *name;
};

static const struct element_type types[] = {
    {UBYTE, 1, "unsigned bytes"}, {BYTE, 1, "signed bytes"},   {SHORT, 2, "16-bit integers"},
    {INT, 4, "32-bit integers"},  {FLOAT, 4, "32-bit floats"}, {DOUBLE, 8, "64-bit floats"},
};

static uint32_t big_endian(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

/* Reads the magic number: type and dimensions.  what: for messages; usual: the magic number of the
 * MNIST family. */
static osafl_status read_magic(struct byte_source *s, const char *what, uint32_t usual,
                               const struct element_type **type, uint32_t *rank)
{
    unsigned char bytes[4];
    OSAFL_TRY(byte_source_exactly(s, bytes, sizeof bytes, "the magic number"));
    *type = NULL;
    *rank = bytes[3];
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (bytes[0] == 0 && bytes[1] == 0 && bytes[2] == types[i].type)
            *type = &types[i];
    const bool images = usual == 0x00000803u;
    if (*type != NULL && (images ? *rank >= 2 && *rank <= IDX_MAX_RANK : *rank == 1))
        return OSAFL_OK;
    if (*type != NULL && *rank >= 2)
        return io_fail(s->message, OSAFL_E_DATA, "%s: has %" PRIu32 " dimensions; %s have %s",
                       s->name, *rank, what, images ? "two to four, the first counts them" : "one");
    return io_fail(s->message, OSAFL_E_DATA,
                   "%s: is not an IDX file of %s: it begins with the magic number 0x%08" PRIx32
                   " instead of 0x%08" PRIx32,
                   s->name, what, big_endian(bytes), usual);
}

/* The value of one element. */
static double element(const struct element_type *type, const unsigned char *b)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < type->size; i++)
        bits = bits << 8 | b[i];
    const uint32_t word = (uint32_t)bits;
    float single;
    double value;
    switch (type->type) {
    case FLOAT:
        memcpy(&single, &word, sizeof single);
        return (double)single;
    case DOUBLE:
        memcpy(&value, &bits, sizeof value);
        return value;
    case UBYTE:
        return (double)bits;
    default: /* two's complement */
        return (double)bits - ((b[0] & 0x80) != 0 ? ldexp(1.0, 8 * type->size) : 0.0);
    }
}

static osafl_status next_element(struct byte_source *s, const struct element_type *type,
                                 double *value)
{
    unsigned char bytes[8];
    OSAFL_TRY(byte_source_exactly(s, bytes, type->size, "an element"));
    *value = element(type, bytes);
    return OSAFL_OK;
}

static osafl_status no_memory(struct byte_source *s)
{
    return io_fail(s->message, OSAFL_E_NOMEM, "%s: out of memory", s->name);
}

/* --- Images */

static osafl_status read_shape(struct byte_source *s, struct idx_images *out)
{
    out->size = 1;
    for (uint32_t i = 0; i < out->rank; i++) {
        unsigned char bytes[4];
        OSAFL_TRY(byte_source_exactly(s, bytes, sizeof bytes, "the header"));
        out->shape[i] = big_endian(bytes);
        if (out->shape[i] == 0)
            return io_fail(s->message, OSAFL_E_DATA,
                           "%s: holds no image: dimension %" PRIu32 " is 0", s->name, i + 1);
        if (i == 0)
            continue;
        if (out->shape[i] > (out->rank == 2 ? MAX_FEATURES : MAX_SIDE))
            return io_fail(s->message, OSAFL_E_DATA,
                           "%s: its header is damaged: dimension %" PRIu32
                           " of an image is %" PRIu32,
                           s->name, i, out->shape[i]);
        out->size *= out->shape[i]; /* below 2^48 */
    }
    if (out->size > UINT32_MAX)
        return io_fail(s->message, OSAFL_E_DATA,
                       "%s: its header is damaged: an image has %" PRIu64 " elements", s->name,
                       out->size);
    out->n = out->shape[0];
    return OSAFL_OK;
}

static osafl_status read_values(struct byte_source *s, const struct element_type *type,
                                struct idx_images *out)
{
    const uint64_t n = out->n * out->size;
    if (n > UINT64_MAX / 8)
        return io_fail(s->message, OSAFL_E_DATA, "%s: its header is damaged", s->name);
    OSAFL_TRY(byte_source_expect(s, n * type->size, "the last image"));
    float *values = malloc(n * sizeof *values);
    if (values == NULL)
        return no_memory(s);
    osafl_status status = OSAFL_OK;
    for (uint64_t i = 0; status == OSAFL_OK && i < n; i++) {
        double value = 0.0;
        status = next_element(s, type, &value);
        values[i] = (float)value;
        if (status == OSAFL_OK && !isfinite(values[i]))
            status = io_fail(s->message, OSAFL_E_DATA,
                             "%s: element %" PRIu64 " is not finite as a 32-bit float", s->name, i);
    }
    if (status == OSAFL_OK)
        status = byte_source_end(s);
    if (status != OSAFL_OK) {
        free(values);
        return status;
    }
    out->values = values;
    return OSAFL_OK;
}

osafl_status idx_read_images(struct byte_source *s, struct idx_images *out)
{
    const struct element_type *type = NULL;
    struct idx_images images = {0};
    OSAFL_TRY(read_magic(s, "images", 0x00000803u, &type, &images.rank));
    OSAFL_TRY(read_shape(s, &images));
    if (type->type != UBYTE) {
        OSAFL_TRY(read_values(s, type, &images));
        *out = images;
        return OSAFL_OK;
    }
    void *pixels = NULL;
    OSAFL_TRY(byte_source_load(s, images.n * images.size, "the last image", &pixels));
    images.pixels = pixels;
    *out = images;
    return byte_source_end(s);
}

/* --- Labels */

static osafl_status read_label(struct byte_source *s, const struct element_type *type, uint32_t i,
                               int32_t *label)
{
    double value = 0.0;
    OSAFL_TRY(next_element(s, type, &value));
    if (!(value >= INT32_MIN && value <= INT32_MAX) || value != floor(value))
        return io_fail(s->message, OSAFL_E_DATA,
                       "%s: label %" PRIu32 " is %g; labels are whole numbers (this file holds %s)",
                       s->name, i, value, type->name);
    *label = (int32_t)value;
    return OSAFL_OK;
}

osafl_status idx_read_labels(struct byte_source *s, struct idx_labels *out)
{
    unsigned char header[4];
    const struct element_type *type = NULL;
    uint32_t rank = 0;
    OSAFL_TRY(read_magic(s, "labels", 0x00000801u, &type, &rank));
    OSAFL_TRY(byte_source_exactly(s, header, sizeof header, "the header"));
    const uint32_t n = big_endian(header);
    if (n == 0)
        return io_fail(s->message, OSAFL_E_DATA, "%s: holds no label", s->name);
    OSAFL_TRY(byte_source_expect(s, (uint64_t)n * type->size, "the last label"));
    int32_t *labels = malloc(n * sizeof *labels);
    if (labels == NULL)
        return no_memory(s);
    *out = (struct idx_labels){.n = n, .labels = labels};
    for (uint32_t i = 0; i < n; i++)
        OSAFL_TRY(read_label(s, type, i, &labels[i]));
    return byte_source_end(s);
}
