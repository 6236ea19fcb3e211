/* bench_model.h - times the steps and rounds of one model on random pictures. */
#ifndef OSAFL_CORE_BENCH_MODEL_H
#define OSAFL_CORE_BENCH_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "osafl/base.h"

struct diagnostics;
struct loader;

struct bench_options {
    unsigned threads;
    uint32_t batch;
    uint32_t repeats;  /* steps that are timed */
    uint32_t clients;  /* of the round; 0: no round */
    uint32_t channels; /* of the pictures */
    uint32_t height;
    uint32_t width;
    uint32_t classes;
    uint32_t tokens; /* > 0: values are whole numbers below it */
    bool layers;     /* time them one by one */
};

enum { BENCH_MOST_LAYERS = 128 };

/* One part of a model, as it reported itself (osafl/profile.h). */
struct bench_layer {
    char name[64];
    double seconds[2];    /* forward, backward: the least of all runs */
    double operations[2]; /* 0: not counted */
};

struct bench_result {
    char name[64]; /* the plugin's, or the file's */
    uint64_t parameters;
    uint64_t workspace_bytes;
    double step_s; /* CPU time of one thread; the least and the median of all repeats */
    double step_median_s;
    double gradient_s;     /* without the step; the least */
    double evaluate_s;     /* for as many samples as a batch has; the least */
    double operations;     /* of one step by the model's definition; 0: unknown */
    double round_s;        /* wall time; 0: not measured */
    double round_cpu_s;    /* CPU time of all threads of the round */
    double evaluate_cpu_s; /* of it, for evaluation */
    uint64_t round_samples;
    struct bench_layer layer[BENCH_MOST_LAYERS];
    size_t n_layers;
};

/* model: the name of a plugin, or a file with a group `model`.  OSAFL_OK, or the reason in d. */
osafl_status bench_model(struct loader *l, const char *model, const struct bench_options *o,
                         struct bench_result *out, struct diagnostics *d);

/* Speed of OpenBLAS's sgemm on one thread in operations per second, when a plugin has brought the
 * library into the process; else 0. */
double bench_gemm_peak(void);

#endif
