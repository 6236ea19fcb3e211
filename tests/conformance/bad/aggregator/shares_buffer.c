/* shares_buffer.c - adds blocks up in a static buffer, which threads share.  Caught by
 * threads.statics. */
#include "template_with.h"

static double sums[4096];

struct target {
    float *w;
    uint32_t n;
};

static osafl_status add_block(void *arg, uint64_t begin, uint64_t n, const float *const *x,
                              osafl_call *sub)
{
    const struct target *to = arg;
    (void)sub;
    for (uint64_t i = 0; i < n; i++) {
        sums[i] = 0.0;
        for (uint32_t k = 0; k < to->n; k++)
            sums[i] += (double)x[k][i];
    }
    for (uint64_t i = 0; i < n; i++)
        to->w[begin + i] += (float)(sums[i] / to->n);
    return OSAFL_OK;
}

static osafl_status aggregate_blocks(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    struct target to = {.w = w, .n = u->n};
    (void)self;
    (void)c;
    return u->n > 0 ? u->ops->each_block(u, 0, add_block, &to) : OSAFL_OK;
}

CHANGE(vt.aggregate = aggregate_blocks;)
