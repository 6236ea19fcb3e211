/* osafl/dataset.h - which labelled samples exist, and what does sample i look like?
 *
 * A data set has three splits.  Samples of a split are numbered from 0.  An endless split makes
 * sample i as a pure function of i and the set's own settings, never of the run's seed, so that
 * every run of an experiment sees the same samples. */
#ifndef OSAFL_DATASET_H
#define OSAFL_DATASET_H

#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { OSAFL_SPLIT_TRAIN = 1, OSAFL_SPLIT_VALIDATION, OSAFL_SPLIT_TEST };
enum { OSAFL_X_FLOAT = 1, OSAFL_X_INT32 };
enum { OSAFL_TARGET_CLASS = 1, OSAFL_TARGET_REAL };

#define OSAFL_SAMPLE_RANK 4

#define OSAFL_ENDLESS UINT64_MAX

struct osafl_dataset_info {
    uint32_t struct_size;
    uint32_t rank; /* dimensions of a sample, 1 to OSAFL_SAMPLE_RANK */
    /* Their sizes, `rank` of them: (features), (height, width), (channels, height, width). */
    uint32_t shape[OSAFL_SAMPLE_RANK];
    uint32_t x_type;      /* OSAFL_X_*; int32 for tokens and other numbers that name something */
    uint32_t target_type; /* OSAFL_TARGET_* */
    uint32_t target_size; /* of a class: number of classes C; of reals: values a sample */
    uint32_t labels;  /* number of labels by which samples are partitioned; C for classification */
    uint64_t n_train; /* samples, or OSAFL_ENDLESS */
    uint64_t n_validation;
    uint64_t n_test;
    const char *const *label_names; /* labels pointers; NULL: the labels have no names */
};

/* Values of a sample. */
static inline uint64_t osafl_sample_size(const osafl_dataset_info *info)
{
    uint64_t size = 1;
    for (uint32_t i = 0; i < info->rank; i++)
        size *= info->shape[i];
    return size;
}

/* A batch as data sets write and models read it.  The label is that by which samples are
 * partitioned; what a model learns is the target, which of a class is the label. */
typedef struct osafl_batch {
    uint32_t struct_size;
    uint32_t n;
    float *x;       /* OSAFL_X_FLOAT: n samples in the C order of their shape, finite; else NULL */
    int32_t *x_int; /* OSAFL_X_INT32: the same; else NULL */
    int32_t *label; /* n, each in [0, labels) */
    float *target;  /* OSAFL_TARGET_REAL: n * target_size; else NULL */
} osafl_batch;

/* Feature "natural": client_of says to whom a sample belongs.  Feature "timed": time_of says when
 * it came. */
typedef struct osafl_dataset_vt {
    osafl_lifecycle life;
    /* REQUIRED.  The same answer every time.  [any] */
    osafl_status (*describe)(void *self, osafl_call *c, osafl_dataset_info *out);
    /* REQUIRED.  Label of training sample i.  [any] */
    osafl_status (*label)(void *self, osafl_call *c, uint64_t i, int32_t *label);
    /* REQUIRED.  Fills b for the b->n samples index[0..n) of a split.  b's memory is the host's.
     * index may repeat a sample.  [worker] */
    osafl_status (*read)(void *self, osafl_call *c, uint32_t split, const uint64_t *index,
                         const osafl_batch *b);
    /* Training sample number k, counted from 0, of a label: the host deals 0, 1, 2, ... of each
     * label, to whichever client is next.  REQUIRED for an endless training split; NULL otherwise:
     * the host finds it from label().  [any] */
    osafl_status (*sample_of)(void *self, osafl_call *c, int32_t label, uint64_t k,
                              uint64_t *sample);
    /* OPTIONAL, needed by partition.plugin = "natural": the client to whom training sample i
     * belongs by nature, 0, 1, 2, ..., or OSAFL_NO_CLIENT; NULL: samples belong to nobody.  Where a
     * setting names the clients, it is called "client", so that messages can name it.  [any] */
    osafl_status (*client_of)(void *self, osafl_call *c, uint64_t i, uint32_t *client);
    /* OPTIONAL: when training sample i came, a finite number in any unit; NAN where samples have no
     * times, and then for all of them.  Where samples have owners (osafl/partition.h), the host
     * deals those of a client in this order, and of one time by number.  Where a setting names the
     * times, it is called "time".  [any] */
    osafl_status (*time_of)(void *self, osafl_call *c, uint64_t i, double *when);
} osafl_dataset_vt;

#ifdef __cplusplus
}
#endif
#endif
