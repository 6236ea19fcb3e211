/* saves_otherwise.c - saves another number than it has loaded.  Caught by state.round_trip. */
#include "saves_counter.h"

static osafl_status load_more(void *self, osafl_call *c, osafl_reader *r)
{
    OSAFL_TRY(load_count(self, c, r));
    ((struct counting *)self)->calls += 7;
    return OSAFL_OK;
}

CHANGE(vt.select = select_in_turn; vt.life.create = create_counting; vt.life.save = save_count;
       vt.life.load = load_more;)
