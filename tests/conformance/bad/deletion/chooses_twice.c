/* chooses_twice.c - chooses a position twice.  Caught by deletion.positions. */
#include "template_with.h"

static osafl_status select_twice(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                                 uint32_t *position)
{
    OSAFL_TRY(select_samples(self, c, v, n, position));
    if (n > 1)
        position[1] = position[0];
    return OSAFL_OK;
}

CHANGE(vt.select = select_twice;)
