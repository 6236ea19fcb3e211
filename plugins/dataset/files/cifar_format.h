/* cifar_format.h - the binary version of CIFAR-10: records of a label byte and 3x32x32 pixels,
 * first all red ones, row by row, then green, then blue. */
#ifndef OSAFL_DATASET_CIFAR_FORMAT_H
#define OSAFL_DATASET_CIFAR_FORMAT_H

#include "byte_source.h"

#define CIFAR_PIXELS 3072
#define CIFAR_CLASSES 10

/* Reads a source of exactly n records into n * CIFAR_PIXELS pixels and n labels.  OSAFL_E_DATA
 * where the length is another or a label is not below CIFAR_CLASSES. */
osafl_status cifar_read(struct byte_source *s, uint32_t n, uint8_t *pixels, int32_t *label);

#endif
