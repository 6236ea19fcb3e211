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
            [LAYER_NARROW_NORM] = {narrow_norm_forward, narrow_norm_backward},
            [LAYER_AVERAGE] = {average_forward, average_backward},
            [LAYER_DROPOUT] = {dropout_forward, dropout_backward},
            [LAYER_PICTURE] = {picture_forward, picture_backward},
            [LAYER_NONLINEARITY] = {nonlinearity_forward, nonlinearity_backward},
            [LAYER_ADDITION] = {addition_forward, addition_backward},
            [LAYER_COPY] = {copy_forward, copy_backward},
            [LAYER_AVERAGE_POOL] = {average_pool_forward, average_pool_backward},
            [LAYER_GROUPED_CONVOLUTION] = {grouped_convolution_forward,
                                           grouped_convolution_backward},
            [LAYER_DEPTHWISE] = {depthwise_forward, depthwise_backward},
            [LAYER_LAYER_NORM] = {layer_norm_forward, layer_norm_backward},
            [LAYER_EMBEDDING] = {embedding_forward, embedding_backward},
            [LAYER_POSITION] = {position_forward, position_backward},
            [LAYER_GRU] = {gru_forward, gru_backward},
            [LAYER_LSTM] = {lstm_forward, lstm_backward},
            [LAYER_ATTENTION] = {attention_forward, attention_backward},
        },
};
