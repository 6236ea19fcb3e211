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

/* The backend for the instruction set that OSAFL_ISA names: the core decides which one the
 * processor has, and sets the variable before it loads a plugin.  Without it the baseline.  NULL
 * with a message in error[size]: there is none of that name. */
const struct backend *backend_chosen(char *error, size_t size);

/* The backend of a name, whether the processor has its instructions or not; NULL: none. */
const struct backend *backend_named(const char *name);

#endif
