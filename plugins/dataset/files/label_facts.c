/* label_facts.c - whether the labels of a data set look like classes. */
#include "label_facts.h"

bool labels_look_like_classes(const struct label_facts *f)
{
    const uint64_t distinct = f->distinct;
    if (f->numbers && !f->whole)
        return distinct <= 2 || (distinct <= 20 && 5 * distinct <= f->samples);
    if (distinct <= 20)
        return true;
    if (f->numbers)
        return 5 * distinct <= f->samples && (distinct <= 100 || f->gapless);
    return 2 * distinct <= f->samples;
}
