/* rows.h - a network as an experiment file describes it: one row of settings for each layer.
 *
 * A row says one kind of layer, by the setting of that name, and what belongs to it; `add` and an
 * activation may follow any layer, or stand in a row of their own.  A row reads the result of the
 * row before it, or of the one that `from` names.
 *
 * Tensors are named as in a torch.nn.Sequential of the same layers, where an activation, and a
 * flattening before a linear layer, count as modules of their own; or by the row's name. */
#ifndef OSAFL_NN_ROWS_H
#define OSAFL_NN_ROWS_H

#include "network.h"

enum { ROWS_MOST = 512 };

/* Numbers that say how many channels: 0: the row is of another kind. */
enum { CHANNELS_CLASSES = -1 }; /* as many as the data set has classes, or values of a target */

struct network_row {
    const char *name;
    const char *from;
    const char *add;
    const char *concat;
    /* Kinds. */
    int64_t conv;
    int64_t conv1d;
    int64_t depthwise;
    int64_t linear;
    int64_t max_pool;
    int64_t average_pool;
    bool global_average;
    int64_t group_norm;
    bool layer_norm;
    double dropout;
    bool flatten;
    int64_t embedding;
    bool position;
    int64_t gru;
    int64_t lstm;
    int64_t attention;
    /* What belongs to some kinds. */
    int64_t kernel;
    int64_t stride;
    int64_t padding;
    int64_t groups;
    int64_t size; /* of an embedding */
    bool bias;
    bool ceil;
    bool causal;
    bool last;
    bool relu;
    osafl_choice activation;
    osafl_choice init;
};

extern const osafl_row_type network_row_type;

/* Describes the network of the rows; the first error names the row. */
void network_of_rows(struct network *net, const osafl_rows *rows);

#endif
