/* theory.h - measures both sides of the convergence bound while a run goes on (theory_bound.h).
 *
 * An observer: it draws with other seeds than the run, changes no state of it, and writes
 * FOLDER/theory.csv, a row for each round.  After aggregate() and before arrivals it has w^t,
 * w^{t+1}, the stores D^t and what the aggregator reports as `score` and `step_control`.  The
 * expectation over w^{t+1} is a mean over replicas of the round, with scores and step held as they
 * are, which is what the theorem does; and once more with those that the aggregator gives the
 * replica's own updates (theory_server.h), which is what the algorithm does.
 *
 * The theorem's d_u is the mean gradient over the SGD steps of a client times eta_lo; eta_gl is the
 * one with which the server's step follows from them, and a server that takes another step than
 *     w - eta_gl eta_ef sum alpha_u delta_u Q(d_u)
 * is refused. */
#ifndef OSAFL_CORE_THEORY_H
#define OSAFL_CORE_THEORY_H

#include "engine.h"

struct theory;

enum { THEORY_REPLICAS = 32, THEORY_MOST_PARAMETERS = 100000 };

struct theory_options {
    uint32_t replicas; /* >= 1 */
    double smoothness; /* beta; NAN: that of the model `logistic`, of others unknown */
};

/* For an engine that has done no round; results: of the run.  OSAFL_E_CONFIG: the run is none that
 * the theorem speaks of, or is too large.  Belongs to the engine then, which measures from now on
 * and frees it. */
osafl_status theory_create(struct engine *e, const struct results *results, const char *folder,
                           const struct theory_options *o, struct error *error);

/* What the rounds so far showed, in a sentence. */
void theory_describe(const struct engine *e, char *out, size_t size);

/* ---- for the engine, in this order in each round ---- */

/* Before aggregate(): keeps w^t and the aggregator's state. */
osafl_status theory_keep(struct theory *t, const struct engine *e, struct error *error);
osafl_status theory_measure(struct theory *t, struct engine *e, struct error *error);
/* After world_advance(): the drift of the data, and the row. */
osafl_status theory_end_round(struct theory *t, struct engine *e, struct error *error);
void theory_destroy(struct theory *t); /* NULL is allowed */

#endif
