/* kept_experiment.h - the experiment of a run that was kept, from its manifest. */
#ifndef OSAFL_CORE_KEPT_EXPERIMENT_H
#define OSAFL_CORE_KEPT_EXPERIMENT_H

#include <jansson.h>

#include "experiment/experiment.h"

struct diagnostics;

/* The run's settings as a manifest records them, under their present names.  Settings that this
 * version does not have are left out where they had their default, and errors otherwise.  set: laid
 * over them, as --set is; [n_set].  NULL with errors in d. */
struct experiment *kept_experiment(const json_t *manifest, const char *const *set, size_t n_set,
                                   struct loader *l, struct diagnostics *d);

#endif
