/* leaks.c - never frees its instances.  Caught by life.defaults. */
#include "template_with.h"

static void forget(void *self)
{
    (void)self;
}

CHANGE(vt.life.destroy = forget;)
