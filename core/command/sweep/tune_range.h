/* tune_range.h - the values of a setting that `osafl tune` tries: "KEY=0.01,0.02,0.04", or
 * "KEY=0.005..0.08/5", five values at equal ratios.  Without "/N" a range has five. */
#ifndef OSAFL_CORE_TUNE_RANGE_H
#define OSAFL_CORE_TUNE_RANGE_H

#include "base/error.h"
#include "osafl/base.h"

enum { TUNE_MOST_VALUES = 64 };

/* The text "KEY=(VALUE, ...)" for grid_request.also, to be freed; values of a range have three
 * significant digits.  OSAFL_E_CONFIG when the word is malformed; see error.h for error. */
osafl_status tune_range(const char *word, char **out, struct error *error);

#endif
