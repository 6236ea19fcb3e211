/* worker.h - what one thread of the pool needs to train and to evaluate.
 *
 * Memory belongs to threads and not to clients: it is made once per thread and holds nothing that
 * a later task may depend on. */
#ifndef OSAFL_CORE_WORKER_H
#define OSAFL_CORE_WORKER_H

#include "base/error.h"
#include "session.h"

/* Samples of one evaluation chunk.  Part of the results: a model may sum differently for another
 * batch size. */
#define EVALUATION_BATCH 64

struct worker {
    const struct session *session;
    void *workspace;    /* of the model */
    osafl_batch batch;  /* room for max(training.batch, EVALUATION_BATCH) samples */
    uint64_t *index;    /* of the same length: sample numbers of the batch */
    float *w;           /* [dim]: the client's model, then its update */
    float *gradient;    /* [dim]; see worker_gradient() */
    float *round_state; /* [optimizer.round_floats] */
    float **uplink;     /* [optimizer.uplink_vectors][dim] */
    uint8_t *code;      /* [codec_max_bytes()] */
    double *sum;        /* [dim]; see worker_sum() */
    uint32_t *order;    /* positions of a store, a permutation in the making */
    uint32_t *word;     /* random words behind it */
    uint64_t order_capacity;
    bool unfused;       /* the model has refused its fused step */
    struct error error; /* of the task that failed here last */
};

/* NULL: out of memory. */
struct worker *worker_create(const struct session *s);
void worker_destroy(struct worker *w); /* NULL is allowed */

/* Memory that most runs never need: made when asked for.  NULL: out of memory, with error set. */
float *worker_gradient(struct worker *w);
double *worker_sum(struct worker *w);
osafl_status worker_reserve_order(struct worker *w, uint64_t stored, uint64_t draws);

/* Reads samples w->index[0..n) of a split into w->batch.  Labels out of range are refused, naming
 * the data set.  client, round: for messages.  [worker] */
osafl_status worker_read(struct worker *w, uint32_t split, uint32_t n, uint32_t client,
                         uint32_t round);

#endif
