/* fuzz_records.c - the container of saved states, and the checkpoint files around it.  Sizes and
 * checksum are put right, since no mutation would ever hit them. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "record_sections.h"
#include "results/checkpoint.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define HEAD_BYTES 24
#define SUM_BYTES 8
#define IDENTITY "0123456789abcdef0123456789abcdef"

static void put_u64(uint8_t *at, uint64_t v)
{
    for (unsigned i = 0; i < 8; i++)
        at[i] = (uint8_t)(v >> (8 * i));
}

/* Makes a block of the input: magic, format, size and checksum are those of a whole one. */
static uint8_t *make_block(const uint8_t *data, size_t size, size_t *block_size)
{
    static const uint8_t head[12] = {0x8f, 'O', 'S', 'A', 'F', 'L', '\r', '\n', 1, 0, 0, 0};
    *block_size = HEAD_BYTES + size + SUM_BYTES;
    uint8_t *block = malloc(*block_size);
    FUZZ_REQUIRE(block != NULL);
    memcpy(block, head, sizeof head);
    memset(block + sizeof head, 0, 4);
    if (size > 0) { /* the number of sections is the input's first byte */
        block[sizeof head] = data[0];
        memcpy(block + HEAD_BYTES, data + 1, size - 1);
        --*block_size;
    }
    put_u64(block + 16, *block_size);
    put_u64(block + *block_size - SUM_BYTES, XXH3_64bits(block, *block_size - SUM_BYTES));
    return block;
}

/* Asks a section for records as a plugin would. */
static void read_records(const struct record_set *set, const char *section)
{
    static const char *const keys[] = {"round", "identity", "a", "b", "k1", "model", "a.b"};
    struct error error;
    struct record_reader r;
    FUZZ_REQUIRE(record_reader_open(set, section, &r, &error) == OSAFL_OK);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        uint64_t n = 0;
        if (r.base.count(&r.base, keys[i], &n) != OSAFL_OK)
            continue;
        void *values = malloc(n * 8 + 1);
        FUZZ_REQUIRE(values != NULL); /* no record can be longer than the block */
        const int found = (r.base.u64(&r.base, keys[i], values, n) == OSAFL_OK) +
                          (r.base.f64(&r.base, keys[i], values, n) == OSAFL_OK) +
                          (r.base.f32(&r.base, keys[i], values, n) == OSAFL_OK) +
                          (r.base.bytes(&r.base, keys[i], values, n) == OSAFL_OK);
        FUZZ_REQUIRE(found == 1);
        FUZZ_REQUIRE(r.base.bytes(&r.base, keys[i], values, n + 1) == OSAFL_E_STATE);
        free(values);
    }
}

static void read_block(const uint8_t *block, size_t size)
{
    struct error error;
    struct record_set *set = NULL;
    const osafl_status status = record_set_open(block, size, &set, &error);
    FUZZ_REQUIRE((status == OSAFL_OK) == (set != NULL));
    for (uint32_t i = 0; set != NULL && i < record_sections(block); i++) {
        char name[RECORD_NAME_BYTES];
        record_section_name(block, i, name);
        read_records(set, name);
    }
    record_set_destroy(set);
}

static void read_checkpoint(const uint8_t *block, size_t size)
{
    char warning[ERROR_BYTES];
    struct error error;
    char path[128];
    struct checkpoint_slots slots;
    struct checkpoint found;
    strcpy(path, fuzz_folder_file("checkpoint.0", block, size));
    const struct run_folder folder = {.path = path, .lock_fd = -1};
    if (checkpoint_read(&folder, IDENTITY, &slots, &found, warning, &error) == OSAFL_OK)
        checkpoint_free(&found);
    fuzz_folder_remove("checkpoint.0");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t block_size = 0;
    uint8_t *block = make_block(data, size, &block_size);
    read_block(data, size);
    read_block(block, block_size);
    if (size % 8 == 1) /* whole blocks only: files are slow */
        read_checkpoint(block, block_size);
    free(block);
    return 0;
}
