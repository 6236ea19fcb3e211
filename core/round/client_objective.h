/* client_objective.h - f_u: what a client's store says of given parameters, all of it at once.
 *
 * f_u(w) is the mean loss over the store, dropout off, and weight_decay/2 |w|^2; sums run in
 * double, in the order of the store.  For measurements beside a run: nothing that is drawn or kept.
 */
#ifndef OSAFL_CORE_CLIENT_OBJECTIVE_H
#define OSAFL_CORE_CLIENT_OBJECTIVE_H

#include "session.h"
#include "worker.h"
#include "world/world.h"

struct client_objective {
    const struct session *session;
    struct worker *worker; /* whose message says what failed */
    struct store_samples store;
    uint32_t client;
    uint32_t round;
    double weight_decay;
};

/* f_u(w), and with gradient != NULL its gradient. */
osafl_status objective_value(const struct client_objective *o, const float *w, double *value,
                             float *gradient);

/* The mean of |grad of one sample - gradient|^2 over the store. */
osafl_status objective_variance(const struct client_objective *o, const float *w,
                                const float *gradient, double *variance);

/* A beta with which the objective of the model `logistic` is smooth: half the largest eigenvalue of
 * the mean of x x', x with a 1 for the bias behind it (the Hessian of softmax is at most I/2). */
osafl_status objective_linear_smoothness(const struct client_objective *o, double *beta);

#endif
