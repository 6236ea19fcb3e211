/* iterative.c - the paper's Algorithms 1 and 2: as many local rounds as deadline and energy allow.
 *
 * Algorithm 2 is a fixed point.  Lemma 1's clock f*(p) makes the deadline tight for the power p,
 * and Lemma 2's power p*(f) makes it tight for the clock f, so p*(f*(p)) = p for every p: the
 * number of iterations changes nothing, and the initial power decides the answer.  It is a setting
 * here for that reason:
 *   max       start from p_max;
 *   fraction  start from a fraction of p_max (default: a tenth);
 *   search    "an initial feasible power": for each number of local rounds, the power of least
 *             total energy, so that a client sits out only if no power at all would do. */
#include "client_cost.h"
#include "osafl/resource.h"

#include <math.h>
#include <stdlib.h>

enum { POWER_MAX, POWER_FRACTION, POWER_SEARCH };

struct iterative_config {
    osafl_choice initial_power;
    double fraction;
};

static const char *const initial_powers[] = {"max", "fraction", "search", NULL};

static const osafl_param params[] = {
    OSAFL_CHOICE(struct iterative_config, initial_power, POWER_FRACTION, initial_powers,
                 "Power from which Algorithm 2 starts and, as a fixed point, at which it ends"),
    OSAFL_REAL(struct iterative_config, fraction, 0.1, 0.0, 1.0,
               "Share of the maximum power for initial_power = \"fraction\"",
               .flags = OSAFL_P_LO_OPEN),
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)facts;
    struct iterative_config *settings = malloc(sizeof *settings);
    if (settings == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *settings = *(const struct iterative_config *)config;
    *self = settings;
    return OSAFL_OK;
}

/* Algorithm 2, GetFP: clock and power for a number of local rounds, from an initial power.  Returns
 * 0, or the OSAFL_OUT_* that Lemma 1 or 2 runs into. */
static uint32_t clock_and_power(const struct client_cost *cost, uint32_t local_rounds,
                                double initial_power_w, struct operating_point *point)
{
    const double cycles = cost->round_cycles * local_rounds;
    const double upload_s = upload_time(cost, initial_power_w);
    if (!(upload_s < cost->deadline_s))
        return OSAFL_OUT_DEADLINE;
    const double clock_hz = cycles / (cost->deadline_s - upload_s); /* Lemma 1 */
    *point = operating_point(cost, local_rounds, clock_hz, initial_power_w);
    const uint32_t broken = broken_limit(cost, point);
    if (broken != 0)
        return broken;
    const double power_w = upload_power(cost, cost->deadline_s - cycles / clock_hz); /* Lemma 2 */
    /* Where the upload is a tiny part of the deadline, the difference above has lost digits: a
     * client at its maximum power must not be refused for them. */
    *point = operating_point(cost, local_rounds, clock_hz, fmin(power_w, initial_power_w));
    return broken_limit(cost, point);
}

/* The initial power for a number of local rounds.  Returns 0, or an OSAFL_OUT_*. */
static uint32_t initial_power(const struct iterative_config *settings,
                              const struct client_cost *cost, uint32_t local_rounds,
                              double *power_w)
{
    if (settings->initial_power.index != POWER_SEARCH) {
        const bool fraction = settings->initial_power.index == POWER_FRACTION;
        *power_w = fraction ? settings->fraction * cost->power_max_w : cost->power_max_w;
        return 0;
    }
    double shortest_s = 0.0;
    double longest_s = 0.0;
    const uint32_t broken = upload_window(cost, local_rounds, &shortest_s, &longest_s);
    if (broken != 0)
        return broken;
    const double upload_s = least_energy_upload(cost, local_rounds, shortest_s, longest_s);
    *power_w = upload_power(cost, upload_s);
    return 0;
}

/* Algorithm 1 for one client.  More local rounds ask for a faster clock and more energy, so the
 * first infeasible number ends the search. */
static void solve_client(const struct iterative_config *settings, const osafl_resource_problem *p,
                         uint32_t client, const osafl_resource_answer *out)
{
    const struct client_cost cost = client_cost(p, client);
    for (uint32_t k = 1; k <= p->max_local_rounds; k++) {
        struct operating_point point = {0};
        double power_w = 0.0;
        uint32_t broken = initial_power(settings, &cost, k, &power_w);
        if (broken == 0)
            broken = clock_and_power(&cost, k, power_w, &point);
        if (broken == 0) {
            take_part(out, client, &point);
        } else {
            if (k == 1)
                sit_out(out, client, broken);
            return;
        }
    }
}

static osafl_status solve(void *self, osafl_call *c, const osafl_resource_problem *p,
                          const osafl_resource_answer *out)
{
    (void)c;
    for (uint32_t u = 0; u < p->clients; u++) {
        if (p->present[u])
            solve_client(self, p, u, out);
        else
            sit_out(out, u, OSAFL_OUT_ABSENT);
    }
    return OSAFL_OK;
}

static const char *const features[] = {"meets_limits", NULL};

static const osafl_resource_vt vtable = {
    .life = {.struct_size = sizeof(osafl_resource_vt), .create = create, .destroy = free},
    .solve = solve,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_RESOURCE,
    .name = "iterative",
    .version = "1.0.0",
    .summary = "as many local rounds as deadline and energy allow, at a given initial power",
    .cite = "Pervej, Choi, Molisch: Online-Score-Aided Federated Learning, Algorithms 1 and 2",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct iterative_config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
