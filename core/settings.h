/* settings.h - binds a table of osafl_param to the values of an experiment file. */
#ifndef OSAFL_CORE_SETTINGS_H
#define OSAFL_CORE_SETTINGS_H

#include "osafl/param.h"

struct diagnostics;
struct node; /* a group of the experiment's tree, experiment_tree.h */

/* Fills config (zeroed, of the table's size) with the defaults and then with the values of the
 * group; group may be NULL.  path: "aggregator.osafl", for messages.  Every unknown key, wrong
 * type, value out of range and missing required key is an error in d.  Strings stay owned by the
 * tree.  extra_keys: NULL-terminated names that the caller handles itself. */
void settings_bind(const osafl_param *table, uint32_t n, uint32_t stride, void *config,
                   const struct node *group, const char *path, const char *const *extra_keys,
                   struct diagnostics *d);

/* The value of one setting as canonical text, as it stands in a resolved file: integers in
 * decimal, reals with 17 significant digits, strings quoted.  Returns what snprintf does. */
int settings_format(const osafl_param *p, const void *config, char *out, size_t size);

/* The n lines "  name  type range = default  doc [unit]" of help texts. */
void settings_describe(const osafl_param *table, uint32_t n, uint32_t stride, void *file);

#endif
