/* plugin_state.h - the state of a plugin's instance, in a section of a block of records. */
#ifndef OSAFL_CORE_PLUGIN_STATE_H
#define OSAFL_CORE_PLUGIN_STATE_H

#include "base/error.h"
#include "base/records.h"
#include "plugin_host.h"

/* save() into a section of the given name; an instance without state makes an empty section. */
osafl_status instance_save(struct instance *i, struct record_writer *w, const char *section,
                           struct error *error);

/* load() from that section into a fresh instance.  OSAFL_E_STATE when the section is missing, was
 * written by a newer state version, or is not what the plugin expects. */
osafl_status instance_load(struct instance *i, const struct record_set *s, const char *section,
                           struct error *error);

#endif
