/* record_sections.h - the sections of a block of records, read by the format of records.h alone. */
#ifndef OSAFL_TESTS_RECORD_SECTIONS_H
#define OSAFL_TESTS_RECORD_SECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/records.h"

/* How many sections a sound block has, and the name of one of them. */
uint32_t record_sections(const void *block);
void record_section_name(const void *block, uint32_t section, char name[RECORD_NAME_BYTES]);

bool record_has_section(const void *block, const char *name);

#endif
