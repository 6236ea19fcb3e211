/* leaves_file_open.c - opens a file with each instance and never closes it.  Caught by load.use. */
#include "template_with.h"

#include <fcntl.h>

static osafl_status create_and_open(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                                    const void *config, void **self)
{
    if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
        return h->fail(c, OSAFL_E_IO, "/dev/null cannot be opened");
    return create(h, c, facts, config, self);
}

CHANGE(vt.life.create = create_and_open;)
