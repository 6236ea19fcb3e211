/* engine.h - the round loop: channel, resource policy, local training, aggregation,
 * evaluation, arrivals, in this order.  ALGORITHMS.md 1 to 3, 6 and 7.
 *
 * The engine knows no algorithm, no file and no terminal.  It turns the state after t rounds into
 * the state after t + 1 and reports what happened. */
#ifndef OSAFL_CORE_ENGINE_H
#define OSAFL_CORE_ENGINE_H

#include "base/error.h"
#include "base/records.h"
#include "results/results.h"
#include "session.h"
#include "world/world.h"

struct engine;

/* Of the work of the round in hand.  One thread at a time. */
typedef void engine_progress(void *arg, uint32_t round, uint64_t done, uint64_t all);

/* What happened in a round.  Everything pointed to is the engine's, valid until the next round. */
struct round_report {
    struct round_row row;
    struct client_rows clients;
    struct timing_row timing; /* total_s: of this round so far */
};

/* Session with a pool, and world, outlive the engine.  The model is initialised.  NULL in *out and
 * error set on failure. */
osafl_status engine_create(struct session *s, struct world *world, struct engine **out,
                           struct error *error);
void engine_destroy(struct engine *e); /* NULL is allowed */

/* Rounds done so far, t. */
uint32_t engine_round(const struct engine *e);
/* w^t, the parameters of the global model. */
const float *engine_model(const struct engine *e);

/* Measures of a row: the model's, then, with evaluation.per_class, the first measure for every
 * label.  Names are the engine's. */
const char *const *engine_measures(const struct engine *e, uint32_t *n);

/* Of w on the evaluation split (confusion.h); free with confusion_free(). */
struct confusion;
osafl_status engine_confusion(struct engine *e, const float *w, struct confusion *out,
                              struct error *error);

/* Runs round t.  After a failure or OSAFL_E_CANCELLED the engine may only be destroyed; the state
 * to go on from is the one that was saved. */
osafl_status engine_run_round(struct engine *e, engine_progress *progress, void *arg,
                              struct round_report *report, struct error *error);

/* The whole state after t rounds but the results': the model, clients' vectors, kept updates, the
 * world, and every plugin that has state.  engine_load() goes into a fresh engine of the same
 * experiment and checks all that it reads; after a failure engine and world may only be
 * destroyed. */
osafl_status engine_save(const struct engine *e, struct record_writer *to, struct error *error);
osafl_status engine_load(struct engine *e, const struct record_set *from, struct error *error);

/* Brings what clients keep on other ranks to the first, before it saves; all ranks call it. */
osafl_status engine_collect(struct engine *e, struct error *error);

/* SGD steps of a round in which everybody who has a sample takes part with the most local rounds.
 * stored: [clients]. */
uint64_t engine_steps_per_round(const struct session *s, const uint64_t *stored);

/* SGD steps of a client's local rounds on a store. */
uint64_t engine_client_steps(const struct session *s, uint64_t local_rounds, uint64_t stored);
/* An estimate: bytes that a run with so many threads takes beyond its data set and the plugins' own
 * memory. */
uint64_t engine_bytes(const struct session *s, const struct world *world, unsigned threads);
/* What a round takes for each client that trains, beside the code of its update.  kept: codes stay
 * until they are aggregated. */
uint64_t engine_trainee_bytes(const struct session *s, bool kept);
/* The most that making a checkpoint takes beside them, where its tables do not deflate. */
uint64_t engine_checkpoint_bytes(const struct session *s, const struct world *world);

#endif
