/* train.h - the one pure step of a round: train_client(task) -> result.
 *
 * Nothing else is shared and mutable between clients.  A task may run on any thread, in any order,
 * and gives the same bytes: its randomness is named by seed, client and round, and the only memory
 * that outlives it is the client's own state.  ALGORITHMS.md 3. */
#ifndef OSAFL_CORE_TRAIN_H
#define OSAFL_CORE_TRAIN_H

#include "session.h"
#include "worker.h"
#include "world/world.h"

/* What a client keeps over rounds: the optimizer's floats, then the quantizer's of every slot. */
struct client_state {
    float *floats; /* [client_state_floats()]; NULL until the client has trained */
};

struct train_task {
    uint32_t client;
    uint32_t round;
    uint32_t local_rounds;      /* kappa_u >= 1 */
    uint64_t minibatches;       /* SGD steps of a local round; 0: one pass over the store */
    struct store_samples store; /* D_u^t, at least one sample */
    const float *w;             /* w^t */
    const float *broadcast;     /* [optimizer.broadcast_floats] */
    double gain;                /* of the client's link: osafl_packet */
    double most_bits_per_s;
    bool lost; /* the uplink loses the update: nobody's state changes, as if it had been known */
    bool measure_error; /* result->code_error is wanted */
    struct client_state *state;
};

enum train_outcome {
    TRAIN_ARRIVED = 1,
    TRAIN_LOST,     /* trained and sent but lost */
    TRAIN_DIVERGED, /* the update is not finite, and was not sent */
};

struct train_result {
    enum train_outcome outcome;
    uint32_t steps; /* SGD steps */
    double rate;
    double train_loss; /* mean over the steps; NAN after a divergence */
    double air_bits;   /* of all vectors; NAN where none was coded */
    double norm;       /* of the update as received; NAN unless TRAIN_ARRIVED and selection.uses */
    double code_error; /* |Q(d) - d|^2 / |d|^2 of the update, if the task wants it; NAN: d is 0 */
    struct code *code; /* [slots]; NULL unless TRAIN_ARRIVED after training */
    char *why;         /* TRAIN_DIVERGED, or a failure: why; may be NULL for lack of memory */
};

/* Trains one client and encodes its update.  A value that is not finite, and OSAFL_E_NUMERIC from
 * a plugin, end as TRAIN_DIVERGED with OSAFL_OK; any other failure is the status, with
 * result->why set.  With training.enabled = false nothing is computed, and an outcome comes
 * without a code.  OSAFL_E_CANCELLED when the run is asked to stop.  w belongs to the caller's
 * thread.  [worker] */
osafl_status train_client(const struct session *s, const struct train_task *task, struct worker *w,
                          struct train_result *result);
/* The client's own model into w->w: the optimizer's personal(), which it must have.  Of the task,
 * numbers, store, w, broadcast and state count; the state exists.  [worker] */
osafl_status train_personal_model(const struct session *s, const struct train_task *task,
                                  struct worker *w);
void train_result_free(const struct session *s, struct train_result *result);
void train_result_drop_codes(const struct session *s, struct train_result *result);

/* Floats of a client, and making and freeing them.  client_state_create() gives zeros; false: out
 * of memory. */
uint64_t client_state_floats(const struct session *s);
bool client_state_create(const struct session *s, struct client_state *state);
void client_state_free(struct client_state *state);

#endif
