/* client_cost.h - time and energy of one client's round (ALGORITHMS.md 2), shared by the resource
 * policies.
 *
 * Local rounds k, clock f and power p cost k C_1 / f seconds and rho/2 k C_1 f^2 joules of
 * computing, and Upsilon / R(p) seconds at p watts of upload.  For a deadline that is met exactly,
 * one number determines the rest: an upload time t leaves t_th - t for computing.  Policies
 * therefore search over the upload time. */
#ifndef OSAFL_RESOURCE_CLIENT_COST_H
#define OSAFL_RESOURCE_CLIENT_COST_H

#include "osafl/resource.h"

/* Limits are compared with this relative tolerance: Lemma 2 returns the power that Lemma 1 started
 * from, but only up to rounding. */
#define LIMIT_TOLERANCE 1e-9

/* One client of a problem. */
struct client_cost {
    double round_cycles;     /* C_1 = n nbar c_u s_u, of one local round */
    double payload_bits;     /* Upsilon */
    double bandwidth_hz;     /* omega */
    double unit_snr_power_w; /* omega xi^2 / g: the power that is received as strong as the noise */
    double deadline_s;       /* t_th, less the time of receiving; may be negative */
    double capacitance;      /* rho */
    double energy_budget_j;
    double clock_max_hz;
    double power_max_w;
};

/* What a client does in a round, and what that costs. */
struct operating_point {
    uint32_t local_rounds;
    double clock_hz;
    double power_w;
    double compute_s;
    double upload_s;
    double compute_j;
    double upload_j;
};

struct client_cost client_cost(const osafl_resource_problem *p, uint32_t client);

/* Upsilon / R(p), in s; infinite at power or gain 0. */
double upload_time(const struct client_cost *c, double power_w);

/* The power at which the upload takes upload_s > 0 (Lemma 2, with the time left by the clock). */
double upload_power(const struct client_cost *c, double upload_s);

/* The point at a given clock and power, whatever the limits. */
struct operating_point operating_point(const struct client_cost *c, uint32_t local_rounds,
                                       double clock_hz, double power_w);

/* The point that meets the deadline exactly with an upload of upload_s in (0, t_th]. */
struct operating_point deadline_point(const struct client_cost *c, uint32_t local_rounds,
                                      double upload_s);

/* 0 if the point keeps all limits, else the OSAFL_OUT_* of the first that it breaks. */
uint32_t broken_limit(const struct client_cost *c, const struct operating_point *point);

/* Upload times that power and clock allow: from the upload at p_max to the deadline less the
 * computing at f_max.  Returns 0, or the OSAFL_OUT_* for which there is none. */
uint32_t upload_window(const struct client_cost *c, uint32_t local_rounds, double *shortest_s,
                       double *longest_s);

/* The upload time in [shortest_s, longest_s] at which deadline_point() spends the least energy. */
double least_energy_upload(const struct client_cost *c, uint32_t local_rounds, double shortest_s,
                           double longest_s);

/* Where `beyond`, false at lo and true from some point on, becomes true in [lo, hi]: the last
 * double at which it is false (hi if it never is true). */
typedef bool upload_predicate(const void *arg, double upload_s);
double last_before(upload_predicate *beyond, const void *arg, double lo, double hi);

/* Writes the answer of one client, who sits out where a time or an energy is beyond all numbers. */
void take_part(const osafl_resource_answer *out, uint32_t client,
               const struct operating_point *point);
void sit_out(const osafl_resource_answer *out, uint32_t client, uint32_t reason);

#endif
