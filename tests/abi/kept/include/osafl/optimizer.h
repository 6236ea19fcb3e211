/* osafl/optimizer.h - how does a client step from its gradient? */
#ifndef OSAFL_OPTIMIZER_H
#define OSAFL_OPTIMIZER_H

#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osafl_optimizer_info {
    uint32_t struct_size;
    /* 1: step() is w <- w - rate * grad and nothing else, so the host may use a model's fused
     * step. */
    uint32_t is_plain;
    uint64_t client_floats;    /* floats kept for every client, zero at first */
    uint64_t round_floats;     /* floats that are zeroed at the start of each client's round */
    uint64_t broadcast_floats; /* further floats that it needs from the aggregator, besides w */
    uint32_t uplink_vectors;   /* further vectors that finish() makes, besides the model update */
    uint32_t reserved;
} osafl_optimizer_info;

/* One client's local training in one round.  Everything is the host's; vectors are 64-byte
 * aligned and have dim floats. */
typedef struct osafl_local {
    uint32_t struct_size;
    uint32_t client;
    uint32_t round;
    uint32_t step;          /* the step in hand, from 0; in finish() and received(): steps done */
    uint64_t dim;           /* N */
    double rate;            /* rate(round) of the present round */
    const float *w_start;   /* w^t */
    const float *broadcast; /* [broadcast_floats], from the aggregator */
    float *client_state;    /* [client_floats]; written only by received() */
    float *round_state;     /* [round_floats] */
    float *const *uplink;   /* [uplink_vectors][dim]; filled by finish() */
    void *priv;
    /* Mean gradient at w over the client's whole store, dropout off. */
    osafl_status (*store_gradient)(const struct osafl_local *l, osafl_call *c, const float *w,
                                   float *grad);
} osafl_local;

/* Feature "plain": is_plain for every setting. */
typedef struct osafl_optimizer_vt {
    osafl_lifecycle life;
    /* REQUIRED.  The same answer every time.  [any] */
    osafl_status (*describe)(void *self, osafl_call *c, osafl_optimizer_info *out);
    /* REQUIRED.  Learning rate of a round, > 0 and finite.  [any] */
    osafl_status (*rate)(void *self, osafl_call *c, uint32_t round, double *rate);
    /* REQUIRED.  One step from grad, which it may overwrite.  [worker] */
    osafl_status (*step)(void *self, osafl_call *c, const osafl_local *l, float *w, float *grad);
    /* OPTIONAL: before the first step; NULL: nothing to prepare.  [worker] */
    osafl_status (*begin)(void *self, osafl_call *c, const osafl_local *l);
    /* After the last step: fills l->uplink from the trained w.  REQUIRED when uplink_vectors > 0,
     * else OPTIONAL.  [worker] */
    osafl_status (*finish)(void *self, osafl_call *c, const osafl_local *l, const float *w);
    /* After the uplink: uplink[s] are the vectors as the server received them.  The only place
     * that may change l->client_state.  update: the model update as received.  REQUIRED when
     * client_floats > 0, else OPTIONAL.  [worker] */
    osafl_status (*received)(void *self, osafl_call *c, const osafl_local *l, const float *update,
                             const float *const *uplink);
    /* Personal models: parts of w that a client keeps for itself.  All OPTIONAL.
     *
     * After begin(), before the first step: w holds w^t, and becomes the model from which the
     * client trains.  NULL: w^t.  [worker] */
    osafl_status (*start)(void *self, osafl_call *c, const osafl_local *l, float *w);
    /* After finish(), before the difference to w_start is taken: w holds the trained model, and
     * becomes the one whose difference is sent.  What the client keeps goes into round_state, and
     * from there in received() into client_state.  NULL: the trained model.  [worker] */
    osafl_status (*leave)(void *self, osafl_call *c, const osafl_local *l, float *w);
    /* The model by which evaluation.per_client judges a client, after the round, whether or not it
     * took part: writes all of out[0..dim).  w: the global model, also l->w_start.  l->client_state
     * is the client's, zeros if it has never sent anything.  NULL: w.  [worker] */
    osafl_status (*personal)(void *self, osafl_call *c, const osafl_local *l, const float *w,
                             float *out);
} osafl_optimizer_vt;

#ifdef __cplusplus
}
#endif
#endif
