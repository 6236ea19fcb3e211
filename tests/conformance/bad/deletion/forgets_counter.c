/* forgets_counter.c - has a memory over rounds and no save().  Caught by state.resume. */
#include "template_with.h"

struct counting {
    struct policy base;
    uint32_t calls;
};

static osafl_status create_counting(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                                    const void *config, void **self)
{
    (void)facts;
    (void)config;
    struct counting *s = calloc(1, sizeof *s);
    if (s == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    s->base.host = h;
    *self = s;
    return OSAFL_OK;
}

static osafl_status select_in_turn(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                                   uint32_t *position)
{
    struct counting *s = self;
    OSAFL_TRY(select_samples(self, c, v, n, position));
    s->calls++;
    for (uint32_t i = 0; i < n; i++)
        position[i] = (position[i] + s->calls) % (v->stored + v->arrived);
    return OSAFL_OK;
}

CHANGE(vt.select = select_in_turn; vt.life.create = create_counting;)
