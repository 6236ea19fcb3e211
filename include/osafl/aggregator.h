/* osafl/aggregator.h - how do the updates of one round change the global model?
 *
 * An aggregator never sees how updates are stored.  It gets facts about each update and a few
 * operations that the host carries out: in parallel, in a fixed order, accumulating in double. */
#ifndef OSAFL_AGGREGATOR_H
#define OSAFL_AGGREGATOR_H

#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a client sends in slot 0, with w_0 = w^t and w_k its model after local training. */
enum {
    OSAFL_SENDS_DELTA = 1, /* w_k - w_0 */
    OSAFL_SENDS_PER_ROUND, /* (w_0 - w_k) / kappa_u: the paper's normalized gradient */
    OSAFL_SENDS_PER_RATE,  /* (w_0 - w_k) / (kappa_u * rate) */
};

typedef struct osafl_aggregator_info {
    uint32_t struct_size;
    uint32_t sends; /* OSAFL_SENDS_*; here, as it is a part of the server's formula */
    /* Further vectors that it wants back, numbered from 1: of dim floats, as each goes through the
     * quantizer. */
    uint32_t uplink_vectors;
    /* 1: aggregate() is called in rounds without any update too.  0: such a round changes
     * nothing. */
    uint32_t wants_empty_rounds;
    /* Rounds by which an update may be late (uplink.late = "carry"): one that would be later is
     * dropped.  0: only updates of the round in hand count. */
    uint32_t max_staleness;
    /* 1: the method is this optimizer as much as this aggregator (FedProx averages as FedAvg does,
     * and would be it with another optimizer), and an experiment that names another is refused.
     * 0: any that fits. */
    uint32_t optimizer_is_fixed;
    uint64_t broadcast_floats; /* sent down besides w */
    const char *optimizer;     /* used when the experiment names none; never NULL */
    /* 1: aggregate() asks for one combine() or add() of slot 0 before it changes w, and for no
     * other operation but inner_product(); nothing depends on train_loss, which may be NaN.  The
     * host may then train and add up some clients at a time, and so never holds all updates of a
     * round.  0: the updates are all there. */
    uint32_t one_sum;
    uint32_t reserved;
} osafl_aggregator_info;

/* Extension of an instance (osafl_lifecycle.extension): centralised training.  Where an aggregator
 * has it, one trainee, number 0, trains on the union of all stores, with no link and no quantizer;
 * aggregate() gets its update alone. */
#define OSAFL_POOLED_ID "osafl.pooled/1"
typedef struct osafl_pooled {
    uint32_t struct_size;
    uint32_t reserved;
    /* REQUIRED.  SGD steps of a round; 0: as many as all clients together would take with
     * max_local_rounds each.  The same answer every time.  [coord] */
    osafl_status (*steps)(void *self, osafl_call *c, uint64_t *steps);
} osafl_pooled;

struct osafl_updates;

/* Visits coordinates [begin, begin + n) of all updates: x[k][i] is coordinate begin + i of update
 * k.  Called for disjoint blocks, concurrently, in no order; x is valid until it returns. */
typedef osafl_status osafl_block(void *arg, uint64_t begin, uint64_t n, const float *const *x,
                                 osafl_call *sub);

/* Operations on the updates of the round as they arrived, with the noise of the quantizer; slot 0
 * is the model update.  All vectors have dim elements and are 64-byte aligned where the host made
 * them.  [call] on the coordinator */
typedef struct osafl_update_ops {
    uint32_t struct_size;
    uint32_t reserved;
    /* out = sum over k of weight[k] * x_k, accumulated in double in ascending k and rounded once.
     * out may be scratch memory or w, but no vector of the updates. */
    osafl_status (*combine)(const struct osafl_updates *u, uint32_t slot, const double *weight,
                            float *out);
    /* w = w + sum over k of weight[k] * x_k, accumulated in double, rounded once. */
    osafl_status (*add)(const struct osafl_updates *u, uint32_t slot, const double *weight,
                        float *w);
    /* out[k] = <x_k, v> */
    osafl_status (*dot)(const struct osafl_updates *u, uint32_t slot, const float *v, double *out);
    /* out[k] = ||x_k||^2 */
    osafl_status (*squared_norms)(const struct osafl_updates *u, uint32_t slot, double *out);
    /* out[k * n + l] = <x_k, x_l> */
    osafl_status (*gram)(const struct osafl_updates *u, uint32_t slot, double *out);
    /* For rules that no linear algebra expresses (median, trimmed mean). */
    osafl_status (*each_block)(const struct osafl_updates *u, uint32_t slot, osafl_block *fn,
                               void *arg);
    /* <a, b> of two dense vectors, and sums of squares by inner_product(u, a, a). */
    osafl_status (*inner_product)(const struct osafl_updates *u, const float *a, const float *b,
                                  double *out);
    /* Keeps update k beyond its round, as the code in which it arrived; the host saves kept
     * updates in checkpoints.  *id is never 0 and never used twice in a run. */
    osafl_status (*retain)(const struct osafl_updates *u, uint32_t slot, uint32_t k, uint64_t *id);
    osafl_status (*release)(const struct osafl_updates *u, uint64_t id);
    /* out = sum over j < n of weight[j] * kept update id[j], as combine(). */
    osafl_status (*combine_kept)(const struct osafl_updates *u, uint32_t n, const uint64_t *id,
                                 const double *weight, float *out);
} osafl_update_ops;

/* The updates that arrived in one round, clients ascending.  Read-only, valid until aggregate()
 * returns.  Arrays have n elements unless said otherwise.  The data of a late update are those of
 * the round in which it started. */
typedef struct osafl_updates {
    uint32_t struct_size;
    uint32_t n;       /* updates that arrived; 0 only with wants_empty_rounds */
    uint32_t round;   /* t */
    uint32_t rounds;  /* T */
    uint32_t clients; /* U */
    uint32_t labels;  /* C */
    uint64_t dim;     /* N */
    const uint32_t *client;
    const uint32_t *local_rounds; /* kappa_u */
    const uint32_t *steps;        /* SGD steps taken */
    const double *rate;           /* learning rate of this round */
    const uint64_t *samples;      /* store size |D_u| */
    const double *alpha;          /* alpha_u = D_u / sum of D over all clients; not normalised over
                                   * the participants */
    const double *train_loss;     /* mean over its steps */
    const uint32_t *const *histogram; /* [n][labels]: samples of each label in the store */
    osafl_call *call;                 /* the call in hand, for the operations */
    const osafl_update_ops *ops;
    void *priv;
    /* The round whose w^t the client started from, at most max_staleness before `round`. */
    const uint32_t *start_round;
    /* Simulated time of its arrival since the start of the run: start_round * deadline + receiving
     * where there is a downlink + computing + sending. */
    const double *arrived_s;
    /* What the server knows of how it was made; 0 in pooled runs. */
    const double *gain; /* linear */
    const double *power_w;
    const double *compute_s;
    const double *upload_s;
    const double *joules; /* computing and sending, and receiving where there is a downlink */
    double noise_w;       /* of the receiver, over the band of one client; 0 in pooled runs */
    /* What no server knows: the gains themselves, where `gain` has estimates
     * (uplink.gain_error_db), for rules that simulate what the channel does. */
    const double *channel_gain;
} osafl_updates;

/* Features, laws that are tested where they are declared:
 *   "sole_update"           one participant: w moves by that update (OSAFL_SENDS_DELTA rules)
 *   "mean"                  equal updates: w moves by that update
 *   "permutation_invariant" the order of the clients changes nothing beyond rounding
 *   "scale_free"            multiplying every alpha by one factor changes nothing beyond rounding
 *   "robust"                one arbitrary update among many moves w by a bounded amount
 * Feature "analog": updates are sent uncoded, so that none is lost where the channel carries less
 * than was known (uplink.gain_error_db). */
typedef struct osafl_aggregator_vt {
    osafl_lifecycle life;
    /* REQUIRED.  The same answer every time.  [any] */
    osafl_status (*describe)(void *self, osafl_call *c, osafl_aggregator_info *out);
    /* REQUIRED.  w[0..dim) holds w^t on entry and w^{t+1} on return.  On failure w is unspecified.
     * [coord] */
    osafl_status (*aggregate)(void *self, osafl_call *c, const osafl_updates *u, float *w);
    /* What goes down with w^t at the start of a round; writes all of out[0..broadcast_floats).
     * REQUIRED when broadcast_floats > 0.  [coord] */
    osafl_status (*broadcast)(void *self, osafl_call *c, float *out);
} osafl_aggregator_vt;

#ifdef __cplusplus
}
#endif
#endif
