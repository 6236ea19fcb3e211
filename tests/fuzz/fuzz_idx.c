/* fuzz_idx.c - IDX files, plain and gzip, from memory and from a file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "idx_format.h"

/* The reader's own answer is the caller's to free. */
static osafl_status read_images(struct byte_source *s, struct idx_images *out)
{
    *out = (struct idx_images){0};
    const osafl_status status = idx_read_images(s, out);
    if (status == OSAFL_OK)
        FUZZ_REQUIRE(out->rank >= 2 && out->rank <= IDX_MAX_RANK &&
                     (out->pixels == NULL) == (out->values != NULL) &&
                     out->n * out->size + 4 + 4 * out->rank <= s->taken);
    for (uint64_t i = 0; status == OSAFL_OK && out->values != NULL && i < out->n * out->size; i++)
        FUZZ_REQUIRE(isfinite(out->values[i]));
    byte_source_close(s);
    return status;
}

static osafl_status read_labels(struct byte_source *s, struct idx_labels *out)
{
    *out = (struct idx_labels){0};
    const osafl_status status = idx_read_labels(s, out);
    if (status == OSAFL_OK)
        FUZZ_REQUIRE((uint64_t)out->n + 8 <= s->taken);
    byte_source_close(s);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *name = fuzz_file(0, data, size);
    const bool gzip = size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
    struct byte_source source;
    struct io_message message;
    struct idx_images image[2];
    struct idx_labels label[2];

    byte_source_memory(&source, "memory", data, size, &message);
    const osafl_status images = read_images(&source, &image[0]);
    byte_source_memory(&source, "memory", data, size, &message);
    const osafl_status labels = read_labels(&source, &label[0]);
    osafl_status status = byte_source_open(&source, name, &message);
    if (status == OSAFL_OK)
        status = read_images(&source, &image[1]);
    else
        image[1] = (struct idx_images){0};
    FUZZ_REQUIRE(gzip || status == images);
    status = byte_source_open(&source, name, &message);
    if (status == OSAFL_OK)
        status = read_labels(&source, &label[1]);
    else
        label[1] = (struct idx_labels){0};
    FUZZ_REQUIRE(gzip || status == labels);

    for (unsigned i = 0; i < 2; i++) {
        free(image[i].pixels);
        free(image[i].values);
        free(label[i].labels);
    }
    return 0;
}
