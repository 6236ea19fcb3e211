/* plugin_new.h - starts the project of a new plugin. */
#ifndef OSAFL_CORE_PLUGIN_NEW_H
#define OSAFL_CORE_PLUGIN_NEW_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/* Writes into folder dir, which is made if it is not there, a project that builds, checks and runs
 * a working plugin of that kind: CMakeLists.txt, NAME.c, NAME.cfg, README.md, ci.sh.  A file that
 * exists is never touched.  A failure: nothing was changed, or what was begun could not be
 * finished, and the message says so. */
osafl_status plugin_new(uint32_t kind, const char *name, const char *dir, struct error *error);

/* The commands with which its author goes on. */
void plugin_new_print(uint32_t kind, const char *name, const char *dir, FILE *to);

#endif
