/* fuzz_npy.c - arrays that NumPy saved, read in all the ways for which they are taken. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "npy_format.h"

static void read_as_floats(struct byte_source *s, const struct npy_header *h)
{
    float *out = malloc(h->n * sizeof *out);
    FUZZ_REQUIRE(out != NULL);
    if (npy_read_floats(s, h, out) == OSAFL_OK) {
        for (uint64_t i = 0; i < h->n; i++)
            FUZZ_REQUIRE(isfinite(out[i]));
    }
    free(out);
}

static void read_as_doubles(struct byte_source *s, const struct npy_header *h)
{
    double *out = malloc(h->n * sizeof *out);
    FUZZ_REQUIRE(out != NULL);
    if (npy_read_doubles(s, h, "", out) == OSAFL_OK) {
        for (uint64_t i = 0; i < h->n; i++)
            FUZZ_REQUIRE(isfinite(out[i]));
    }
    free(out);
}

static void read_as_numbers(struct byte_source *s, const struct npy_header *h)
{
    const uint32_t limit = 1000;
    uint32_t *out = malloc(h->n * sizeof *out);
    FUZZ_REQUIRE(out != NULL);
    if (npy_read_numbers(s, h, 0, limit, "", out) == OSAFL_OK) {
        for (uint64_t i = 0; i < h->n; i++)
            FUZZ_REQUIRE(out[i] < limit);
    }
    free(out);
}

static void read_as_bytes(struct byte_source *s, const struct npy_header *h)
{
    uint8_t *out = malloc(h->n);
    FUZZ_REQUIRE(out != NULL);
    (void)npy_read_bytes(s, h, out);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int how = 0; how < 4; how++) {
        struct byte_source source;
        struct io_message message;
        struct npy_header h;
        byte_source_memory(&source, "memory", data, size, &message);
        if (npy_read_header(&source, &h) != OSAFL_OK)
            break;
        FUZZ_REQUIRE(h.n >= 1 && h.n <= size / h.size); /* nothing that the source cannot hold */
        if (how == 0)
            read_as_floats(&source, &h);
        else if (how == 1)
            read_as_numbers(&source, &h);
        else if (how == 2)
            read_as_doubles(&source, &h);
        else if (h.kind == 'u' && h.size == 1)
            read_as_bytes(&source, &h);
        byte_source_close(&source);
    }
    return 0;
}
