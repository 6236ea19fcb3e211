/* measured.h - what the deletion policies share that go by a measure of the samples. */
#ifndef OSAFL_DELETION_MEASURED_H
#define OSAFL_DELETION_MEASURED_H

#include "leaving.h"

struct measured_sample {
    double value;
    struct selection_aged aged;
};

/* Smaller values first; of equal ones the older, then the lower position. */
static inline int measured_smaller_first(const void *a, const void *b)
{
    const struct measured_sample *x = a;
    const struct measured_sample *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return selection_older_first(&x->aged, &y->aged);
}

/* The n candidates, stored or just arrived, of the smallest measure, or of the largest. */
static inline osafl_status measured_select(osafl_call *c, const osafl_store_view *v, uint32_t n,
                                           bool largest, uint32_t *position)
{
    const uint32_t all = v->stored + v->arrived;
    struct measured_sample *sample = c->host->scratch(c, ((uint64_t)all + 1) * sizeof *sample);
    if (sample == NULL)
        return OSAFL_E_NOMEM;
    for (uint32_t i = 0; i < all; i++)
        sample[i] = (struct measured_sample){.value = largest ? -v->measure[i] : v->measure[i],
                                             .aged = {.age = v->age[i], .position = i}};
    qsort(sample, all, sizeof *sample, measured_smaller_first);
    for (uint32_t i = 0; i < n; i++)
        position[i] = sample[i].aged.position;
    return OSAFL_OK;
}

#endif
