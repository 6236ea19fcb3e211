/* fuzz_cifar.c - batches of CIFAR-10 and CIFAR-100. */
#include <stdlib.h>

#include "cifar_format.h"
#include "fuzz.h"

static void read_batch(const struct cifar_version *v, uint32_t n, const uint8_t *data, size_t size)
{
    struct byte_source source;
    struct io_message message;
    uint8_t *pixels = malloc((size_t)n * CIFAR_PIXELS);
    int32_t *label = malloc(n * sizeof *label);
    FUZZ_REQUIRE(pixels != NULL && label != NULL);
    byte_source_memory(&source, "memory", data, size, &message);
    const bool read = cifar_read(&source, v, n, pixels, label) == OSAFL_OK;
    FUZZ_REQUIRE(!read || size == (size_t)n * (v->label_bytes + CIFAR_PIXELS));
    for (uint32_t i = 0; read && i < n; i++)
        FUZZ_REQUIRE(label[i] >= 0 && (uint32_t)label[i] < v->classes);
    byte_source_close(&source);
    free(pixels);
    free(label);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cifar_version versions[] = {
        {.name = "CIFAR-10", .label_bytes = 1, .classes = 10},
        {.name = "CIFAR-100", .label_bytes = 2, .label = 1, .classes = 100},
    };
    for (uint32_t n = 1; n <= 2; n++)
        for (unsigned v = 0; v < 2; v++)
            read_batch(&versions[v], n, data, size);
    return 0;
}
