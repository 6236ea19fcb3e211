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
    uint32_t client_vectors; /* vectors of dim floats kept for every client, zero at first */
    uint32_t round_vectors;  /* vectors of dim floats, zeroed at the start of each client's round */
    uint32_t broadcast_vectors; /* further vectors that it needs from the aggregator, besides w */
    uint32_t uplink_vectors;    /* further vectors that finish() makes, besides the model update */
} osafl_optimizer_info;

/* One client's local training in one round.  Everything is the host's; vectors are 64-byte
 * aligned and have dim floats. */
typedef struct osafl_local {
    uint32_t struct_size;
    uint32_t client;
    uint32_t round;
    uint32_t step;        /* the step in hand, from 0; in finish() and received(): steps done */
    uint64_t dim;         /* N */
    double rate;          /* rate(round) of the present round */
    const float *w_start; /* w^t */
    const float *const *broadcast; /* [broadcast_vectors], from the aggregator */
    float *const *client_vector;   /* [client_vectors]; written only by received() */
    float *const *round_vector;    /* [round_vectors] */
    float *const *uplink;          /* [uplink_vectors]; filled by finish() */
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
    double (*rate)(void *self, uint32_t round);
    /* REQUIRED.  One step from grad, which it may overwrite.  [worker] */
    osafl_status (*step)(void *self, osafl_call *c, const osafl_local *l, float *w, float *grad);
    /* OPTIONAL: before the first step; NULL: nothing to prepare.  [worker] */
    osafl_status (*begin)(void *self, osafl_call *c, const osafl_local *l);
    /* After the last step: fills l->uplink from the trained w.  REQUIRED when uplink_vectors > 0,
     * else OPTIONAL.  [worker] */
    osafl_status (*finish)(void *self, osafl_call *c, const osafl_local *l, const float *w);
    /* After the uplink: uplink[s] are the vectors as the server received them.  The only place
     * that may change l->client_vector.  update: the model update as received.  REQUIRED when
     * client_vectors > 0, else OPTIONAL.  [worker] */
    osafl_status (*received)(void *self, osafl_call *c, const osafl_local *l, const float *update,
                             const float *const *uplink);
} osafl_optimizer_vt;

#ifdef __cplusplus
}
#endif
#endif
