/* idx_format.c - the IDX format of the MNIST family. */
#include "idx_format.h"

#include <inttypes.h>

/* Two bytes 0, the type (8: unsigned byte), the number of dimensions. */
#define MAGIC_LABELS 0x00000801u
#define MAGIC_IMAGES 0x00000803u

#define MAX_SIDE 65535u

static uint32_t big_endian(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

static osafl_status read_magic(struct byte_source *s, uint32_t wanted, const char *what)
{
    unsigned char bytes[4];
    OSAFL_TRY(byte_source_exactly(s, bytes, sizeof bytes, "the magic number"));
    const uint32_t magic = big_endian(bytes);
    if (magic == wanted)
        return OSAFL_OK;
    return io_fail(s->message, OSAFL_E_DATA,
                   "%s: is no IDX file of %s: it begins with the magic number 0x%08" PRIx32
                   " instead of 0x%08" PRIx32,
                   s->name, what, magic, wanted);
}

osafl_status idx_read_images(struct byte_source *s, struct idx_images *out)
{
    unsigned char header[12];
    OSAFL_TRY(read_magic(s, MAGIC_IMAGES, "images"));
    OSAFL_TRY(byte_source_exactly(s, header, sizeof header, "the header"));
    const uint32_t n = big_endian(header);
    const uint32_t height = big_endian(header + 4);
    const uint32_t width = big_endian(header + 8);
    if (n == 0 || height == 0 || width == 0)
        return io_fail(s->message, OSAFL_E_DATA,
                       "%s: holds no image (%" PRIu32 " of %" PRIu32 "x%" PRIu32 " pixels)",
                       s->name, n, height, width);
    if (height > MAX_SIDE || width > MAX_SIDE)
        return io_fail(s->message, OSAFL_E_DATA,
                       "%s: its header is damaged: images of %" PRIu32 "x%" PRIu32 " pixels",
                       s->name, height, width);
    /* n < 2^32, sides < 2^16: the product fits 64 bits. */
    void *pixels = NULL;
    OSAFL_TRY(byte_source_load(s, (uint64_t)n * height * width, "the last image", &pixels));
    *out = (struct idx_images){.n = n, .height = height, .width = width, .pixels = pixels};
    return byte_source_end(s);
}

osafl_status idx_read_labels(struct byte_source *s, struct idx_labels *out)
{
    unsigned char header[4];
    OSAFL_TRY(read_magic(s, MAGIC_LABELS, "labels"));
    OSAFL_TRY(byte_source_exactly(s, header, sizeof header, "the header"));
    const uint32_t n = big_endian(header);
    if (n == 0)
        return io_fail(s->message, OSAFL_E_DATA, "%s: holds no label", s->name);
    void *labels = NULL;
    OSAFL_TRY(byte_source_load(s, n, "the last label", &labels));
    *out = (struct idx_labels){.n = n, .labels = labels};
    return byte_source_end(s);
}
