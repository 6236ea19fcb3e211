/* cifar_format.c - the binary version of CIFAR-10. */
#include "cifar_format.h"

#include <inttypes.h>

osafl_status cifar_read(struct byte_source *s, uint32_t n, uint8_t *pixels, int32_t *label)
{
    for (uint32_t i = 0; i < n; i++) {
        unsigned char byte;
        OSAFL_TRY(byte_source_exactly(s, &byte, 1, "a record's label"));
        if (byte >= CIFAR_CLASSES)
            return io_fail(s->message, OSAFL_E_DATA,
                           "%s: record %" PRIu32 " has label %d, outside 0 .. %d; this is not the "
                           "binary version of CIFAR-10",
                           s->name, i, byte, CIFAR_CLASSES - 1);
        label[i] = byte;
        OSAFL_TRY(byte_source_exactly(s, pixels + (size_t)i * CIFAR_PIXELS, CIFAR_PIXELS,
                                      "a record's picture"));
    }
    return byte_source_end(s);
}
