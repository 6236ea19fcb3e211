/* leaves_one_out.c - leaves the gain of the last client unwritten.  Caught by numbers.written. */
#include "template_with.h"

static osafl_status gains_of_most(void *self, osafl_call *c, uint32_t round, double *gain)
{
    struct channel most = *(struct channel *)self;
    most.clients--;
    return gains(&most, c, round, gain);
}

CHANGE(vt.gains = gains_of_most;)
