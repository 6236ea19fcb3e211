/* backend.h - the layers' arithmetic, compiled once for each instruction set. */
#ifndef OSAFL_NN_BACKEND_H
#define OSAFL_NN_BACKEND_H

#include "../network.h"

typedef void layer_function(const struct layer *layer, const struct pass *pass);

struct layer_functions {
    /* Reads the input activation, writes the output's values. */
    layer_function *forward;
    /* Reads the output's gradient (and may overwrite it), writes the input's gradient and the
     * gradient of the weights. */
    layer_function *backward;
};

struct backend {
    const char *name; /* "avx512", "avx2", "baseline" */
    struct layer_functions layer[LAYER_TYPES];
};

/* The best backend that this processor runs, or the one that OSAFL_ISA names.  NULL with a
 * message in error[size] when OSAFL_ISA is no known name or the processor lacks it. */
const struct backend *backend_select(char *error, size_t size);

/* All backends that this processor runs, best first; for tests and benchmarks. */
size_t backend_list(const struct backend **list, size_t capacity);

#endif
