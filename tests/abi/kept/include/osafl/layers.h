/* osafl/layers.h - host extension "osafl.layers/1": what a model consists of.
 *
 * A model that finds the extension in create() may report each of its layers once, in the order of
 * the forward pass; `osafl check` prints them as a table. */
#ifndef OSAFL_LAYERS_H
#define OSAFL_LAYERS_H

#include "host.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OSAFL_LAYERS_ID "osafl.layers/1"

typedef struct osafl_layer {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;  /* of its tensors; "" when it has none; valid during the call, as is kind */
    const char *kind;  /* "convolution" */
    uint32_t shape[3]; /* of what it gives for a sample: channels, height, width */
    uint32_t reserved2;
    uint64_t parameters;
    double operations; /* multiplications and additions of a forward pass of a sample; 0: few */
} osafl_layer;

typedef struct osafl_layers {
    uint32_t struct_size;
    uint32_t reserved;
    void (*record)(osafl_call *c, const osafl_layer *layer); /* [coord] */
} osafl_layers;

#ifdef __cplusplus
}
#endif
#endif
