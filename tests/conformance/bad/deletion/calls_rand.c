/* calls_rand.c - draws from rand(), whose seed belongs to the whole program.  Caught by file.calls.
 */
#include "template_with.h"

static osafl_status select_at_random(void *self, osafl_call *c, const osafl_store_view *v,
                                     uint32_t n, uint32_t *position)
{
    OSAFL_TRY(select_samples(self, c, v, n, position));
    if (n > 1 && rand() % 2 == 0) {
        const uint32_t first = position[0];
        position[0] = position[1];
        position[1] = first;
    }
    return OSAFL_OK;
}

CHANGE(vt.select = select_at_random;)
