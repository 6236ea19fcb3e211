/* accountant.h - the privacy that releases of a Gaussian mechanism cost: Renyi differential
 * privacy (RDP) at whole orders.
 *
 *   - a release with noise multiplier z has RDP alpha / (2 z^2): Mironov, CSF 2017
 *     (arXiv:1702.07476), proposition 7;
 *   - with Poisson sampling at rate q it has log(A_alpha) / (alpha - 1): Mironov, Talwar and Zhang
 *     2019 (arXiv:1908.10530), section 3.3;
 *   - RDP adds up over releases, and becomes (epsilon, delta) by Canonne, Kamath and Steinke,
 *     NeurIPS 2020 (arXiv:2004.00010), proposition 12. */
#ifndef OSAFL_FILTER_ACCOUNTANT_H
#define OSAFL_FILTER_ACCOUNTANT_H

#include <math.h>
#include <stdint.h>

/* Orders 2 .. ACCOUNTANT_MOST. */
#define ACCOUNTANT_MOST 256

/* RDP of one release at a whole order alpha >= 2; z > 0, 0 < q <= 1.
 *
 * A_alpha = sum over k of binomial(alpha, k) (1-q)^(alpha-k) q^k exp((k^2 - k) / (2 z^2)), summed
 * in logarithms. */
static inline double accountant_rdp(uint32_t alpha, double z, double q)
{
    if (q >= 1.0)
        return alpha / (2.0 * z * z);
    double sum = -HUGE_VAL;
    for (uint32_t k = 0; k <= alpha; k++) {
        const double term = lgamma(alpha + 1.0) - lgamma(k + 1.0) - lgamma(alpha - k + 1.0) +
                            (alpha - k) * log1p(-q) + (k > 0 ? k * log(q) : 0.0) +
                            ((double)k * k - k) / (2.0 * z * z);
        const double larger = fmax(sum, term);
        sum = larger + log1p(exp(fmin(sum, term) - larger));
    }
    return sum / (alpha - 1.0);
}

/* The least epsilon over the orders for delta in (0, 1), after so many releases. */
static inline double accountant_epsilon(double z, double q, uint64_t releases, double delta)
{
    double least = HUGE_VAL;
    if (releases == 0)
        return 0.0;
    for (uint32_t alpha = 2; alpha <= ACCOUNTANT_MOST; alpha++) {
        const double epsilon = (double)releases * accountant_rdp(alpha, z, q) +
                               log1p(-1.0 / alpha) - log(delta * alpha) / (alpha - 1.0);
        least = fmin(least, epsilon);
    }
    return fmax(least, 0.0);
}

#endif
