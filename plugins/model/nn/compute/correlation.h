/* correlation.h - what convolutions, forward and backward, direct and Winograd, have in common. */
#ifndef OSAFL_NN_CORRELATION_H
#define OSAFL_NN_CORRELATION_H

#include "arithmetic.h"

/* A map of pixels, each holding a row of `channels` values for each sample. */
struct map {
    float *at;
    size_t height;
    size_t width;
    size_t channels;
    size_t row; /* floats from one sample to the next */
};

static inline struct map input_map(const struct layer *l, float *at)
{
    return (struct map){at, l->in_height, l->in_width, l->in_channels, l->in_channels};
}

static inline struct map output_map(const struct layer *l, const struct pass *pass, float *at)
{
    return (struct map){at + l->out_first, l->out_height, l->out_width, l->out_channels,
                        pass->net->activation[l->output].channels};
}

#endif
