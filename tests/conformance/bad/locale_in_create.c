/* locale_in_create.c - leaves another locale behind. */
#include <locale.h>

#include "osafl/plugin.h"

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)h;
    (void)c;
    (void)facts;
    (void)config;
    (void)self;
    setlocale(LC_NUMERIC, "C.UTF-8");
    return OSAFL_OK;
}

#define BASE_NAME "locale_in_create"
#define BASE_CREATE create
#include "deletion_base.h"
