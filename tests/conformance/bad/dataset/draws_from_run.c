/* draws_from_run.c - draws its noise from the run's random numbers.  Caught by dataset.seed. */
#include "template_with.h"

static osafl_status read_noisy(void *self, osafl_call *c, uint32_t split, const uint64_t *index,
                               const osafl_batch *b)
{
    const struct dataset *set = self;
    OSAFL_TRY(read_samples(self, c, split, index, b));
    for (uint32_t k = 0; k < b->n; k++) {
        uint32_t word;
        set->host->random_fill(c, 1, OSAFL_NO_CLIENT, 0, index[k], &word, 1);
        b->x[(size_t)k * PIXELS] += osafl_uniform_float(word);
    }
    return OSAFL_OK;
}

CHANGE(vt.read = read_noisy;)
