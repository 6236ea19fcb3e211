/* updates.h - the update algebra: what an aggregator may ask about the updates of a round.
 *
 * Updates stay in the code in which they arrived.  Every operation walks the coordinates in blocks
 * of a fixed size, in parallel over blocks, and decodes no more than a block at a time.  Sums run
 * in double, over clients in ascending order and over blocks in ascending order, so that no result
 * depends on the number of threads. */
#ifndef OSAFL_CORE_UPDATES_H
#define OSAFL_CORE_UPDATES_H

#include "codec.h"
#include "kept_updates.h"
#include "osafl/aggregator.h"

/* Coordinates of a block.  Part of the results: partial sums are made per block. */
#define UPDATES_BLOCK 4096

/* What arrived from one client.  Read-only while an update_set refers to it. */
struct update {
    uint32_t client;
    uint32_t local_rounds; /* kappa_u */
    uint32_t steps;        /* SGD steps taken */
    double rate;           /* learning rate of the round */
    uint64_t samples;      /* |D_u| */
    double alpha;
    double train_loss;
    uint32_t start_round; /* whose model it started from */
    double arrived_s;     /* since the start of the run */
    double gain;          /* this and the following: 0 without a link */
    double channel_gain;
    double power_w;
    double receive_s; /* not shown to the aggregator */
    double compute_s;
    double upload_s;
    double joules;
    double norm;               /* as received, or NAN; not shown to the aggregator */
    const uint32_t *histogram; /* [labels] */
    const struct code *code;   /* [slots] */
};

/* Clients ascending. */
void updates_sort(struct update *update, uint32_t n);

/* What is the same for all updates of a round. */
struct update_round {
    uint32_t round;
    uint32_t rounds;
    uint32_t clients;
    uint32_t labels;
    uint32_t slots; /* vectors of each update: 1 + the aggregator's uplink_vectors */
    double noise_w; /* of the receiver, over the band of a client */
};

/* Updates that are not there yet (osafl_aggregator_info.one_sum). */
struct update_source {
    /* The one sum that is asked for: as combine(), or as add() to a base that is not NULL. */
    osafl_status (*sum)(void *arg, osafl_call *c, const double *weight, const float *base,
                        float *out);
    void *arg;
};

/* The updates of one round as an aggregator sees them. */
struct update_set {
    osafl_updates view; /* handed to aggregate(); its priv points back here */
    const struct codec *codec;
    const struct update *update;
    struct kept_updates *kept;
    uint32_t slots;
    void *arrays;                       /* one allocation behind the arrays of view */
    const struct update_source *source; /* NULL: the updates are there */
};

/* Presents update[0..n), clients ascending, to the call in hand.  Refers to all arguments until
 * updates_close().  OSAFL_E_NOMEM with the error in call.  [coord] */
osafl_status updates_open(struct update_set *s, const struct codec *codec,
                          const struct update_round *facts, const struct update *update, uint32_t n,
                          struct kept_updates *kept, osafl_call *call);
void updates_close(struct update_set *s);
/* Bytes that it takes for each update. */
uint64_t updates_view_bytes(void);

/* sum[i] += weight[k] * x_k[i] for each of n codes in turn, as combine() adds.  *bad: the first i
 * for which sum[i] is not finite then; codec->dim: there is none.  [coord] */
osafl_status updates_fold(const struct codec *codec, osafl_call *call,
                          const struct code *const *code, uint32_t n, const double *weight,
                          double *sum, uint64_t *bad);

#endif
