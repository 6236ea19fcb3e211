/* osafl/resource.h - given gain, payload, deadline and energy: may the client take part, with how
 * many local rounds, which clock and which power?
 *
 * A policy sees the whole round at once, so that client selection and shared bandwidth are
 * policies too. */
#ifndef OSAFL_RESOURCE_H
#define OSAFL_RESOURCE_H

#include "history.h"
#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a client sits out. */
enum {
    OSAFL_OUT_ABSENT = 1, /* the host did not offer the client in this round */
    OSAFL_OUT_DEADLINE,   /* the upload alone takes longer than the deadline leaves */
    OSAFL_OUT_CLOCK,      /* the clock that the deadline asks for is above its maximum */
    OSAFL_OUT_POWER,      /* the power that the deadline asks for is above its maximum */
    OSAFL_OUT_ENERGY,     /* no choice stays within the energy budget */
    OSAFL_OUT_POLICY,     /* the policy left the client out for a reason of its own */
};

/* Arrays have one element per client. */
typedef struct osafl_resource_problem {
    uint32_t struct_size;
    uint32_t clients; /* U */
    uint32_t round;
    uint32_t max_local_rounds;  /* kappa */
    uint32_t cost_steps;        /* n: SGD steps of one local round in the cost model */
    uint32_t batch;             /* n-bar, samples of a mini-batch */
    double deadline_s;          /* t_th */
    const double *payload_bits; /* Upsilon_u: all vectors of the client's update */
    double noise_w_per_hz;      /* xi^2 */
    double capacitance;     /* rho, effective capacitance; computing energy is rho/2 * C * f^2 */
    double sample_bits;     /* s_u, of one training sample in the cost model */
    const uint8_t *present; /* 1: may take part; 0: stays out with OSAFL_OUT_ABSENT */
    const double *gain;     /* linear */
    const double *bandwidth_hz;
    const double *cycles_per_bit; /* c_u */
    const double *energy_budget_j;
    const double *clock_max_hz;
    const double *power_max_w;
    const uint64_t *samples; /* present size of the client's store */
    const osafl_history *history;
    /* What each client needs to receive the model: this much of the deadline is gone before it
     * computes.  What receiving takes of its energy is left out of energy_budget_j.  NULL: none. */
    const double *receive_s;
} osafl_resource_problem;

/* The answer; arrays belong to the host, one element per client, filled with 0 except
 * bandwidth_hz, which holds the problem's.  For a client that sits out local_rounds is 0 and reason
 * says why; for one that takes part local_rounds is in 1 .. max_local_rounds and reason is 0. */
typedef struct osafl_resource_answer {
    uint32_t struct_size;
    uint32_t clients;
    uint32_t *local_rounds; /* kappa_u */
    uint32_t *reason;       /* OSAFL_OUT_*, or 0 */
    double *clock_hz;       /* f */
    double *power_w;        /* p */
    double *bandwidth_hz;
    double *compute_s;
    double *upload_s;
    double *compute_j;
    double *upload_j;
} osafl_resource_answer;

/* Feature "meets_limits": every answer keeps deadline (receive_s included), clock, power and energy
 * (a relative tolerance of 1e-9 allowed). */
typedef struct osafl_resource_vt {
    osafl_lifecycle life;
    /* REQUIRED.  Once a round, ascending; after a resume from the next round on, so what an
     * instance keeps between rounds belongs in save().  [coord] */
    osafl_status (*solve)(void *self, osafl_call *c, const osafl_resource_problem *p,
                          const osafl_resource_answer *out);
} osafl_resource_vt;

#ifdef __cplusplus
}
#endif
#endif
