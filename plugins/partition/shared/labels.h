/* labels.h - what partitions by labels ask of a data set. */
#ifndef OSAFL_PARTITION_LABELS_H
#define OSAFL_PARTITION_LABELS_H

#include "osafl/partition.h"

/* Refuses a data set of real targets that has no bins as labels. */
static inline osafl_status labels_required(const osafl_host *h, osafl_call *c,
                                           const osafl_facts *facts)
{
    if (facts->dataset->target_type == OSAFL_TARGET_REAL && facts->dataset->labels == 1)
        return h->fail(c, OSAFL_E_CONFIG,
                       "the targets are real numbers, so there are no labels to deal by; choose "
                       "another partition, such as \"iid\"");
    return OSAFL_OK;
}

/* How many labels have training samples. */
static inline uint32_t labels_with_samples(const osafl_facts *facts)
{
    uint32_t n = 0;
    for (uint32_t l = 0; l < facts->dataset->labels; l++)
        n += facts->label_share[l] > 0.0;
    return n;
}

#endif
