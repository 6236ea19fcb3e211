/* aggregator_saboteur.c - fedavg that may do a deed: at "aggregate", "block" (on a worker), "save",
 * "load" or "destroy". */
#define osafl_plugin_entry_v0 honest_entry
#include "../../../plugins/aggregator/fedavg.c"
#undef osafl_plugin_entry_v0
#include "deeds.h"

/* Its blocks ask for all updates. */
static osafl_status bad_describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    OSAFL_TRY(describe(self, c, out));
    out->one_sum = 0;
    return OSAFL_OK;
}

static osafl_status visit(void *arg, uint64_t begin, uint64_t n, const float *const *x,
                          osafl_call *sub)
{
    const osafl_updates *u = arg;
    (void)begin;
    (void)n;
    (void)x;
    (void)sub;
    (void)deed("block", u->round, ANY);
    return OSAFL_OK;
}

static osafl_status bad_aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    const bool spoil = deed("aggregate", u->round, ANY);
    OSAFL_TRY(u->ops->each_block(u, 0, visit, (void *)(uintptr_t)u));
    OSAFL_TRY(aggregate(self, c, u, w));
    if (spoil)
        w[u->dim - 1] = NAN;
    return OSAFL_OK;
}

static osafl_status bad_save(void *self, osafl_call *c, osafl_writer *w)
{
    const uint64_t one = 1;
    (void)self;
    (void)c;
    (void)deed("save", ANY, ANY);
    return w->u64(w, "one", &one, 1);
}

static osafl_status bad_load(void *self, osafl_call *c, osafl_reader *r)
{
    uint64_t one = 0;
    (void)self;
    (void)c;
    (void)deed("load", ANY, ANY);
    return r->u64(r, "one", &one, 1);
}

static void bad_destroy(void *self)
{
    (void)deed("destroy", ANY, ANY);
    free(self);
}

static const osafl_aggregator_vt bad = {
    .life = {.struct_size = sizeof(osafl_aggregator_vt),
             .state_version = 1,
             .check = check,
             .create = stateless_create,
             .destroy = bad_destroy,
             .save = bad_save,
             .load = bad_load},
    .describe = bad_describe,
    .aggregate = bad_aggregate,
};

SABOTEUR(&bad)
