/* other_major.c - exports the entry point of a later major ABI. */
#define BASE_NAME "other_major"
#define BASE_ENTRY osafl_plugin_entry_v7
#include "deletion_base.h"
