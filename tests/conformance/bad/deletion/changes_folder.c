/* changes_folder.c - changes the working folder while it works.  Caught by load.use. */
#include "template_with.h"

#include <unistd.h>

static osafl_status select_elsewhere(void *self, osafl_call *c, const osafl_store_view *v,
                                     uint32_t n, uint32_t *position)
{
    if (chdir("/") != 0)
        return OSAFL_E_IO;
    return select_samples(self, c, v, n, position);
}

CHANGE(vt.select = select_elsewhere;)
