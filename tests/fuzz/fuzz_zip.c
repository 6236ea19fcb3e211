/* fuzz_zip.c - members of ZIP archives. */
#include <string.h>

#include "byte_source.h"
#include "fuzz.h"

/* Reads a member to its end or its fault; no more comes than was promised. */
static void read_member(const char *path, const char *member)
{
    struct byte_source s;
    struct io_message m = {""};
    const osafl_status status = byte_source_open_member(&s, "member", path, member, &m);
    FUZZ_REQUIRE(status == OSAFL_OK || m.text[0] != '\0');
    if (status != OSAFL_OK)
        return;
    uint64_t n = 0;
    int byte = 0;
    while ((byte = byte_source_get(&s)) >= 0)
        n++;
    FUZZ_REQUIRE(n <= s.at_most);
    FUZZ_REQUIRE(byte == BYTE_SOURCE_END || m.text[0] != '\0');
    byte_source_close(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(0, data, size);
    read_member(path, "");
    read_member(path, "x");
    return 0;
}
