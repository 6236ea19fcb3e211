/* loading_saboteur.c - a deletion plugin that may do a deed when it is mapped. */
#define osafl_plugin_entry_v0 honest_entry
#include "../../../plugins/deletion/fifo.c"
#undef osafl_plugin_entry_v0
#include "deeds.h"

__attribute__((constructor)) static void begin(void)
{
    (void)deed("mapping", ANY, ANY);
}

__attribute__((destructor)) static void end(void)
{
    (void)deed("leaving", ANY, ANY);
}

OSAFL_EXPORT const osafl_plugin *osafl_plugin_entry_v0(void);
OSAFL_EXPORT const osafl_plugin *osafl_plugin_entry_v0(void)
{
    static osafl_plugin saboteur;
    (void)honest_entry;
    saboteur = plugin;
    saboteur.name = "loading";
    return &saboteur;
}
