/* record_sections.c - the sections of a block of records. */
#include "record_sections.h"

#include <string.h>

static uint32_t u32_at(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint32_t record_sections(const void *block)
{
    return u32_at((const uint8_t *)block + 12);
}

void record_section_name(const void *block, uint32_t section, char name[RECORD_NAME_BYTES])
{
    const uint8_t *at = (const uint8_t *)block + 24;
    for (uint32_t i = 0; i < section; i++) {
        const uint64_t records = u32_at(at + 8) | (uint64_t)u32_at(at + 12) << 32;
        at += 16 + (u32_at(at) + 7) / 8 * 8 + records;
    }
    memcpy(name, at + 16, u32_at(at));
    name[u32_at(at)] = '\0';
}

bool record_has_section(const void *block, const char *name)
{
    bool found = false;
    for (uint32_t i = 0; i < record_sections(block); i++) {
        char here[RECORD_NAME_BYTES];
        record_section_name(block, i, here);
        found = found || strcmp(here, name) == 0;
    }
    return found;
}
