/* client_filter.h - what the filter does to a client's labels and its update. */
#ifndef OSAFL_CORE_CLIENT_FILTER_H
#define OSAFL_CORE_CLIENT_FILTER_H

#include <stdio.h>

#include "base/error.h"
#include "session.h"

/* The filter changes something of this client.  Never in pooled training.  [any] */
bool filter_touches(const struct session *s, uint32_t client);

/* Both leave alone what the filter does not touch, and name the filter in error where its answer
 * breaks filter.h.  [worker] */
osafl_status filter_labels(const struct session *s, uint32_t client, uint32_t round, uint32_t n,
                           const uint64_t *sample, int32_t *label, struct error *error);
osafl_status filter_update(const struct session *s, uint32_t client, uint32_t round, const float *w,
                           float *update, struct error *error);

/* n: updates that arrived of `asked` clients.  [coord] */
osafl_status filter_end_round(const struct session *s, uint32_t round, uint32_t n, uint32_t asked,
                              struct error *error);

/* Prints whom the filter touches; nothing where it does nothing at all. */
void filter_print(const struct session *s, FILE *to);

#endif
