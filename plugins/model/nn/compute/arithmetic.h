/* arithmetic.h - what the files of this folder share.
 *
 * They are compiled once for each instruction set, with NN_ISA as its name, so that one binary
 * carries all of them; functions that cross files get the name of their instruction set. */
#ifndef OSAFL_NN_ARITHMETIC_H
#define OSAFL_NN_ARITHMETIC_H

#include "backend.h"

#define NN_JOIN_(a, b) a##_##b
#define NN_JOIN(a, b) NN_JOIN_(a, b)
#define NN_MANGLE(name) NN_JOIN(name, NN_ISA)

#define bias_gradient NN_MANGLE(bias_gradient)
#define add_bias_and_rectify NN_MANGLE(add_bias_and_rectify)
#define mask_rectified NN_MANGLE(mask_rectified)
#define picture_convolution_forward NN_MANGLE(picture_convolution_forward)
#define picture_convolution_backward NN_MANGLE(picture_convolution_backward)
#define pooled_picture_forward NN_MANGLE(pooled_picture_forward)
#define pooled_picture_backward NN_MANGLE(pooled_picture_backward)
#define convolution_forward NN_MANGLE(convolution_forward)
#define convolution_backward NN_MANGLE(convolution_backward)
#define max_pool_forward NN_MANGLE(max_pool_forward)
#define max_pool_backward NN_MANGLE(max_pool_backward)
#define group_norm_forward NN_MANGLE(group_norm_forward)
#define group_norm_backward NN_MANGLE(group_norm_backward)
#define narrow_norm_forward NN_MANGLE(narrow_norm_forward)
#define narrow_norm_backward NN_MANGLE(narrow_norm_backward)
#define average_forward NN_MANGLE(average_forward)
#define average_backward NN_MANGLE(average_backward)
#define dropout_forward NN_MANGLE(dropout_forward)
#define dropout_backward NN_MANGLE(dropout_backward)
#define picture_forward NN_MANGLE(picture_forward)
#define picture_backward NN_MANGLE(picture_backward)
#define nonlinearity_forward NN_MANGLE(nonlinearity_forward)
#define nonlinearity_backward NN_MANGLE(nonlinearity_backward)
#define addition_forward NN_MANGLE(addition_forward)
#define addition_backward NN_MANGLE(addition_backward)
#define copy_forward NN_MANGLE(copy_forward)
#define copy_backward NN_MANGLE(copy_backward)
#define average_pool_forward NN_MANGLE(average_pool_forward)
#define average_pool_backward NN_MANGLE(average_pool_backward)
#define grouped_convolution_forward NN_MANGLE(grouped_convolution_forward)
#define grouped_convolution_backward NN_MANGLE(grouped_convolution_backward)
#define depthwise_forward NN_MANGLE(depthwise_forward)
#define depthwise_backward NN_MANGLE(depthwise_backward)
#define layer_norm_forward NN_MANGLE(layer_norm_forward)
#define layer_norm_backward NN_MANGLE(layer_norm_backward)
#define embedding_forward NN_MANGLE(embedding_forward)
#define embedding_backward NN_MANGLE(embedding_backward)
#define position_forward NN_MANGLE(position_forward)
#define position_backward NN_MANGLE(position_backward)
#define gru_forward NN_MANGLE(gru_forward)
#define gru_backward NN_MANGLE(gru_backward)
#define lstm_forward NN_MANGLE(lstm_forward)
#define lstm_backward NN_MANGLE(lstm_backward)
#define attention_forward NN_MANGLE(attention_forward)
#define attention_backward NN_MANGLE(attention_backward)

extern const struct backend NN_MANGLE(backend);

layer_function picture_convolution_forward, picture_convolution_backward;
layer_function pooled_picture_forward, pooled_picture_backward;
layer_function convolution_forward, convolution_backward;
layer_function max_pool_forward, max_pool_backward;
layer_function group_norm_forward, group_norm_backward;
layer_function narrow_norm_forward, narrow_norm_backward;
layer_function average_forward, average_backward;
layer_function dropout_forward, dropout_backward;
layer_function picture_forward, picture_backward;
layer_function nonlinearity_forward, nonlinearity_backward;
layer_function addition_forward, addition_backward;
layer_function copy_forward, copy_backward;
layer_function average_pool_forward, average_pool_backward;
layer_function grouped_convolution_forward, grouped_convolution_backward;
layer_function depthwise_forward, depthwise_backward;
layer_function layer_norm_forward, layer_norm_backward;
layer_function embedding_forward, embedding_backward;
layer_function position_forward, position_backward;
layer_function gru_forward, gru_backward;
layer_function lstm_forward, lstm_backward;
layer_function attention_forward, attention_backward;

/* A rows x columns block of a matrix. */
struct block {
    float *at;
    size_t rows;
    size_t columns;
    size_t stride;
};

/* The gradient of a bias: the sums of dy's columns. */
void bias_gradient(const struct pass *pass, int parameter, struct block dy);
/* bias: one for each column, or NULL. */
void add_bias_and_rectify(struct block block, const float *bias, bool rectify);
/* gradient = 0 where the value, which was rectified, is 0. */
void mask_rectified(struct block gradient, const float *value);

static inline size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline float *pass_memory(const struct pass *pass, uint64_t offset)
{
    return pass->workspace + pass->net->scratch_fixed + (size_t)offset * pass->n;
}
static inline float *pass_values(const struct pass *pass, int activation)
{
    return pass_memory(pass, pass->net->activation[activation].value_offset);
}
static inline float *pass_gradient(const struct pass *pass, int activation)
{
    return pass_memory(pass, pass->net->activation[activation].gradient_offset);
}
/* Scratch memory of a layer: the part of fixed size, then the part for each sample. */
static inline float *pass_scratch_fixed(const struct pass *pass)
{
    return pass->workspace;
}
static inline float *pass_scratch(const struct pass *pass)
{
    return pass_memory(pass, 0);
}
/* One value of a gradient of weights to where the pass wants it. */
static inline void store_gradient(const struct pass *pass, float *target, double gradient)
{
    const float g = pass->scale * (float)gradient;
    *target = pass->add ? *target + g : g;
}
static inline float *pass_target(const struct pass *pass, int parameter)
{
    return pass->target + pass->net->parameter[parameter].offset;
}
static inline const float *pass_weights(const struct pass *pass, int parameter)
{
    return pass->w + pass->net->parameter[parameter].offset;
}

/* Where a layer's transformed filters belong: they must be made unless pass->filters_ready. */
static inline float *pass_filters(const struct layer *l, const struct pass *pass, float *scratch)
{
    return pass->filters != NULL ? pass->filters + l->filters_offset : scratch;
}

/* The output channels of a convolution, over its whole map. */
static inline struct block output_block(const struct layer *l, const struct pass *pass, float *at)
{
    return (struct block){.at = at + l->out_first,
                          .rows = (size_t)l->out_height * l->out_width * pass->n,
                          .columns = l->out_channels,
                          .stride = pass->net->activation[l->output].channels};
}

#endif
