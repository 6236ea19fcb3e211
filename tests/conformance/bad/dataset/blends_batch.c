/* blends_batch.c - scales a sample by the batch that it comes in.  Caught by dataset.samples. */
#include "template_with.h"

static osafl_status read_scaled(void *self, osafl_call *c, uint32_t split, const uint64_t *index,
                                const osafl_batch *b)
{
    OSAFL_TRY(read_samples(self, c, split, index, b));
    for (uint64_t i = 0; i < (uint64_t)b->n * PIXELS; i++)
        b->x[i] /= (float)b->n;
    return OSAFL_OK;
}

CHANGE(vt.read = read_scaled;)
