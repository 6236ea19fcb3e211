/* rounding_in_create.c - leaves another rounding mode behind. */
#include <fenv.h>

#include "osafl/plugin.h"

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)h;
    (void)c;
    (void)facts;
    (void)config;
    (void)self;
    fesetround(FE_TOWARDZERO);
    return OSAFL_OK;
}

#define BASE_NAME "rounding_in_create"
#define BASE_CREATE create
#include "deletion_base.h"
