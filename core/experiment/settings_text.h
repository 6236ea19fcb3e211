/* settings_text.h - pieces of text that messages and help share.  All return what snprintf does. */
#ifndef OSAFL_CORE_SETTINGS_TEXT_H
#define OSAFL_CORE_SETTINGS_TEXT_H

#include "osafl/param.h"

/* "[0, 0.5)", "> 0", or nothing when there are no bounds. */
int settings_interval(const osafl_param *p, char *out, size_t size);

/* The choices of an OSAFL_T_CHOICE: "a", "b", in quotes. */
int settings_choices(const osafl_param *p, char *out, size_t size);

/* The shortest decimal that reads back as the same double, and as a real number to libconfig. */
int settings_real(double v, char *out, size_t size);

#endif
