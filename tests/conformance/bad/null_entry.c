/* null_entry.c - describes itself by NULL. */
#include "osafl/plugin.h"

OSAFL_EXPORT const osafl_plugin *osafl_plugin_entry_v0(void)
{
    return NULL;
}
