/* fuzz_cifar.c - batches of CIFAR-10. */
#include <stdlib.h>

#include "cifar_format.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (uint32_t n = 1; n <= 2; n++) {
        struct byte_source source;
        struct io_message message;
        uint8_t *pixels = malloc((size_t)n * CIFAR_PIXELS);
        int32_t *label = malloc(n * sizeof *label);
        FUZZ_REQUIRE(pixels != NULL && label != NULL);
        byte_source_memory(&source, "memory", data, size, &message);
        const bool read = cifar_read(&source, n, pixels, label) == OSAFL_OK;
        FUZZ_REQUIRE(!read || size == (size_t)n * (1 + CIFAR_PIXELS));
        for (uint32_t i = 0; read && i < n; i++)
            FUZZ_REQUIRE(label[i] >= 0 && label[i] < CIFAR_CLASSES);
        byte_source_close(&source);
        free(pixels);
        free(label);
    }
    return 0;
}
