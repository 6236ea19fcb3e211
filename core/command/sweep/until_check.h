/* until_check.h - whether cells have the measure that "osafl run --until" asks for. */
#ifndef OSAFL_CORE_UNTIL_CHECK_H
#define OSAFL_CORE_UNTIL_CHECK_H

#include <stddef.h>

#include "cell_runner.h"

struct diagnostics;

/* Creates the plugins of each cell, in a process of its own, and asks its model for o->run.measure;
 * nothing is run.  Returns an exit status; what is wrong is in d. */
int until_check(struct experiment *const *cell, size_t n, struct loader *l,
                const struct cell_runner_options *o, struct diagnostics *d);

#endif
