/* shares_state.c - keeps what belongs to an instance in a static variable.  Caught by life.two. */
#include "template_with.h"

static uint32_t calls;

static osafl_status select_in_turn(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                                   uint32_t *position)
{
    OSAFL_TRY(select_samples(self, c, v, n, position));
    const uint32_t turn = calls++ % (v->stored + v->arrived);
    for (uint32_t i = 0; i < n; i++)
        position[i] = (position[i] + turn) % (v->stored + v->arrived);
    return OSAFL_OK;
}

static osafl_status create_counter(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                                   const void *config, void **self)
{
    calls = 0;
    return create(h, c, facts, config, self);
}

CHANGE(vt.select = select_in_turn; vt.life.create = create_counter;)
