/* trusts_length.c - takes the length of a record for granted.  Caught by state.lengths. */
#include "saves_counter.h"

static osafl_status save_table(void *self, osafl_call *c, osafl_writer *w)
{
    (void)c;
    const struct counting *s = self;
    const uint64_t values[3] = {s->calls, 1, 2};
    return w->u64(w, "table", values, 3);
}

static osafl_status load_table(void *self, osafl_call *c, osafl_reader *r)
{
    (void)c;
    struct counting *s = self;
    uint64_t n = 0;
    OSAFL_TRY(r->count(r, "table", &n));
    uint64_t *values = malloc(n * sizeof *values);
    if (values == NULL)
        return s->base.host->fail(c, OSAFL_E_NOMEM, "out of memory");
    const osafl_status status = r->u64(r, "table", values, n);
    if (n != 3)
        abort(); /* as running over the end of an array would, sooner or later */
    s->calls = values[0];
    free(values);
    return status;
}

CHANGE(vt.select = select_in_turn; vt.life.create = create_counting; vt.life.save = save_table;
       vt.life.load = load_table;)
