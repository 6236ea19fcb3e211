/* backend_table.c - one instruction set's functions, by layer type. */
#include "arithmetic.h"

#define NN_TEXT_(x) #x
#define NN_TEXT(x) NN_TEXT_(x)

const struct backend NN_MANGLE(backend) = {
    .name = NN_TEXT(NN_ISA),
    .layer =
        {
            [LAYER_PICTURE_CONVOLUTION] = {picture_convolution_forward,
                                           picture_convolution_backward},
            [LAYER_POOLED_PICTURE] = {pooled_picture_forward, pooled_picture_backward},
            [LAYER_CONVOLUTION] = {convolution_forward, convolution_backward},
            [LAYER_MAX_POOL] = {max_pool_forward, max_pool_backward},
            [LAYER_GROUP_NORM] = {group_norm_forward, group_norm_backward},
            [LAYER_AVERAGE] = {average_forward, average_backward},
            [LAYER_DROPOUT] = {dropout_forward, dropout_backward},
        },
};
