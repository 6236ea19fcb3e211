/* pooled.h - centralised training: one trainee, number 0, with the union of all stores and no link.
 *
 * An aggregator asks for it by the extension osafl_pooled; session_has_link() is then false. */
#ifndef OSAFL_CORE_POOLED_H
#define OSAFL_CORE_POOLED_H

#include "session.h"
#include "train.h"

struct pooled {
    uint64_t *sample;    /* [all that the stores can hold] */
    uint32_t *histogram; /* [dataset.labels] */
};

/* Empty where there is a link.  false: out of memory. */
bool pooled_create(const struct session *s, const struct world *world, struct pooled *out);
void pooled_destroy(struct pooled *p);

/* The round's task, of one local round of so many steps; its store is empty when all are. */
struct train_task pooled_task(struct pooled *p, const struct session *s, const struct world *world,
                              uint64_t steps);

#endif
