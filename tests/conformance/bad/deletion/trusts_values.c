/* trusts_values.c - uses a number from a state as an index.  Caught by state.values. */
#include "saves_counter.h"

static osafl_status save_position(void *self, osafl_call *c, osafl_writer *w)
{
    (void)c;
    const struct counting *s = self;
    return w->u64(w, "n", &s->n, 1);
}

static osafl_status load_position(void *self, osafl_call *c, osafl_reader *r)
{
    (void)c;
    struct counting *s = self;
    return r->u64(r, "n", &s->n, 1);
}

static osafl_status select_from_table(void *self, osafl_call *c, const osafl_store_view *v,
                                      uint32_t n, uint32_t *position)
{
    struct counting *s = self;
    s->table[s->n] = n;
    return select_samples(self, c, v, n, position);
}

CHANGE(vt.select = select_from_table; vt.life.create = create_counting;
       vt.life.save = save_position; vt.life.load = load_position;)
