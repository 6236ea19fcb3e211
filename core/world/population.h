/* population.h - what is drawn once per client: activity, sizes and limits.  ALGORITHMS.md 1, 2. */
#ifndef OSAFL_CORE_POPULATION_H
#define OSAFL_CORE_POPULATION_H

#include "base/error.h"
#include "experiment/experiment.h"

/* Arrays have `clients` elements. */
struct population {
    uint32_t clients;              /* U */
    uint64_t total_capacity;       /* sum of D_u */
    const double *activity;        /* p_u */
    const uint64_t *capacity;      /* D_u = ceil(storage * p_u): most samples of the store */
    const uint32_t *arrivals;      /* E_u = ceil(arrivals * p_u) <= D_u, or 0 */
    const double *cycles_per_bit;  /* c_u */
    const double *energy_budget_j; /* e_bd */
    const double *clock_max_hz;
    const double *power_max_w; /* drawn uniformly in dBm */
    void *memory;              /* all arrays */
};

/* Draws the population.  has_arrivals: false where the arrival does not use E_u, which is then 0.
 * OSAFL_E_CONFIG for sizes that do not fit together.  error: error.h */
osafl_status population_draw(uint64_t seed, const struct client_settings *s, bool has_arrivals,
                             struct population *out, struct error *error);
void population_free(struct population *p); /* a zeroed struct is allowed */

/* ceil(n * share) as meant in decimal: 40 * 0.55 is 22, though its double is a little above. */
uint64_t population_ceil(int64_t n, double share);

#endif
