/* client_cost.c - time and energy of one client's round. */
#include "client_cost.h"

#include <assert.h>
#include <math.h>

#define LN_2 0.693147180559945309417

struct client_cost client_cost(const osafl_resource_problem *p, uint32_t client)
{
    assert(client < p->clients && p->payload_bits[client] > 0.0 && p->deadline_s > 0.0);
    const bool receives = OSAFL_HAS(p, osafl_resource_problem, receive_s) && p->receive_s != NULL;
    const double receive_s = receives ? p->receive_s[client] : 0.0;
    const double samples = (double)p->cost_steps * (double)p->batch;
    return (struct client_cost){
        .round_cycles = samples * p->cycles_per_bit[client] * p->sample_bits,
        .payload_bits = p->payload_bits[client],
        .bandwidth_hz = p->bandwidth_hz[client],
        .unit_snr_power_w = p->bandwidth_hz[client] * p->noise_w_per_hz / p->gain[client],
        .deadline_s = p->deadline_s - receive_s,
        .capacitance = p->capacitance,
        .energy_budget_j = p->energy_budget_j[client],
        .clock_max_hz = p->clock_max_hz[client],
        .power_max_w = p->power_max_w[client],
    };
}

double upload_time(const struct client_cost *c, double power_w)
{
    /* log1p and expm1 keep the digits of weak and of slow links. */
    const double rate_bps = c->bandwidth_hz * log1p(power_w / c->unit_snr_power_w) / LN_2;
    return c->payload_bits / rate_bps;
}

double upload_power(const struct client_cost *c, double upload_s)
{
    return c->unit_snr_power_w * expm1(LN_2 * c->payload_bits / (c->bandwidth_hz * upload_s));
}

struct operating_point operating_point(const struct client_cost *c, uint32_t local_rounds,
                                       double clock_hz, double power_w)
{
    const double cycles = c->round_cycles * local_rounds;
    const double upload_s = upload_time(c, power_w);
    return (struct operating_point){
        .local_rounds = local_rounds,
        .clock_hz = clock_hz,
        .power_w = power_w,
        .compute_s = cycles / clock_hz,
        .upload_s = upload_s,
        .compute_j = 0.5 * c->capacitance * cycles * clock_hz * clock_hz,
        .upload_j = upload_s * power_w,
    };
}

struct operating_point deadline_point(const struct client_cost *c, uint32_t local_rounds,
                                      double upload_s)
{
    assert(upload_s > 0.0 && upload_s <= c->deadline_s); /* equal where computing takes no time */
    const double clock_hz = c->round_cycles * local_rounds / (c->deadline_s - upload_s);
    /* At the window's ends the two are the maxima themselves, up to rounding. */
    return operating_point(c, local_rounds, fmin(clock_hz, c->clock_max_hz),
                           fmin(upload_power(c, upload_s), c->power_max_w));
}

static bool above(double value, double limit)
{
    return !(value <= limit * (1.0 + LIMIT_TOLERANCE));
}

uint32_t broken_limit(const struct client_cost *c, const struct operating_point *point)
{
    if (above(point->power_w, c->power_max_w))
        return OSAFL_OUT_POWER;
    if (above(point->clock_hz, c->clock_max_hz))
        return OSAFL_OUT_CLOCK;
    if (above(point->compute_s + point->upload_s, c->deadline_s))
        return OSAFL_OUT_DEADLINE;
    if (above(point->compute_j + point->upload_j, c->energy_budget_j))
        return OSAFL_OUT_ENERGY;
    return 0;
}

uint32_t upload_window(const struct client_cost *c, uint32_t local_rounds, double *shortest_s,
                       double *longest_s)
{
    *shortest_s = upload_time(c, c->power_max_w);
    if (!(*shortest_s < c->deadline_s))
        return OSAFL_OUT_DEADLINE;
    const double cycles = c->round_cycles * local_rounds;
    if (above(cycles / (c->deadline_s - *shortest_s), c->clock_max_hz))
        return OSAFL_OUT_CLOCK;
    *longest_s = fmax(c->deadline_s - cycles / c->clock_max_hz, *shortest_s);
    return 0;
}

double last_before(upload_predicate *beyond, const void *arg, double lo, double hi)
{
    if (!beyond(arg, hi))
        return hi;
    for (;;) {
        const double middle = lo + 0.5 * (hi - lo);
        if (!(middle > lo && middle < hi))
            return lo;
        if (beyond(arg, middle))
            hi = middle;
        else
            lo = middle;
    }
}

struct energy_slope {
    const struct client_cost *cost;
    double cycles;
};

/* Is the energy growing with the upload time t?  Its derivative
 *     rho C^3 / (t_th - t)^3 + (omega xi^2 / g) (e^x - 1 - x e^x),  x = Upsilon ln 2 / (omega t),
 * rises with t, since both energies are convex in t: computing less time costs more and more, and
 * so does uploading faster. */
static bool energy_rises(const void *arg, double upload_s)
{
    const struct energy_slope *s = arg;
    const struct client_cost *c = s->cost;
    const double x = LN_2 * c->payload_bits / (c->bandwidth_hz * upload_s);
    const double clock_hz = s->cycles / (c->deadline_s - upload_s);
    const double compute = c->capacitance * clock_hz * clock_hz * clock_hz;
    const double upload = c->unit_snr_power_w * (expm1(x) - x * exp(x));
    return compute + upload > 0.0;
}

double least_energy_upload(const struct client_cost *c, uint32_t local_rounds, double shortest_s,
                           double longest_s)
{
    const struct energy_slope slope = {.cost = c, .cycles = c->round_cycles * local_rounds};
    if (energy_rises(&slope, shortest_s))
        return shortest_s;
    return last_before(energy_rises, &slope, shortest_s, longest_s);
}

void sit_out(const osafl_resource_answer *out, uint32_t client, uint32_t reason)
{
    out->local_rounds[client] = 0;
    out->reason[client] = reason;
}

/* At the ends of a double's range an amount may overflow, or lose all its digits and its sign. */
static bool is_amount(double x)
{
    return x >= 0.0 && isfinite(x);
}

void take_part(const osafl_resource_answer *out, uint32_t client,
               const struct operating_point *point)
{
    if (!is_amount(point->clock_hz) || !is_amount(point->power_w) || !is_amount(point->compute_s) ||
        !is_amount(point->upload_s)) {
        sit_out(out, client, OSAFL_OUT_DEADLINE);
        return;
    }
    if (!is_amount(point->compute_j) || !is_amount(point->upload_j)) {
        sit_out(out, client, OSAFL_OUT_ENERGY);
        return;
    }
    out->local_rounds[client] = point->local_rounds;
    out->reason[client] = 0;
    out->clock_hz[client] = point->clock_hz;
    out->power_w[client] = point->power_w;
    out->compute_s[client] = point->compute_s;
    out->upload_s[client] = point->upload_s;
    out->compute_j[client] = point->compute_j;
    out->upload_j[client] = point->upload_j;
}
