/* plugin_verify.h - does what a plugin says about itself keep the rules of the interface? */
#ifndef OSAFL_CORE_PLUGIN_VERIFY_H
#define OSAFL_CORE_PLUGIN_VERIFY_H

#include "base/error.h"
#include "osafl/plugin.h"

/* Checks everything that can be seen without calling one of the plugin's operations: sizes, ABI,
 * kind, name, tables of parameters and metrics, operations that may not be missing.  kind and
 * name: what the file's place promises.  OSAFL_E_BUG: the message is the first breach, as a
 * clause whose subject is the file, with both sides and the remedy. */
osafl_status plugin_verify(const osafl_plugin *p, uint32_t kind, const char *name,
                           struct error *error);

#endif
