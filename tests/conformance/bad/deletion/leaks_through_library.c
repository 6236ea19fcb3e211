/* leaks_through_library.c - leaks what a library allocated for it.  Caught by life.cycles. */
#include "template_with.h"

#include <stdio.h>

static osafl_status create_label(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                                 const void *config, void **self)
{
    char *label = NULL;
    if (asprintf(&label, "%u clients", (unsigned)facts->clients) < 0)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    return create(h, c, facts, config, self);
}

CHANGE(vt.life.create = create_label;)
