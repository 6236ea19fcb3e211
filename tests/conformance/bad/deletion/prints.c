/* prints.c - prints what it does.  Caught by load.output. */
#include "template_with.h"

#include <stdio.h>

static osafl_status select_loudly(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                                  uint32_t *position)
{
    fprintf(stderr, "%u samples leave\n", (unsigned)n);
    return select_samples(self, c, v, n, position);
}

CHANGE(vt.select = select_loudly;)
