/* repeats_sample.c - finds the same sample of a label every time.  Caught by dataset.labels. */
#include "template_with.h"

static uint64_t first_of(void *self, int32_t of_label, uint64_t k)
{
    (void)k;
    return sample_of(self, of_label, 0);
}

CHANGE(vt.sample_of = first_of;)
