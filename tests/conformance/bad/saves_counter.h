/* saves_counter.h - a deletion policy that counts its calls and saves the count, in full: the files
 * that include it break one of its parts. */
#include "template_with.h"

struct counting {
    struct policy base;
    uint64_t calls;
    uint32_t table[8];
    uint64_t n;
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
    s->n = 3;
    *self = s;
    return OSAFL_OK;
}

static inline osafl_status select_in_turn(void *self, osafl_call *c, const osafl_store_view *v,
                                          uint32_t n, uint32_t *position)
{
    struct counting *s = self;
    OSAFL_TRY(select_samples(self, c, v, n, position));
    s->calls++;
    for (uint32_t i = 0; i < n; i++)
        position[i] = (uint32_t)((position[i] + s->calls % 7) % (v->stored + v->arrived));
    return OSAFL_OK;
}

static inline osafl_status save_count(void *self, osafl_call *c, osafl_writer *w)
{
    (void)c;
    const struct counting *s = self;
    return w->u64(w, "calls", &s->calls, 1);
}

static inline osafl_status load_count(void *self, osafl_call *c, osafl_reader *r)
{
    (void)c;
    struct counting *s = self;
    return r->u64(r, "calls", &s->calls, 1);
}
