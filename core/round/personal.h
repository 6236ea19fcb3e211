/* personal.h - how good is each client's own model?  The model of an optimizer with personal models
 * (osafl/optimizer.h), on those samples of the evaluation split whose labels the client holds.
 *
 * Clients are judged in parallel, each by one thread, in the order of the samples. */
#ifndef OSAFL_CORE_PERSONAL_H
#define OSAFL_CORE_PERSONAL_H

#include "evaluate.h"
#include "results/results.h"
#include "train.h"

struct personal_evaluation {
    const struct session *session;
    struct worker *const *workers;
    const struct world *world;
    const struct evaluation *global; /* of the same round: labels of the samples */
    uint32_t round;
    const float *w;               /* the global model */
    const float *broadcast;       /* as of struct train_task */
    struct client_state *state;   /* [clients] */
    struct client_state newcomer; /* of those that have none: zeros */
    double *measure;              /* [clients]: measures[0], weighted by the labels of each store */
};

/* NAN for a client that holds nothing, or a label without a sample.  [coord] */
osafl_status personal_evaluate(struct personal_evaluation *p, struct error *error);

/* How a measure is spread over the clients that have one, each with the same weight: mean, standard
 * deviation, mean of the worst tenth (rounded up), and Jain's index (sum x)^2 / (n sum x^2), which
 * is 1 where all are the same. NAN without any.  sorted: [n], overwritten. */
void measure_spread(const double *measure, uint32_t n, bool higher_is_better, double *sorted,
                    double out[SPREADS]);

#endif
