/* kept.c - a resource policy: may a client take part, with how many local rounds, which clock and
 * which power?
 *
 * As generated it lets a client compute and send as fast as it can, with as many local rounds as
 * deadline and energy budget allow.
 *
 * To make it yours, change decide(), or solve() if clients compete with each other; the letters of
 * the comments are those of osafl/resource.h. */
#include <math.h>
#include <stdlib.h>

#include <osafl/resource.h>

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)h;
    (void)c;
    (void)facts;  /* number of clients and rounds, the data set, the model: osafl/plugin.h */
    (void)config; /* NULL: this plugin has no settings */
    *self = NULL; /* an instance without memory of its own */
    return OSAFL_OK;
}

static void destroy(void *self)
{
    (void)self;
}

static void sit_out(const osafl_resource_answer *out, uint32_t u, uint32_t reason)
{
    out->local_rounds[u] = 0;
    out->reason[u] = reason;
}

/* The answer for client u. */
static void decide(const osafl_resource_problem *p, uint32_t u, const osafl_resource_answer *out)
{
    if (!p->present[u]) {
        sit_out(out, u, OSAFL_OUT_ABSENT);
        return;
    }
    /* Upload of Upsilon bits at the rate R(p), at the highest power. */
    const double power_w = p->power_max_w[u];
    const double noise_w = p->bandwidth_hz[u] * p->noise_w_per_hz;
    const double rate_bps = p->bandwidth_hz[u] * log2(1.0 + p->gain[u] * power_w / noise_w);
    const double upload_s = p->payload_bits[u] / rate_bps; /* infinite without a link */
    const double upload_j = power_w * upload_s;
    const double receive_s = p->receive_s != NULL ? p->receive_s[u] : 0.0;
    const double left_s = p->deadline_s - receive_s; /* for computing and sending */
    if (!(upload_s < left_s)) {
        sit_out(out, u, OSAFL_OUT_DEADLINE);
        return;
    }
    /* A local round takes n * n-bar * c_u * s_u cycles, and rho / 2 * f^2 joules for each. */
    const double clock_hz = p->clock_max_hz[u];
    const double cycles =
        (double)p->cost_steps * (double)p->batch * p->cycles_per_bit[u] * p->sample_bits;
    const double round_s = cycles / clock_hz;
    const double round_j = 0.5 * p->capacitance * cycles * clock_hz * clock_hz;
    for (uint32_t rounds = p->max_local_rounds; rounds >= 1; rounds--) {
        const double compute_s = rounds * round_s;
        const double compute_j = rounds * round_j;
        if (compute_s + upload_s > left_s || compute_j + upload_j > p->energy_budget_j[u])
            continue;
        out->local_rounds[u] = rounds;
        out->reason[u] = 0;
        out->clock_hz[u] = clock_hz;
        out->power_w[u] = power_w;
        out->compute_s[u] = compute_s;
        out->upload_s[u] = upload_s;
        out->compute_j[u] = compute_j;
        out->upload_j[u] = upload_j;
        return;
    }
    sit_out(out, u, round_s + upload_s > left_s ? OSAFL_OUT_CLOCK : OSAFL_OUT_ENERGY);
}

static osafl_status solve(void *self, osafl_call *c, const osafl_resource_problem *p,
                          const osafl_resource_answer *out)
{
    (void)self;
    (void)c;
    for (uint32_t u = 0; u < p->clients; u++)
        decide(p, u, out);
    return OSAFL_OK;
}

/* Laws that it keeps.  What stands here is tested by "osafl plugin check". */
static const char *const features[] = {"meets_limits", NULL};

static const osafl_resource_vt vtable = {
    .life = {.struct_size = sizeof(osafl_resource_vt), .create = create, .destroy = destroy},
    .solve = solve,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_RESOURCE,
    .name = "kept",
    .version = "0.1.0",
    .summary = "Full clock and power, with as many local rounds as the limits allow",
    .license = "MIT",
    .features = features,
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
