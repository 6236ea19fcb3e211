/* fixed.c - everyone takes part with the same number of local rounds, whatever the limits: an
 * ideal network, or one whose limits are not the subject.  Times and energies are still accounted
 * for, at a given clock and power. */
#include "client_cost.h"
#include "osafl/resource.h"

#include <inttypes.h>
#include <stdlib.h>

struct fixed_config {
    int64_t local_rounds;
    double clock_hz;
    double power_w;
};

static const osafl_param params[] = {
    OSAFL_INT(struct fixed_config, local_rounds, 0, 0, 1000000,
              "Local rounds of every client; 0: training.max_local_rounds"),
    OSAFL_REAL(struct fixed_config, clock_hz, 0.0, 0.0, 1e12,
               "Clock of every client in the energy account; 0: the client's maximum",
               .unit = "Hz"),
    OSAFL_REAL(struct fixed_config, power_w, 0.0, 0.0, 1e6,
               "Transmit power of every client in the energy account; 0: the client's maximum",
               .unit = "W"),
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const struct fixed_config *chosen = config;
    if (chosen->local_rounds > (int64_t)facts->max_local_rounds)
        return h->fail(c, OSAFL_E_CONFIG,
                       "resource.fixed.local_rounds = %" PRId64 " is above "
                       "training.max_local_rounds = %" PRIu32 "; lower the one or raise the other",
                       chosen->local_rounds, facts->max_local_rounds);
    struct fixed_config *settings = malloc(sizeof *settings);
    if (settings == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *settings = *chosen;
    *self = settings;
    return OSAFL_OK;
}

static osafl_status solve(void *self, osafl_call *c, const osafl_resource_problem *p,
                          const osafl_resource_answer *out)
{
    (void)c;
    const struct fixed_config *settings = self;
    const uint32_t local_rounds =
        settings->local_rounds > 0 ? (uint32_t)settings->local_rounds : p->max_local_rounds;
    for (uint32_t u = 0; u < p->clients; u++) {
        if (!p->present[u]) {
            sit_out(out, u, OSAFL_OUT_ABSENT);
            continue;
        }
        const struct client_cost cost = client_cost(p, u);
        const double clock_hz = settings->clock_hz > 0.0 ? settings->clock_hz : cost.clock_max_hz;
        const double power_w = settings->power_w > 0.0 ? settings->power_w : cost.power_max_w;
        const struct operating_point point =
            operating_point(&cost, local_rounds, clock_hz, power_w);
        take_part(out, u, &point);
    }
    return OSAFL_OK;
}

static const osafl_resource_vt vtable = {
    .life = {.struct_size = sizeof(osafl_resource_vt), .create = create, .destroy = free},
    .solve = solve,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_RESOURCE,
    .name = "fixed",
    .version = "1.0.0",
    .summary = "every client takes part with the same number of local rounds",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct fixed_config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
