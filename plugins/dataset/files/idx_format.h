/* idx_format.h - the IDX format of the MNIST family: magic number, sizes, unsigned bytes; numbers
 * are big-endian. */
#ifndef OSAFL_DATASET_IDX_FORMAT_H
#define OSAFL_DATASET_IDX_FORMAT_H

#include "byte_source.h"

struct idx_images {
    uint32_t n;
    uint32_t height;
    uint32_t width;
    uint8_t *pixels; /* n * height * width, from malloc() */
};

struct idx_labels {
    uint32_t n;
    uint8_t *labels; /* n, from malloc() */
};

/* Both read a whole source and fail with OSAFL_E_DATA unless it is exactly such a file with at
 * least one sample.  Nothing is allocated that the source cannot fill. */
osafl_status idx_read_images(struct byte_source *s, struct idx_images *out);
osafl_status idx_read_labels(struct byte_source *s, struct idx_labels *out);

#endif
