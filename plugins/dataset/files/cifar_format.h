/* cifar_format.h - the binary versions of CIFAR-10 and CIFAR-100: records of a label byte or two
 * and 3x32x32 pixels, first all red ones, row by row, then green, then blue. */
#ifndef OSAFL_DATASET_CIFAR_FORMAT_H
#define OSAFL_DATASET_CIFAR_FORMAT_H

#include "sample_set.h"

#define CIFAR_PIXELS 3072

/* One version of the files. */
struct cifar_version {
    const char *name;     /* "CIFAR-10" */
    const char *folder;   /* as it is distributed, for messages */
    const char *setting;  /* that names the folder, for messages */
    uint32_t label_bytes; /* of a record: 1 or 2 */
    uint32_t label;       /* which of them is wanted */
    uint32_t classes;     /* that it may name */
};

/* Reads a source of exactly n records into n * CIFAR_PIXELS pixels and n labels.  OSAFL_E_DATA
 * where the length is another or a label is not below the number of classes. */
osafl_status cifar_read(struct byte_source *s, const struct cifar_version *v, uint32_t n,
                        uint8_t *pixels, int32_t *label);

/* Room for n samples. */
osafl_status cifar_allocate(struct samples *samples, uint32_t n, struct io_message *m);

/* Reads FOLDER/STEM.bin.gz or FOLDER/STEM.bin, of n records, as the samples from `first` on. */
osafl_status cifar_read_file(const struct sample_set *set, const struct cifar_version *v,
                             const char *folder, const char *stem, struct samples *samples,
                             uint32_t first, uint32_t n, struct io_message *m);

#endif
