/* plugin_new.h - starts the project of a new plugin. */
#ifndef OSAFL_CORE_PLUGIN_NEW_H
#define OSAFL_CORE_PLUGIN_NEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes into folder dir, which is made if it is not there, a project that builds, checks and runs
 * a working plugin of that kind: CMakeLists.txt, NAME.c, NAME.cfg, README.md, ci.sh.  A file that
 * exists is never touched.  False: nothing was changed, or what was begun could not be finished,
 * and why says so. */
bool plugin_new(uint32_t kind, const char *name, const char *dir, char *why, size_t size);

/* The commands with which its author goes on. */
void plugin_new_tell(uint32_t kind, const char *name, const char *dir, FILE *to);

#endif
