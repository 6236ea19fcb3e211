/* sequences.c - describes the layers that work on sequences. */
#include <inttypes.h>

#include "describe.h"

static bool is_line(struct network *net, int input)
{
    if (net->status == OSAFL_OK && net->activation[input].height != 1)
        network_fail(net, "a sequence is one line of positions, not %" PRIu32,
                     net->activation[input].height);
    return net->status == OSAFL_OK;
}

int network_layer_norm(struct network *net, int input, const char *name)
{
    struct layer *l = describe_alike(net, LAYER_LAYER_NORM, input);
    if (l == NULL)
        return 0;
    l->weight =
        describe_parameter(net, name, ".weight", describe_vector(l->in_channels, INIT_ONE, 1));
    l->bias = describe_parameter(net, name, ".bias", describe_vector(l->in_channels, INIT_ZERO, 1));
    l->saved_floats = 2 * (uint64_t)l->in_height * l->in_width; /* mean and 1/deviation */
    l->scratch_fixed = 4 * (uint64_t)l->in_channels;            /* two sums in double */
    return describe_output(net, l);
}

/* A table of vectors as it is exported. */
static struct parameter table(uint64_t rows, uint64_t size, enum initializer init)
{
    struct parameter p = describe_matrix(1, rows * size, init, size);
    p.shape[0] = rows;
    p.shape[1] = size;
    return p;
}

int network_embedding(struct network *net, const char *name, uint32_t tokens, uint32_t size)
{
    const uint64_t positions = (uint64_t)net->channels * net->height * net->width;
    if (size == 0)
        network_fail(net, "an embedding needs size = ..., the length of its vectors");
    else if (positions > UINT32_MAX)
        network_fail(net, "samples of %" PRIu64 " tokens are too large", positions);
    struct layer *l = describe_layer(net, LAYER_EMBEDDING, NETWORK_PICTURE);
    if (l == NULL)
        return 0;
    net->tokens = net->tokens == 0 || tokens < net->tokens ? tokens : net->tokens;
    l->in_height = l->out_height = 1;
    l->in_width = l->out_width = (uint32_t)positions;
    l->in_channels = 1;
    l->out_channels = size;
    l->weight = describe_parameter(net, name, ".weight", table(tokens, size, INIT_NORMAL));
    return describe_output(net, l);
}

int network_position(struct network *net, int input, const char *name)
{
    if (!is_line(net, input))
        return 0;
    struct layer *l = describe_alike(net, LAYER_POSITION, input);
    if (l == NULL)
        return 0;
    l->weight = describe_parameter(net, name, ".weight",
                                   table(l->in_width, l->in_channels, INIT_NORMAL_002));
    return describe_output(net, l);
}

int network_recurrent(struct network *net, int input, const char *name, uint32_t hidden, bool lstm,
                      bool last)
{
    if (!is_line(net, input))
        return 0;
    struct layer *l = describe_alike(net, lstm ? LAYER_LSTM : LAYER_GRU, input);
    if (l == NULL)
        return 0;
    const uint64_t gates = lstm ? 4 : 3;
    const uint64_t out = gates * hidden;
    const uint64_t steps = l->in_width;
    const enum initializer init = INIT_UNIFORM_FAN_IN;
    l->out_channels = hidden;
    l->last = last;
    l->out_width = last ? 1 : l->in_width;
    l->weight = describe_parameter(net, name, ".weight_ih_l0",
                                   describe_matrix(out, l->in_channels, init, hidden));
    l->second_weight =
        describe_parameter(net, name, ".weight_hh_l0", describe_matrix(out, hidden, init, hidden));
    l->bias = describe_parameter(net, name, ".bias_ih_l0", describe_vector(out, init, hidden));
    l->second_bias =
        describe_parameter(net, name, ".bias_hh_l0", describe_vector(out, init, hidden));
    /* Gates, hidden values, and cells or the hidden part of the new gate, of every step. */
    l->saved_floats = steps * (out + 2 * (uint64_t)hidden);
    /* Transposed weights; gradients of both sums of every step, and what a step hands back. */
    l->scratch_fixed = out * ((uint64_t)l->in_channels + hidden);
    l->scratch_floats = 2 * steps * out + 3 * (uint64_t)hidden;
    return describe_output(net, l);
}

int network_attention(struct network *net, int input, const char *name, uint32_t heads, bool causal)
{
    if (!is_line(net, input))
        return 0;
    struct layer *l = describe_alike(net, LAYER_ATTENTION, input);
    if (l == NULL)
        return 0;
    const uint64_t size = l->in_channels;
    const uint64_t steps = l->in_width;
    if (size % heads != 0) {
        network_fail(net, "attention = %" PRIu32 " heads do not divide the %" PRIu64 " channels",
                     heads, size);
        return 0;
    }
    l->groups = heads;
    l->causal = causal;
    l->weight = describe_parameter(net, name, ".in_proj_weight",
                                   describe_matrix(3 * size, size, INIT_XAVIER_UNIFORM, size));
    l->bias =
        describe_parameter(net, name, ".in_proj_bias", describe_vector(3 * size, INIT_ZERO, 1));
    l->second_weight = describe_parameter(net, name, ".out_proj.weight",
                                          describe_matrix(size, size, INIT_UNIFORM_FAN_IN, size));
    l->second_bias =
        describe_parameter(net, name, ".out_proj.bias", describe_vector(size, INIT_ZERO, 1));
    /* Queries, keys and values; weights of each head; results of the heads. */
    l->saved_floats = steps * 4 * size + heads * steps * steps;
    /* Transposed weights; one head's queries, keys or values, and scores. */
    l->scratch_fixed = 4 * size * size + 3 * steps * (size / heads) + 2 * steps * steps;
    l->scratch_floats = steps * 4 * size; /* their gradients */
    return describe_output(net, l);
}
