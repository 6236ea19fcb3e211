/* confusion.h - which labels a classifier takes for which. */
#ifndef OSAFL_CORE_CONFUSION_H
#define OSAFL_CORE_CONFUSION_H

#include "evaluate.h"

struct confusion {
    uint32_t labels;
    uint64_t
        *count; /* [labels][labels]: samples of the first label that are taken for the second */
};

/* A model reports of each sample whether it is right, not what it takes it for: it is asked once
 * for each label whether the sample has that one.  OSAFL_E_CONFIG: it reports no accuracy.  Free
 * *out after success.  [coord] */
osafl_status confusion_count(const struct session *s, struct worker *const *workers, const float *w,
                             struct evaluation *room, struct confusion *out, struct error *error);
void confusion_free(struct confusion *c);

/* The measure "accuracy" of the session's model; false: it has none. */
bool confusion_measure(const struct session *s, uint32_t *measure);

/* Of one label: right ones among those of the label, and among those taken for it; their harmonic
 * mean.  NAN: there are none. */
double confusion_recall(const struct confusion *c, uint32_t label);
double confusion_precision(const struct confusion *c, uint32_t label);
double confusion_f1(const struct confusion *c, uint32_t label);

/* Means of recall and F1 over the labels that the split has; every label counts alike. */
double confusion_balanced_accuracy(const struct confusion *c);
double confusion_macro_f1(const struct confusion *c);

#endif
