/* idx_format.h - the IDX format of the MNIST family: two bytes 0, the type of the elements, the
 * number of dimensions, the dimensions, the elements; numbers are big-endian. */
#ifndef OSAFL_DATASET_IDX_FORMAT_H
#define OSAFL_DATASET_IDX_FORMAT_H

#include "byte_source.h"

#define IDX_MAX_RANK 4

/* Samples: n x features, n x height x width, or n x three dimensions. */
struct idx_images {
    uint32_t n;
    uint32_t rank; /* 2 .. IDX_MAX_RANK, with n */
    uint32_t shape[IDX_MAX_RANK];
    uint64_t size;   /* elements of a sample */
    uint8_t *pixels; /* n * size, from malloc(): unsigned bytes; else NULL, and */
    float *values;   /* n * size, from malloc(): integers of 8, 16 or 32 bits, floats */
};

struct idx_labels {
    uint32_t n;
    int32_t *labels; /* n, from malloc() */
};

/* Both read a whole source and fail with OSAFL_E_DATA unless it is exactly such a file with at
 * least one sample.  Nothing is allocated that the source cannot fill. */
osafl_status idx_read_images(struct byte_source *s, struct idx_images *out);
osafl_status idx_read_labels(struct byte_source *s, struct idx_labels *out);

#endif
