/* label_facts.h - whether the labels of a data set look like classes. */
#ifndef OSAFL_DATASET_LABEL_FACTS_H
#define OSAFL_DATASET_LABEL_FACTS_H

#include "osafl/base.h"

struct label_facts {
    uint64_t samples;
    uint32_t distinct;
    bool numbers; /* all labels are */
    bool whole;   /* all are whole numbers */
    bool gapless; /* all whole numbers between the smallest and the largest occur */
};

/* False for what is probably a quantity to be predicted, or names each sample: numbers with
 * fractions of more than 20 values, whole numbers with less than five samples each, or more than
 * 100 with gaps between, texts with less than two samples each.  A few labels always pass. */
bool labels_look_like_classes(const struct label_facts *f);

#endif
