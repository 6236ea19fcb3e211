/* network.h - a feed-forward classifier: a list of layers that read and write activations.
 *
 * A model plugin describes its network with the network_*() calls below, in the order in which
 * the layers run; network_finish() plans the memory.  The first error sticks: later calls do
 * nothing, and network_finish() reports it.
 *
 * Activations lie as [y][x][sample][channel] ("HWNC"): the rows of one filter tap over a line of
 * the picture are then one contiguous matrix, so a convolution is a sum of plain matrix products
 * without any copying.  Weights lie in panels of 64 output channels, [panel][tap][in][out], so that
 * they are read and written strictly in sequence; see struct parameter. */
#ifndef OSAFL_NN_NETWORK_H
#define OSAFL_NN_NETWORK_H

#include "osafl/model.h"
#include "osafl/profile.h"

enum { WEIGHT_PANEL = 64 };
/* Rows (samples of tiles) that the Winograd path works on at a time. */
enum { WINOGRAD_ROWS = 32 };
enum { NETWORK_MAX_LAYERS = 256, NETWORK_MAX_ACTIVATIONS = 256, NETWORK_MAX_PARAMETERS = 384 };

/* How a tensor of parameters starts. */
enum initializer {
    INIT_ZERO,
    INIT_ONE,
    INIT_UNIFORM_FAN_IN,    /* U(-1/sqrt(fan_in), 1/sqrt(fan_in)) */
    INIT_HE_UNIFORM,        /* U(-sqrt(6/fan_in), sqrt(6/fan_in)): He et al., ICCV 2015 */
    INIT_HE_NORMAL_FAN_OUT, /* N(0, 2/fan_out) */
    INIT_NORMAL_001,        /* N(0, 0.01^2) */
    INIT_HE_NORMAL,         /* N(0, 2/fan_in) */
    INIT_XAVIER_UNIFORM,    /* U(-a, a), a = sqrt(6/(fan_in + fan_out)): Glorot & Bengio, 2010 */
    INIT_XAVIER_NORMAL,     /* N(0, 2/(fan_in + fan_out)) */
    INIT_NORMAL,            /* N(0, 1) */
    INIT_NORMAL_002,        /* N(0, 0.02^2) */
};

/* A tensor of parameters.  Exported it is [out][in][spatial] in the C order of its shape; inside
 * w it is [panel][spatial][in][out of the panel]; the last panel may be narrower.  Vectors have in
 * = spatial = 1. */
struct parameter {
    char name[48];
    uint64_t offset; /* in w, floats */
    uint64_t out;
    uint64_t in;
    uint64_t spatial;
    uint64_t groups; /* of a convolution: panels do not cross them; 0: one */
    bool taps_together;
    uint64_t shape[OSAFL_MAX_RANK];
    uint32_t rank;
    enum initializer init;
    uint64_t fan_in; /* of the weights to which it belongs */
};

/* What passes between layers.  Sizes are for one sample. */
struct activation {
    uint32_t height;
    uint32_t width;
    uint32_t channels;
    uint64_t value_offset;    /* floats for each sample, into the pass's workspace */
    uint64_t gradient_offset; /* the same, of the loss's gradient by the activation */
};

enum layer_type {
    LAYER_PICTURE_CONVOLUTION, /* from the batch's pictures; no input activation */
    LAYER_POOLED_PICTURE,      /* the same, 3x3, and the 2x2 max-pool behind it */
    LAYER_CONVOLUTION,
    LAYER_MAX_POOL,
    LAYER_GROUP_NORM,
    LAYER_NARROW_NORM, /* the same by sums of channels */
    LAYER_AVERAGE,
    LAYER_DROPOUT,
    LAYER_PICTURE,      /* the batch's pictures as an activation */
    LAYER_NONLINEARITY, /* of each value */
    LAYER_ADDITION,     /* of the activation `residual` */
    LAYER_COPY,         /* into some channels of its output */
    LAYER_AVERAGE_POOL,
    LAYER_GROUPED_CONVOLUTION, /* of any groups, kernel and padding */
    LAYER_DEPTHWISE,           /* every channel on its own */
    LAYER_LAYER_NORM,
    LAYER_EMBEDDING, /* from the batch's samples, which are tokens; no input activation */
    LAYER_POSITION,
    LAYER_GRU,
    LAYER_LSTM,
    LAYER_ATTENTION,
    LAYER_TYPES
};

enum nonlinearity {
    NONLINEARITY_NONE,
    NONLINEARITY_RELU,
    NONLINEARITY_RELU6,
    NONLINEARITY_GELU, /* x Phi(x) */
    NONLINEARITY_TANH,
    NONLINEARITY_SIGMOID,
};

/* One layer of any type; members that a type has no use for are 0. */
struct layer {
    enum layer_type type;
    int input; /* activation numbers; the picture is -1 */
    int output;
    int residual; /* norms of groups, LAYER_ADDITION: added to the result; -1: nothing */
    bool shared;  /* several layers read the result, so that nothing may be fused with it */

    /* Convolution. */
    uint32_t in_height; /* of the input, the picture's included */
    uint32_t in_width;
    uint32_t in_channels;
    uint32_t out_height;
    uint32_t out_width;
    uint32_t out_channels;
    uint32_t out_first; /* first channel that it writes of its output activation */
    uint32_t kernel_height;
    uint32_t kernel_width;
    uint32_t stride;
    uint32_t padding;   /* of columns */
    uint32_t padding_y; /* of lines */
    bool relu;          /* rectified in place; also norms of groups, LAYER_ADDITION */
    int weight;         /* parameter numbers; -1: none */
    int bias;

    /* Recurrent layers: hidden to hidden.  LAYER_ATTENTION: the projection of the results. */
    int second_weight;
    int second_bias;
    enum nonlinearity nonlinearity;
    bool last;   /* recurrent layers: only the last position */
    bool causal; /* LAYER_ATTENTION */

    uint32_t groups;  /* of channels; LAYER_ATTENTION: heads */
    float drop;       /* LAYER_DROPOUT: probability of dropping a value */
    uint32_t ordinal; /* LAYER_DROPOUT: counted from 0 */

    bool winograd;   /* by minimal filtering */
    bool two_by_two; /* the same, for maps of 2x2 pixels */
    /* Input gradient from transposed weights (else from transposed activations). */
    bool transposes_weights;

    /* Backward, planned by network_finish(): layers run last to first, so the last reader of an
     * activation is the first to write its gradient, and the others add to it. */
    bool adds_input_gradient;
    bool adds_residual_gradient;

    /* Memory that lives from forward to backward, and scratch memory of one call. */
    uint64_t saved_offset;
    uint64_t saved_floats;   /* for each sample */
    uint64_t scratch_fixed;  /* floats */
    uint64_t scratch_floats; /* for each sample */

    /* Transformed filters of the minimal filtering.  They are made anew for each step, in scratch
     * memory that layers share; in evaluation once, and each layer keeps its own. */
    uint64_t filters_offset;
    uint64_t filters_floats;
};

/* Purposes of host->random_fill(). */
enum { NETWORK_STREAM_INIT = 1, NETWORK_STREAM_DROPOUT = 16 /* + ordinal of the layer */ };

/* What a network minimises, mean over the samples of the mean over outputs z with targets t; of
 * classes, t is 1 for the sample's and 0 for the others. */
enum loss {
    LOSS_CROSS_ENTROPY, /* classes only */
    LOSS_SQUARED_ERROR, /* (z - t)^2 */
    LOSS_BINARY,        /* binary cross-entropy of sigmoid(z) and t in [0, 1] */
};

/* Which of several ways to the same result a network takes; and its loss. */
struct network_options {
    enum loss loss;
    bool direct;   /* no minimal filtering, nothing fused with a neighbour */
    bool openblas; /* matrix products by OpenBLAS */
};

struct backend;

struct network {
    const char *model; /* name, for messages */
    uint32_t channels; /* of the pictures */
    uint32_t height;
    uint32_t width;
    uint32_t classes; /* or values of a target */
    char sample[56];  /* the shape of a sample, for messages */
    bool real_targets;
    bool integers;   /* samples are int32 */
    uint32_t tokens; /* values of a picture are whole numbers below; 0: any */
    int output;      /* activation that the loss reads */
    struct network_options options;

    struct layer layer[NETWORK_MAX_LAYERS];
    struct activation activation[NETWORK_MAX_ACTIVATIONS];
    struct parameter parameter[NETWORK_MAX_PARAMETERS];
    int n_layers;
    int n_activations;
    int n_parameters;
    uint64_t n_weights; /* N */

    uint64_t forward_floats;  /* workspace of a forward pass, for each sample */
    uint64_t training_floats; /* and of a pass with gradients */
    uint64_t scratch_fixed;   /* floats */
    uint64_t scratch_floats;  /* for each sample */
    uint64_t filters_floats;  /* of all layers; evaluation only */

    const struct backend *backend;
    const osafl_profile *profile; /* NULL: nobody wants to know where time goes */
    osafl_status status;
    char error[512];
};

/* A convolution, or a fully connected layer when the kernel is as large as the map. */
struct convolution {
    const char *name; /* tensors NAME.weight and NAME.bias */
    uint32_t channels;
    uint32_t kernel;
    uint32_t stride; /* 0: 1 */
    uint32_t padding;
    uint32_t groups; /* 0: 1 */
    bool line;       /* along the columns of a picture of one line: 1-D */
    bool each;       /* network_linear(): of each position, not flattened */
    bool no_bias;
    bool relu;
    enum initializer init; /* of the weights */
    enum initializer bias_init;
};

enum { NETWORK_PICTURE = -1 };

/* Starts a network for the pictures and classes of a data set. */
void network_begin(struct network *net, const char *model, const osafl_dataset_info *data,
                   struct network_options options);

/* Each returns the number of the activation that it writes. */
int network_convolution(struct network *net, int input, const struct convolution *c);
/* Room for the results of several layers side by side. */
int network_concatenation(struct network *net, int like, uint32_t channels);
/* Writes channels first, ... of an activation made by network_concatenation(). */
void network_convolution_into(struct network *net, int input, const struct convolution *c,
                              int output, uint32_t first);
/* The same, for convolutions of the shape of c of an input. */
int network_concatenation_for(struct network *net, int input, const struct convolution *c,
                              uint32_t channels);
void network_copy_into(struct network *net, int input, int output, uint32_t first);
/* The picture as an activation, for layers that read no picture. */
int network_picture(struct network *net);
/* Flattens in the order (c, y, x); c->channels values a sample. */
int network_linear(struct network *net, int input, const struct convolution *c);
/* ceil: the last window may stand over the border (as PyTorch's ceil_mode); padding is -inf. */
int network_max_pool(struct network *net, int input, uint32_t kernel, uint32_t stride,
                     uint32_t padding, bool ceil);
/* Wu & He, ECCV 2018; eps 1e-5, affine.  residual: an activation to add before the ReLU, or -1. */
int network_group_norm(struct network *net, int input, const char *name, uint32_t groups,
                       int residual, bool relu);
/* The same, rounded otherwise; faster for groups whose channels do not fill vectors. */
int network_narrow_norm(struct network *net, int input, const char *name, uint32_t groups,
                        int residual, bool relu);
int network_average(struct network *net, int input);
/* Inverted dropout: kept values are scaled by 1/(1 - rate). */
int network_dropout(struct network *net, int input, double rate);

int network_activate(struct network *net, int input, enum nonlinearity f);
int network_add(struct network *net, int input, int other, bool relu);
/* Padding counts as zeros, as PyTorch has it. */
int network_average_pool(struct network *net, int input, uint32_t kernel, uint32_t stride,
                         uint32_t padding);

/* Sequences are activations of one line: a column is a position, its channels are the vector. */

/* Ba et al., 2016, over the channels of each position; eps 1e-5, affine. */
int network_layer_norm(struct network *net, int input, const char *name);
/* A vector of `size` for each value of the picture, which is a token below `tokens`. */
int network_embedding(struct network *net, const char *name, uint32_t tokens, uint32_t size);
/* Adds a vector of weights to each position. */
int network_position(struct network *net, int input, const char *name);
/* torch.nn.LSTM (Hochreiter & Schmidhuber, 1997) or torch.nn.GRU (Cho et al., 2014), one layer. */
int network_recurrent(struct network *net, int input, const char *name, uint32_t hidden, bool lstm,
                      bool last);
/* torch.nn.MultiheadAttention of a sequence with itself (Vaswani et al., 2017). */
int network_attention(struct network *net, int input, const char *name, uint32_t heads,
                      bool causal);

/* A failure of the caller's own; kept unless there was one before. */
void network_fail(struct network *net, const char *fmt, ...) OSAFL_PRINTF(2, 3);

/* Plans memory.  The last activation must hold one value for each class.  OSAFL_E_CONFIG with
 * net->error when the description failed. */
osafl_status network_finish(struct network *net);

/* Bytes of a workspace; UINT64_MAX when they do not fit. */
uint64_t network_workspace_bytes(const struct network *net, uint32_t batch,
                                 uint32_t evaluation_batch);

/* Which samples, with which weights, and where gradients go. */
struct pass {
    const struct network *net;
    const osafl_host *host;
    osafl_call *call;
    const osafl_step *step; /* NULL: evaluation */
    float *workspace;
    const float *picture; /* n * channels * height * width; NULL: */
    const int32_t *token; /* the same, whole numbers */
    const float *wanted;  /* n * classes: targets that are real numbers */
    uint32_t n;
    const float *w;
    float *filters;     /* evaluation: all layers' transformed filters; NULL in training */
    bool filters_ready; /* they were made before */
    /* Weight gradients: target = scale * gradient, or target += scale * gradient. */
    float *target;
    float scale;
    bool add;
};

/* What layer i is, for people; the texts last as long as the network and `name`. */
struct network_layer {
    char name[64]; /* of its tensors; "": none */
    const char *kind;
    uint64_t parameters;
    double operations; /* of a forward pass of a sample; 0: few */
};
struct network_layer network_layer_of(const struct network *net, int i);

/* Initial parameters, the same whatever the internal layout. */
osafl_status network_init(const struct network *net, const osafl_host *h, osafl_call *c, float *w);
/* Tensor p between w and the C order of its shape. */
void network_export(const struct network *net, int p, const float *w, float *out);
void network_import(const struct network *net, int p, const float *in, float *w);

/* Mean loss of a batch; target as struct pass says.  label: NULL with targets that are real
 * numbers.  OSAFL_E_DATA with a message when a picture holds what is no token. */
osafl_status network_train(struct pass *pass, const int32_t *label, double *loss);
/* value[2 i] = 1 when sample i is classified correctly, value[2 i + 1] = its loss; with targets
 * that are real numbers value[i] = its loss. */
osafl_status network_evaluate(struct pass *pass, const int32_t *label, double *value);

/* Entropy and margin of each sample; for networks that end in classes by cross-entropy. */
osafl_status network_score(struct pass *pass, double *value);

#endif
