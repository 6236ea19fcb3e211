/* gives_absent_label.c - gives every label a probability, samples or not.  Caught by
 * partition.mixes. */
#include "template_with.h"

static osafl_status alike(void *self, osafl_call *c, uint32_t client, uint32_t draw, double *mix)
{
    (void)c;
    (void)client;
    (void)draw;
    const struct partition *partition = self;
    for (uint32_t l = 0; l < partition->labels; l++)
        mix[l] = 1.0 / partition->labels;
    return OSAFL_OK;
}

CHANGE(vt.mix = alike;)
