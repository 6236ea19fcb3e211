/* trusts_malloc.c - does not look whether it got memory.  Caught by life.memory. */
#include "template_with.h"

static osafl_status create_trustingly(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                                      const void *config, void **self)
{
    (void)c;
    (void)facts;
    (void)config;
    struct policy *policy = malloc(sizeof *policy);
    ((struct policy *volatile)policy)->host = h;
    *self = policy;
    return OSAFL_OK;
}

CHANGE(vt.life.create = create_trustingly;)
