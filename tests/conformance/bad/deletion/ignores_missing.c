/* ignores_missing.c - goes on without a record that is not there.  Caught by state.missing. */
#include "saves_counter.h"

static osafl_status load_if_there(void *self, osafl_call *c, osafl_reader *r)
{
    (void)load_count(self, c, r);
    return OSAFL_OK;
}

CHANGE(vt.select = select_in_turn; vt.life.create = create_counting; vt.life.save = save_count;
       vt.life.load = load_if_there;)
