/* evaluate.h - how good is a model?  Means of the model's measures over samples of a split.
 *
 * Samples are worked through in chunks of EVALUATION_BATCH, in parallel; measures are kept per
 * sample and averaged in the order of the samples, so that no mean depends on the number of
 * threads. */
#ifndef OSAFL_CORE_EVALUATE_H
#define OSAFL_CORE_EVALUATE_H

#include "base/error.h"
#include "session.h"
#include "worker.h"

struct evaluation {
    double *mean;            /* [n_measures] */
    double *label_mean;      /* [labels][n_measures]; NAN for a label without samples */
    uint64_t *label_samples; /* [labels] */
    double *value;           /* [samples][n_measures], of each sample */
    int32_t *label;          /* [samples] */
};

/* Memory for the samples of the session's evaluation split; reused from round to round.  false: out
 * of memory. */
bool evaluation_create(const struct session *s, struct evaluation *out);
void evaluation_destroy(struct evaluation *e);

/* Evaluates w[0..dim) with one worker per thread of the session's pool.  Measures that are not
 * finite stay so: a diverged model has no finite loss.  [coord] */
osafl_status evaluate_model(const struct session *s, struct worker *const *workers, uint32_t round,
                            const float *w, struct evaluation *out, struct error *error);

/* The same as if every sample had the label `as`: the values of the samples alone are filled, and
 * their own labels. */
osafl_status evaluate_as_label(const struct session *s, struct worker *const *workers,
                               const float *w, uint32_t as, struct evaluation *out,
                               struct error *error);

/* Measures of the batch that w has read, into value[n][n_measures]; client: for messages.
 * [worker] */
osafl_status evaluate_batch(const struct session *s, struct worker *w, uint32_t client,
                            uint32_t round, const float *at, double *value);

/* Says why an evaluation by these workers failed; their messages were empty before it. */
osafl_status evaluation_failed(const struct session *s, struct worker *const *workers,
                               osafl_status status, struct error *error);

/* Whether the model takes the samples at all: evaluates the first chunk with weights of 0. */
osafl_status evaluate_first(const struct session *s, struct error *error);

/* Measure m as a client would find it whose samples have these labels: the label's means weighted
 * by the histogram.  NAN when the split has no sample of a label that the client holds. */
double evaluation_for_labels(const struct session *s, const struct evaluation *e, uint32_t measure,
                             const uint32_t *histogram);

#endif
