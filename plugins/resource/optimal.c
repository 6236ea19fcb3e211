/* optimal.c - the most local rounds that any power allows, then the best power for them.
 *
 * For given local rounds k and power p the slowest clock that keeps the deadline is the best one
 * (the objective falls with f, Lemma 1), so one variable is left.  This file uses the upload time
 * t = Upsilon / R(p) instead of p; a longer t means less power and a faster clock.
 *
 * Feasible upload times form one interval: power and clock bound t from below and from above, and
 * the energy is convex in t, so what the budget allows is an interval as well, around the time of
 * least energy.  If that time breaks the budget, no power keeps it.  More local rounds need more
 * energy at every t and narrow the interval, so the first feasible k counted down from the maximum
 * is the largest.
 *
 * Among its powers, objective = "energy" takes the one of least energy, "printed" the maximiser of
 * the paper's objective, best_upload() below.  The printed objective is not used to choose k: its
 * first term falls as k grows, so that it would always choose k = 1 (ALGORITHMS.md 2). */
#include "client_cost.h"
#include "osafl/resource.h"

#include <math.h>
#include <stdlib.h>

#define LN_2 0.693147180559945309417

enum { OBJECTIVE_PRINTED, OBJECTIVE_ENERGY };

struct optimal_config {
    osafl_choice objective;
    double compute_weight;
};

static const char *const objectives[] = {"printed", "energy", NULL};

static const osafl_param params[] = {
    OSAFL_CHOICE(struct optimal_config, objective, OBJECTIVE_PRINTED, objectives,
                 "What the power optimises: the paper's objective as printed, or least energy"),
    OSAFL_REAL(struct optimal_config, compute_weight, 0.5, 0.0, 1.0,
               "Weight of local rounds per joule against bits per joule in the printed objective"),
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)facts;
    struct optimal_config *settings = malloc(sizeof *settings);
    if (settings == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *settings = *(const struct optimal_config *)config;
    *self = settings;
    return OSAFL_OK;
}

static double energy(const struct operating_point *point)
{
    return point->compute_j + point->upload_j;
}

struct client_round {
    const struct client_cost *cost;
    uint32_t local_rounds;
};

static bool within_budget(const void *arg, double upload_s)
{
    const struct client_round *r = arg;
    const struct operating_point point = deadline_point(r->cost, r->local_rounds, upload_s);
    return energy(&point) <= r->cost->energy_budget_j;
}

static bool over_budget(const void *arg, double upload_s)
{
    return !within_budget(arg, upload_s);
}

/* eps k / (rho/2 C_1 f^2) + (1 - eps) R(p) / p, the paper's objective. */
static double printed_objective(const struct client_round *r, double compute_weight,
                                double upload_s)
{
    const struct client_cost *c = r->cost;
    const struct operating_point point = deadline_point(c, r->local_rounds, upload_s);
    const double round_j = 0.5 * c->capacitance * c->round_cycles * point.clock_hz * point.clock_hz;
    return compute_weight * r->local_rounds / round_j +
           (1.0 - compute_weight) * c->payload_bits / upload_s / point.power_w;
}

/* The printed objective in x = a / t, a = Upsilon ln 2 / omega:
 *     h = K (t_th - t)^2 + B x / (e^x - 1),
 * and with chi(x) = x^3 ((x - 1) e^x + 1) / (e^x - 1)^2 and x0 = a / t_th,
 *     dh/dt > 0   exactly where   q(x) = chi(x) / (x - x0) > 2 K t_th a / B.
 * q falls from infinity at x0 to 0, except between the two solutions of m(x) = x0, where it rises:
 * m(x) = x (1 - 1/e(x)), e = x chi' / chi, has one maximum, at HUMP, and is 0 again at HUMP_END.
 * Hence h has at most one inner maximum over t, where q crosses that level while rising; every
 * other candidate is an end of the interval. */
#define HUMP 2.0646
#define HUMP_END 3.0861

struct slope {
    double x0;
    double level; /* 2 K t_th a / B */
};

static double hump(double x)
{
    const double elasticity = 3.0 + x * x / (x + expm1(-x)) + 2.0 * x / expm1(-x);
    return x * (1.0 - 1.0 / elasticity);
}

static bool hump_reached(const void *arg, double x)
{
    return hump(x) >= ((const struct slope *)arg)->x0;
}

static bool hump_left(const void *arg, double x)
{
    return hump(x) <= ((const struct slope *)arg)->x0;
}

static bool objective_rises(const void *arg, double x)
{
    const struct slope *s = arg;
    const double chi = x * x * x * ((x - 1.0) * exp(x) + 1.0) / (expm1(x) * expm1(x));
    return chi > s->level * (x - s->x0);
}

/* The upload time of the inner maximum of the printed objective; 0 if there is none. */
static double inner_maximum(const struct client_round *r, double compute_weight)
{
    const struct client_cost *c = r->cost;
    const double a = LN_2 * c->payload_bits / c->bandwidth_hz;
    const double cycles = c->round_cycles * r->local_rounds;
    const double k_term = compute_weight * r->local_rounds /
                          (0.5 * c->capacitance * c->round_cycles * cycles * cycles);
    const double b_term = (1.0 - compute_weight) * c->bandwidth_hz / (LN_2 * c->unit_snr_power_w);
    const struct slope s = {.x0 = a / c->deadline_s,
                            .level = 2.0 * k_term * c->deadline_s * a / b_term};
    if (!(s.x0 < hump(HUMP)))
        return 0.0;
    const double rise_begin = last_before(hump_reached, &s, s.x0, HUMP);
    const double rise_end = last_before(hump_left, &s, HUMP, HUMP_END);
    if (objective_rises(&s, rise_begin) || !objective_rises(&s, rise_end))
        return 0.0;
    return a / last_before(objective_rises, &s, rise_begin, rise_end);
}

/* The maximiser of the printed objective among the upload times [shortest_s, longest_s]; the
 * longest, which is the least power, where several are equal. */
static double best_upload(const struct client_round *r, double compute_weight, double shortest_s,
                          double longest_s)
{
    const double candidates[] = {longest_s, inner_maximum(r, compute_weight), shortest_s};
    double best_s = longest_s;
    double best = -INFINITY;
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        if (candidates[i] < shortest_s || candidates[i] > longest_s)
            continue;
        const double value = printed_objective(r, compute_weight, candidates[i]);
        if (value > best) {
            best = value;
            best_s = candidates[i];
        }
    }
    return best_s;
}

/* The answer for a number of local rounds.  Returns 0, or the OSAFL_OUT_* why there is none. */
static uint32_t best_point(const struct optimal_config *settings, const struct client_round *r,
                           struct operating_point *point)
{
    double shortest_s = 0.0;
    double longest_s = 0.0;
    const uint32_t broken = upload_window(r->cost, r->local_rounds, &shortest_s, &longest_s);
    if (broken != 0)
        return broken;
    const double least_s = least_energy_upload(r->cost, r->local_rounds, shortest_s, longest_s);
    *point = deadline_point(r->cost, r->local_rounds, least_s);
    if (!within_budget(r, least_s))
        return broken_limit(r->cost, point);
    if (settings->objective.index == OBJECTIVE_ENERGY)
        return 0;
    if (!within_budget(r, shortest_s))
        shortest_s = nextafter(last_before(within_budget, r, shortest_s, least_s), INFINITY);
    longest_s = last_before(over_budget, r, least_s, longest_s);
    const double best_s = best_upload(r, settings->compute_weight, shortest_s, longest_s);
    *point = deadline_point(r->cost, r->local_rounds, best_s);
    return 0;
}

static osafl_status solve(void *self, osafl_call *c, const osafl_resource_problem *p,
                          const osafl_resource_answer *out)
{
    (void)c;
    for (uint32_t u = 0; u < p->clients; u++) {
        if (!p->present[u]) {
            sit_out(out, u, OSAFL_OUT_ABSENT);
            continue;
        }
        const struct client_cost cost = client_cost(p, u);
        struct client_round r = {.cost = &cost, .local_rounds = p->max_local_rounds};
        struct operating_point point = {0};
        uint32_t broken = best_point(self, &r, &point);
        while (broken != 0 && --r.local_rounds > 0)
            broken = best_point(self, &r, &point);
        if (broken == 0)
            take_part(out, u, &point);
        else
            sit_out(out, u, broken);
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
    .name = "optimal",
    .version = "1.0.0",
    .summary = "the most local rounds that any power allows, then the best power for them",
    .cite = "exact solution of the resource problem in Pervej, Choi, Molisch: Online-Score-Aided "
            "Federated Learning",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct optimal_config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
