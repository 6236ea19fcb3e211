/* kinds.h - the kinds of plugins and their names. */
#ifndef OSAFL_CORE_KINDS_H
#define OSAFL_CORE_KINDS_H

#include "osafl/plugin.h"

#define LOADER_KINDS 8 /* OSAFL_KIND_* are 1 .. LOADER_KINDS */

/* "dataset", ...; NULL for an unknown kind.  kind_from_name: 0 for an unknown name. */
const char *kind_name(uint32_t kind);
uint32_t kind_from_name(const char *name);

#endif
