/* npy_format.h - one array in NumPy's .npy format, versions 1.0 to 3.0, in a file of its own or in
 * an .npz archive: plain numbers of either byte order, in C or Fortran order. */
#ifndef OSAFL_DATASET_NPY_FORMAT_H
#define OSAFL_DATASET_NPY_FORMAT_H

#include "byte_source.h"

#define NPY_MAX_RANK 4

struct npy_header {
    char kind;     /* 'u', 'i', 'f' or 'b' (bool: bytes of 0 and 1) */
    uint32_t size; /* bytes of an element: 1, 2, 4 or 8 */
    bool big_endian;
    bool fortran;  /* the first index changes fastest in the file, not the last */
    uint32_t rank; /* 1 .. NPY_MAX_RANK */
    uint64_t shape[NPY_MAX_RANK];
    uint64_t n; /* elements, at least 1 */
};

/* Opens PATH.npy, or a member of an archive: PATH.npz:NAME, or PATH.npz where it has only one. path
 * is kept as the source's name. */
osafl_status npy_open(struct byte_source *s, const char *path, struct io_message *m);

/* Reads the header.  OSAFL_E_DATA with the reason and the remedy for everything that is not such
 * an array, and where the source cannot hold n elements. */
osafl_status npy_read_header(struct byte_source *s, struct npy_header *h);

/* Read the elements that follow, up to the end of the source, into C order: as floats (finite), as
 * doubles (finite), as bytes (of an array of kind 'u' and size 1), as whole numbers of [first,
 * first + limit), less first.  remedy: how the message about another number ends. */
osafl_status npy_read_floats(struct byte_source *s, const struct npy_header *h, float *out);
osafl_status npy_read_doubles(struct byte_source *s, const struct npy_header *h, const char *remedy,
                              double *out);
osafl_status npy_read_bytes(struct byte_source *s, const struct npy_header *h, uint8_t *out);
osafl_status npy_read_numbers(struct byte_source *s, const struct npy_header *h, int64_t first,
                              uint32_t limit, const char *remedy, uint32_t *out);

#endif
