/* theory_constants.h - of which runs the convergence bound says something, and what it needs to
 * know of their plugins: whether clients take plain SGD steps, the weight decay, the quantizer's q,
 * and whether the model is one whose smoothness follows from its samples. */
#ifndef OSAFL_CORE_THEORY_CONSTANTS_H
#define OSAFL_CORE_THEORY_CONSTANTS_H

#include "session.h"

struct theory_constants {
    double weight_decay;
    double q;       /* NAN: the quantizer is biased, or its q is unknown */
    bool is_linear; /* one layer and a softmax: objective_linear_smoothness() */
};

/* OSAFL_E_CONFIG: the theorem does not speak of this run, and why. */
osafl_status theory_constants_find(const struct session *s, struct theory_constants *out,
                                   struct error *error);

#endif
