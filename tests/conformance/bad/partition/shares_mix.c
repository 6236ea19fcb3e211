/* shares_mix.c - says that mix() is concurrent, and works in a static array.  Caught by
 * threads.workers. */
#include "template_with.h"

static const char *const concurrent[] = {"concurrent", NULL};
static double shared[1000];

static osafl_status mix_through(void *self, osafl_call *c, uint32_t client, uint32_t draw,
                                double *mix)
{
    const struct partition *partition = self;
    OSAFL_TRY(mix_of(self, c, client, draw, shared));
    let_others_in();
    memcpy(mix, shared, partition->labels * sizeof *mix);
    return OSAFL_OK;
}

CHANGE(vt.mix = mix_through; p.features = concurrent;)
