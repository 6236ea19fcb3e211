/* kinds.h - the kinds of plugins: what the core knows of each. */
#ifndef OSAFL_CORE_KINDS_H
#define OSAFL_CORE_KINDS_H

#include "osafl/plugin.h"

#define LOADER_KINDS 14 /* OSAFL_KIND_* are 1 .. LOADER_KINDS */

/* "dataset", ...; NULL for an unknown kind.  kind_from_name: 0 for an unknown name. */
const char *kind_name(uint32_t kind);
uint32_t kind_from_name(const char *name);

/* The question that the kind answers, for help. */
const char *kind_question(uint32_t kind);

/* Whether experiments name a plugin of this kind.  Others carry a run, and change nothing in it:
 * they are no part of its identity, and have no settings, metrics or instances. */
bool kind_is_of_experiments(uint32_t kind);

/* The plugin that stands for a kind that an experiment does not name, so that files written before
 * the kind existed mean what they meant; NULL: the file must name one.  Of transports: the one for
 * processes that a launcher has started together. */
const char *kind_default(uint32_t kind);

/* Where the random numbers of a kind's plugins come from: kind and purpose of streams_fill() for
 * purpose p of the plugin.  Kinds that were parts of the core once draw from the streams that they
 * had: kind 0, and the core's purpose in the low 8 bits. */
void kind_stream(uint32_t kind, uint32_t p, uint32_t *stream_kind, uint32_t *stream_purpose);

#endif
