/* touches_in_turn.c - answers otherwise each time that it is asked.  Caught by filter.touches. */
#include "template_with.h"

static uint32_t touches_now_and_then(void *self, uint32_t client)
{
    static uint32_t asked;
    (void)self;
    (void)client;
    return asked++ / 3 % 2;
}

CHANGE(vt.touches = touches_now_and_then;)
