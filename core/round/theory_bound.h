/* theory_bound.h - the convergence bound of one round, computed from its parts (ALGORITHMS.md 9).
 *
 * One round cancels the drift Phi: f^{t+1} stands on both sides.  What is compared is
 *
 *     eta_ef |grad f^t(w^t)|^2 <= 2 (f^t(w^t) - E f^t(w^{t+1})) / (eta_gl eta_lo)
 *                                 + Omega_sigma + Omega_varpi
 *
 * as the lemma has it, as it is printed (the last term of Omega_sigma lacks eta_gl), and repaired:
 * f^t = sum alpha delta f_u is (beta sum alpha delta)-smooth, and the factor T6 stays on the left.
 */
#ifndef OSAFL_CORE_THEORY_BOUND_H
#define OSAFL_CORE_THEORY_BOUND_H

#include <stdbool.h>
#include <stddef.h>

struct theory_client {
    double alpha;
    double delta; /* score */
    double v;     /* probability with which its update arrives */
    double kappa; /* SGD steps */
};

/* NAN where something is not known; what needs it is NAN then. */
struct theory_facts {
    const struct theory_client *client; /* [n] */
    size_t n;
    double eta_lo;
    double eta_gl; /* of the mean gradient over the SGD steps of a client */
    double eta_ef;
    double beta; /* every f_u is beta-smooth */
    double q;
    double sigma2;
    double varpi2;
    double gradient2; /* |grad f^t(w^t)|^2 */
    double value;     /* f^t(w^t) */
    double expected;  /* E f^t(w^{t+1}) */
};

struct theory_bound {
    double sum_score; /* sum alpha delta */
    double kappa;     /* the largest */
    double lhs;
    double descent;
    double omega_sigma;
    double omega_sigma_printed;
    double omega_varpi;
    double rhs;
    double rhs_printed;
    double step_small;   /* eta_gl eta_lo < 1 / (beta eta_ef); as the next ones 0 or 1 */
    double rate_small;   /* eta_lo < 1 / (8 beta kappa) */
    double slack;        /* 4 - 16 S1 - 33 kappa S2 */
    double scores_small; /* slack > 0, and eta_lo below the root with it */
    double t6;
    double repaired_applies; /* eta_gl eta_lo eta_ef beta_f <= 1, rate_small and t6_repaired > 0 */
    double t6_repaired;
    double rhs_repaired; /* to compare with t6_repaired * lhs */
};

struct theory_bound theory_bound(const struct theory_facts *f);

/* Whether all conditions of the theorem as printed are true. */
bool theory_conditions_hold(const struct theory_bound *b);

#endif
