/* needs_stranger.c - needs a function that none of its libraries has.  Caught by file.needs. */
#include "template_with.h"

int function_of_a_stranger(void);

static void lament(void *self)
{
    destroy(self);
    function_of_a_stranger();
}

CHANGE(vt.life.destroy = lament;)
