/* schema.h - the settings of the core itself: the top level of an experiment file and its groups
 * that belong to no plugin. */
#ifndef OSAFL_CORE_SCHEMA_H
#define OSAFL_CORE_SCHEMA_H

#include "osafl/param.h"

struct experiment;

/* A table of the core and the struct in struct experiment to which it binds. */
struct schema_group {
    const char *name; /* of the group; "" for the top level */
    const char *doc;  /* one sentence, no trailing full stop */
    const osafl_param *table;
    uint32_t n;
    size_t offset; /* of the bound struct in struct experiment */
};

/* Choices of results.clients, by CLIENT_ROWS_*; NULL ends them. */
extern const char *const schema_client_rows[];

extern const struct schema_group schema_groups[];
extern const size_t schema_n_groups;

/* Settings of the core in the group of a kind of plugins: of models; to struct experiment's model.
 */
extern const osafl_param schema_model[];
extern const uint32_t schema_n_model;

/* NULL when the core has no group of that name. */
const struct schema_group *schema_find(const char *name);

/* The struct to which a group binds. */
void *schema_values(const struct schema_group *g, struct experiment *e);
const void *schema_values_const(const struct schema_group *g, const struct experiment *e);

#endif
