/* cifar_format.c - the binary versions of CIFAR-10 and CIFAR-100. */
#include "cifar_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

osafl_status cifar_read(struct byte_source *s, const struct cifar_version *v, uint32_t n,
                        uint8_t *pixels, int32_t *label)
{
    for (uint32_t i = 0; i < n; i++) {
        unsigned char bytes[2] = {0};
        OSAFL_TRY(byte_source_exactly(s, bytes, v->label_bytes, "a record's label"));
        const unsigned char byte = bytes[v->label];
        if (byte >= v->classes)
            return io_fail(s->message, OSAFL_E_DATA,
                           "%s: record %" PRIu32 " has label %d, outside 0 .. %" PRIu32 "; this is "
                           "not the binary version of %s",
                           s->name, i, byte, v->classes - 1, v->name);
        label[i] = byte;
        OSAFL_TRY(byte_source_exactly(s, pixels + (size_t)i * CIFAR_PIXELS, CIFAR_PIXELS,
                                      "a record's picture"));
    }
    return byte_source_end(s);
}

osafl_status cifar_allocate(struct samples *samples, uint32_t n, struct io_message *m)
{
    samples->n = n;
    samples->pixels = malloc(samples->n * CIFAR_PIXELS);
    samples->label = malloc(samples->n * sizeof *samples->label);
    if (samples->pixels == NULL || samples->label == NULL)
        return io_fail(m, OSAFL_E_NOMEM, "out of memory for %" PRIu64 " pictures", samples->n);
    return OSAFL_OK;
}

osafl_status cifar_read_file(const struct sample_set *set, const struct cifar_version *v,
                             const char *folder, const char *stem, struct samples *samples,
                             uint32_t first, uint32_t n, struct io_message *m)
{
    char *path = NULL;
    char *name = NULL;
    if (asprintf(&path, "%s/%s.bin", folder, stem) < 0)
        return io_fail(m, OSAFL_E_NOMEM, "out of memory");
    osafl_status status = sample_set_find_file(set, path, &name, m);
    if (status == OSAFL_OK && name == NULL)
        status = io_fail(m, OSAFL_E_IO,
                         "%s: no such file, with or without .gz; %s must be the folder of %s's "
                         "binary version (%s)",
                         path, v->setting, v->name, v->folder);
    struct byte_source source;
    if (status == OSAFL_OK)
        status = byte_source_open(&source, name, m);
    if (status == OSAFL_OK) {
        status = cifar_read(&source, v, n, samples->pixels + (size_t)first * CIFAR_PIXELS,
                            samples->label + first);
        byte_source_close(&source);
    }
    free(path);
    free(name);
    return status;
}
