/* osafl/model.h - what are loss and gradient of the parameters w on a batch?
 *
 * Parameters are one flat vector w of N floats in an order of the model's own choice, without
 * padding: N, the payload and every norm count real parameters only.  create() refuses samples and
 * targets of a type that the model cannot read. */
#ifndef OSAFL_MODEL_H
#define OSAFL_MODEL_H

#include "dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OSAFL_MAX_RANK 8

/* One named tensor: w[offset .. offset + size).  Tensors tile w in order, without gaps. */
typedef struct osafl_tensor {
    const char *name; /* as the field's reference implementation calls it: "features.0.weight" */
    uint64_t offset;
    uint64_t size;
    uint64_t shape[OSAFL_MAX_RANK]; /* of the exported tensor, as that implementation has it */
    uint32_t rank;
    uint32_t reserved;
} osafl_tensor;

struct osafl_model_info {
    uint32_t struct_size;
    uint32_t n_tensors;
    uint64_t n_parameters; /* N */
    const osafl_tensor *tensors;
    uint32_t tensor_size; /* the host's stride through tensors */
    uint32_t n_measures;
    /* What evaluate() reports of each sample, by name: "accuracy" and "loss" for a classifier,
     * "loss" first where there is no accuracy.  The host averages over samples.  The first is the
     * one by which runs are compared. */
    const osafl_metric *measures;
    uint32_t measure_size; /* the host's stride through measures and sample_measures */
    uint32_t n_sample_measures;
    /* What score() gives of each sample besides those: "entropy" and "margin" of a classifier.  For
     * policies that go by single samples; no table has them. */
    const osafl_metric *sample_measures;
};

/* Which SGD step this is: the identity under which a model draws its own randomness (dropout). */
typedef struct osafl_step {
    uint32_t struct_size;
    uint32_t client;
    uint32_t round;
    uint32_t step;     /* within the round, from 0 */
    uint32_t training; /* 1: dropout is on */
    uint32_t reserved;
} osafl_step;

/* A workspace belongs to one worker at a time: zeroed when new, afterwards as this instance last
 * left it.  No result may depend on what an earlier call left there.
 * Feature "fused": sgd_step is offered. */
typedef struct osafl_model_vt {
    osafl_lifecycle life;
    /* REQUIRED.  The same answer every time; what it points to is owned by the instance.  [any] */
    osafl_status (*describe)(void *self, osafl_call *c, osafl_model_info *out);
    /* REQUIRED.  Bytes of a workspace, 4096-byte aligned, for gradient() and sgd_step() with at
     * most `batch` samples and for evaluate() with at most `evaluation_batch`.  [any] */
    uint64_t (*workspace_bytes)(void *self, uint32_t batch, uint32_t evaluation_batch);
    /* REQUIRED.  Initial parameters, from host->random_fill.  [coord] */
    osafl_status (*init)(void *self, osafl_call *c, float *w);
    /* REQUIRED.  Mean loss of the batch and its gradient; writes all of grad[0..N), 64-byte
     * aligned as is w.  [worker] */
    osafl_status (*gradient)(void *self, osafl_call *c, void *workspace, const float *w,
                             const osafl_batch *b, const osafl_step *step, float *grad,
                             double *loss);
    /* REQUIRED.  value[i * n_measures + m]: measure m of sample i; dropout off.  [worker] */
    osafl_status (*evaluate)(void *self, osafl_call *c, void *workspace, const float *w,
                             const osafl_batch *b, double *value);
    /* OPTIONAL: one step w <- w - rate * gradient, equal to gradient() and a plain step up to
     * rounding; NULL: the host does it in two.  [worker] */
    osafl_status (*sgd_step)(void *self, osafl_call *c, void *workspace, float *w,
                             const osafl_batch *b, const osafl_step *step, double rate,
                             double *loss);
    /* OPTIONAL, both or neither: tensor t of w in the C order of its shape, and back; NULL: w has
     * that order already.  out, in: `size` floats.  [any] */
    void (*export_tensor)(void *self, uint32_t t, const float *w, float *out);
    void (*import_tensor)(void *self, uint32_t t, const float *in, float *w);
    /* value[i * n_sample_measures + m]: sample measure m of sample i; dropout off.  REQUIRED when
     * n_sample_measures > 0, else OPTIONAL.  [worker] */
    osafl_status (*score)(void *self, osafl_call *c, void *workspace, const float *w,
                          const osafl_batch *b, double *value);
} osafl_model_vt;

#ifdef __cplusplus
}
#endif
#endif
