/* settings.h - binds a table of osafl_param to the values of an experiment file. */
#ifndef OSAFL_CORE_SETTINGS_H
#define OSAFL_CORE_SETTINGS_H

#include "osafl/param.h"

struct diagnostics;
struct node; /* a group of the experiment's tree, experiment_tree.h */

/* A table and where its settings stand in an experiment. */
struct settings_table {
    const char *path; /* "aggregator.osafl"; "" at the top level; for messages */
    const osafl_param *params;
    uint32_t n;
    uint32_t stride;
};

/* Fills config (zeroed, of the table's size) with the defaults and then with the values of the
 * group; group may be NULL.  path: "aggregator.osafl", for messages.  Every unknown key, wrong
 * type, value out of range and missing required key is an error in d; so is a wrong value that
 * another one has replaced.  Strings and arrays stay owned by the tree.  extra_keys:
 * NULL-terminated names that the caller handles itself. */
void settings_bind(const osafl_param *table, uint32_t n, uint32_t stride, void *config,
                   const struct node *group, const char *path, const char *const *extra_keys,
                   struct diagnostics *d);

/* The same; a key that is unknown here is also looked for in n_others other tables, so that the
 * message can say where it belongs. */
void settings_bind_among(const struct settings_table *table, void *config, const struct node *group,
                         const char *const *extra_keys, const struct settings_table *others,
                         size_t n_others, struct diagnostics *d);

/* The value of one setting as canonical text, as it stands in a resolved file: integers in
 * decimal, reals with as many digits as give the same double again, strings quoted.  Returns what
 * snprintf does. */
int settings_format(const osafl_param *p, const void *config, char *out, size_t size);

/* The same as a string of the needed length, to be freed; NULL: out of memory. */
char *settings_text(const osafl_param *p, const void *config);

/* The default in the same way; a REQUIRED setting has none. */
char *settings_default_text(const osafl_param *p);

/* Help for a table: for each setting its name, type, range and default, and its sentence with the
 * unit.  file: a FILE *. */
void settings_describe(const osafl_param *table, uint32_t n, uint32_t stride, void *file);

#endif
