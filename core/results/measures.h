/* measures.h - what the names of measures say. */
#ifndef OSAFL_CORE_MEASURES_H
#define OSAFL_CORE_MEASURES_H

#include <stdbool.h>

/* Whether more of a measure is better: all but losses and errors (osafl/model.h). */
bool measure_higher_is_better(const char *measure);

#endif
