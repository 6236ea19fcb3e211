/* row_settings.h - which settings tell the rows of a grid of results apart. */
#ifndef OSAFL_REPORT_ROW_SETTINGS_H
#define OSAFL_REPORT_ROW_SETTINGS_H

#include <stdbool.h>

/* Whether cells with different values of the setting belong to different rows: not for the seed,
 * nor for what changes no result, nor for the setting along which cells lie in their row (NULL:
 * none). */
bool setting_makes_row(const char *key, const char *along);

/* Of "KEY=VALUE,...", the settings that make rows.  free() */
char *varied_of_row(const char *varied, const char *along);

#endif
