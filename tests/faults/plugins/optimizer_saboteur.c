/* optimizer_saboteur.c - sgd, with a float kept for every client, that may do a deed at "rate",
 * "step" or "received". */
#define osafl_plugin_entry_v0 honest_entry
#include "../../../plugins/optimizer/sgd.c"
#undef osafl_plugin_entry_v0
#include "deeds.h"

static osafl_status bad_describe(void *self, osafl_call *c, osafl_optimizer_info *out)
{
    OSAFL_TRY(describe(self, c, out));
    out->is_plain = 0;
    out->client_floats = 1;
    return OSAFL_OK;
}

static osafl_status bad_rate(void *self, osafl_call *c, uint32_t round, double *rate)
{
    OSAFL_TRY(scheduled_rate(self, c, round, rate));
    if (deed("rate", round, ANY))
        *rate = (double)NAN;
    return OSAFL_OK;
}

static osafl_status bad_step(void *self, osafl_call *c, const osafl_local *l, float *w, float *grad)
{
    OSAFL_TRY(step(self, c, l, w, grad));
    if (deed("step", l->round, l->client))
        w[l->dim - 1] = NAN;
    return OSAFL_OK;
}

static osafl_status bad_received(void *self, osafl_call *c, const osafl_local *l,
                                 const float *update, const float *const *uplink)
{
    (void)self;
    (void)c;
    (void)uplink;
    l->client_state[0] = deed("received", l->round, l->client) ? NAN : update[0];
    return OSAFL_OK;
}

static const osafl_optimizer_vt bad = {
    .life = {.struct_size = sizeof(osafl_optimizer_vt),
             .create = scheduled_create,
             .destroy = free},
    .describe = bad_describe,
    .rate = bad_rate,
    .step = bad_step,
    .received = bad_received,
};

SABOTEUR(&bad)
