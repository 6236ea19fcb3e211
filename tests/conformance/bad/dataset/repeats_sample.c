/* repeats_sample.c - finds the same sample of a label every time.  Caught by dataset.labels. */
#include "template_with.h"

static osafl_status first_of(void *self, osafl_call *c, int32_t of_label, uint64_t k,
                             uint64_t *sample)
{
    (void)k;
    return sample_of(self, c, of_label, 0, sample);
}

CHANGE(vt.sample_of = first_of;)
