/* layers.c - describes a network: shapes, parameters and memory of its layers. */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "describe.h"

/* Larger numbers than anyone trains, small enough that no product below overflows. */
static const uint64_t max_weights = UINT64_C(1) << 31;
static const uint64_t max_activation = UINT64_C(1) << 32;

void network_fail(struct network *net, const char *fmt, ...)
{
    if (net->status != OSAFL_OK)
        return;
    net->status = OSAFL_E_CONFIG;
    va_list args;
    va_start(args, fmt);
    vsnprintf(net->error, sizeof net->error, fmt, args);
    va_end(args);
}

/* Samples of fewer dimensions are pictures of one channel, or of one line. */
static void take_shape(struct network *net, const osafl_dataset_info *data)
{
    uint32_t *const size[] = {&net->channels, &net->height, &net->width};
    int used = 0;
    for (uint32_t i = 0; i < data->rank; i++)
        used += snprintf(net->sample + used, sizeof net->sample - (size_t)used, "%s%" PRIu32,
                         i > 0 ? " x " : "", data->shape[i]);
    for (uint32_t i = 0; i < 3; i++)
        *size[i] = i + data->rank < 3 ? 1 : data->shape[i + data->rank - 3];
}

void network_begin(struct network *net, const char *model, const osafl_dataset_info *data,
                   struct network_options options)
{
    memset(net, 0, sizeof *net);
    net->options = options;
    net->model = model;
    take_shape(net, data);
    net->integers = data->x_type == OSAFL_X_INT32;
    net->classes = data->target_size;
    net->real_targets = data->target_type != OSAFL_TARGET_CLASS;
    if (net->real_targets && options.loss == LOSS_CROSS_ENTROPY)
        network_fail(net,
                     "%s: the data set's targets are real numbers, and cross-entropy is of "
                     "classes; set model.plugin = \"network\" with loss = \"squared_error\"",
                     model);
    else if (net->real_targets ? data->target_size < 1 : data->target_size < 2)
        network_fail(net, "%s needs at least 2 classes, the data set has %" PRIu32, model,
                     data->target_size);
    else if (data->rank > 3)
        network_fail(net,
                     "%s: samples of %s have %" PRIu32 " dimensions; the model reads up to three: "
                     "channels, height, width",
                     model, net->sample, data->rank);
    else if (net->channels < 1 || net->height < 1 || net->width < 1)
        network_fail(net, "%s: the data set's samples are empty", model);
    else if (net->channels > 65536 || net->height > 65536 || net->width > 16777216)
        network_fail(net, "%s: samples of %s are too large", model, net->sample);
}

static int add_activation(struct network *net, uint64_t height, uint64_t width, uint64_t channels)
{
    if (channels > UINT32_MAX || channels * height > UINT32_MAX ||
        channels * height * width > max_activation) {
        network_fail(net, "%s: samples of %s need too much memory", net->model, net->sample);
        return 0;
    }
    if (net->n_activations == NETWORK_MAX_ACTIVATIONS) {
        network_fail(net, "%s: more than %d results of layers", net->model,
                     NETWORK_MAX_ACTIVATIONS);
        return 0;
    }
    net->activation[net->n_activations] = (struct activation){
        .height = (uint32_t)height, .width = (uint32_t)width, .channels = (uint32_t)channels};
    return net->n_activations++;
}

struct layer *describe_layer(struct network *net, enum layer_type type, int input)
{
    if (net->status != OSAFL_OK)
        return NULL;
    if (net->n_layers == NETWORK_MAX_LAYERS) {
        network_fail(net, "%s: more than %d layers", net->model, NETWORK_MAX_LAYERS);
        return NULL;
    }
    struct layer *l = &net->layer[net->n_layers++];
    *l = (struct layer){.type = type,
                        .input = input,
                        .output = -1,
                        .residual = -1,
                        .weight = -1,
                        .bias = -1,
                        .second_weight = -1,
                        .second_bias = -1};
    return l;
}

struct layer *describe_alike(struct network *net, enum layer_type type, int input)
{
    struct layer *l = describe_layer(net, type, input);
    if (l == NULL)
        return NULL;
    const struct activation in = net->activation[input];
    l->in_height = l->out_height = in.height;
    l->in_width = l->out_width = in.width;
    l->in_channels = l->out_channels = in.channels;
    return l;
}

int describe_output(struct network *net, struct layer *l)
{
    return l->output = add_activation(net, l->out_height, l->out_width, l->out_channels);
}

int describe_parameter(struct network *net, const char *name, const char *suffix,
                       struct parameter p)
{
    if (net->n_parameters == NETWORK_MAX_PARAMETERS) {
        network_fail(net, "%s: more than %d tensors", net->model, NETWORK_MAX_PARAMETERS);
        return 0;
    }
    assert(strlen(name) + strlen(suffix) < sizeof p.name);
    snprintf(p.name, sizeof p.name, "%s%s", name, suffix);
    p.offset = net->n_weights;
    /* Factors are below 2^32 each, so dividing is enough to keep the product from overflowing. */
    const uint64_t in = p.in * p.spatial;
    if (in > max_weights || p.out > max_weights / in || net->n_weights > max_weights - in * p.out) {
        network_fail(net, "%s: more than %" PRIu64 " parameters", net->model, max_weights);
        return 0;
    }
    net->n_weights += in * p.out;
    net->parameter[net->n_parameters] = p;
    return net->n_parameters++;
}

struct parameter describe_vector(uint64_t size, enum initializer init, uint64_t fan_in)
{
    return (struct parameter){.out = size,
                              .in = 1,
                              .spatial = 1,
                              .rank = 1,
                              .shape = {size},
                              .init = init,
                              .fan_in = fan_in};
}

struct parameter describe_matrix(uint64_t out, uint64_t in, enum initializer init, uint64_t fan_in)
{
    return (struct parameter){.out = out,
                              .in = in,
                              .spatial = 1,
                              .rank = 2,
                              .shape = {out, in},
                              .init = init,
                              .fan_in = fan_in};
}

/* Positions of a window on a line; 0 when there is none. */
static uint32_t positions(uint32_t length, uint32_t kernel, uint32_t stride, uint32_t padding,
                          bool ceil)
{
    const uint64_t reach = (uint64_t)length + 2 * (uint64_t)padding + (ceil ? stride - 1 : 0);
    if (reach < kernel)
        return 0;
    uint64_t n = (reach - kernel) / stride + 1;
    /* A window that starts behind the picture would see nothing of it. */
    if (ceil && (n - 1) * stride >= (uint64_t)length + padding)
        n--;
    return (uint32_t)n;
}

static void fail_too_small(struct network *net, const char *what)
{
    network_fail(net, "samples of %s are too small for %s: nothing is left of them at %s",
                 net->sample, net->model, what);
}

/* Geometry of a layer that slides a window over its input. */
static void set_window(struct network *net, struct layer *l, uint32_t kernel_height,
                       uint32_t kernel_width, uint32_t stride, uint32_t padding, bool ceil)
{
    const struct activation *in = l->input >= 0 ? &net->activation[l->input] : NULL;
    l->in_height = in != NULL ? in->height : net->height;
    l->in_width = in != NULL ? in->width : net->width;
    l->in_channels = in != NULL ? in->channels : net->channels;
    l->kernel_height = kernel_height;
    l->kernel_width = kernel_width;
    l->stride = stride;
    l->padding = l->padding_y = padding;
    l->out_height = positions(l->in_height, kernel_height, stride, padding, ceil);
    l->out_width = positions(l->in_width, kernel_width, stride, padding, ceil);
}

static void add_weights(struct network *net, struct layer *l, const struct convolution *c,
                        bool linear)
{
    const uint64_t spatial = (uint64_t)l->kernel_height * l->kernel_width;
    struct parameter p = {.out = l->out_channels,
                          .in = l->in_channels / l->groups,
                          .spatial = spatial,
                          .groups = l->type == LAYER_DEPTHWISE ? 1 : l->groups,
                          .init = c->init,
                          .fan_in = l->in_channels / l->groups * spatial};
    p.shape[0] = l->out_channels;
    p.shape[1] = linear ? p.fan_in : p.in;
    p.shape[2] = c->line ? l->kernel_width : l->kernel_height;
    p.shape[3] = l->kernel_width;
    p.rank = linear ? 2 : c->line ? 3 : 4;
    l->weight = describe_parameter(net, c->name, ".weight", p);
    if (!c->no_bias)
        l->bias = describe_parameter(net, c->name, ".bias",
                                     describe_vector(l->out_channels, c->bias_init, p.fan_in));
}

/* Whether minimal filtering pays: 3x3, stride 1, enough channels, and tiles of 4x4 outputs that do
 * not stand over the map by much. */
static bool suits_winograd(const struct network *net, const struct layer *l)
{
    const uint64_t tiled = (uint64_t)((l->out_height + 3) / 4) * ((l->out_width + 3) / 4) * 16;
    const uint64_t pixels = (uint64_t)l->out_height * l->out_width;
    return !net->options.direct && l->kernel_height == 3 && l->kernel_width == 3 &&
           l->stride == 1 && l->padding == 1 && l->in_channels % 16 == 0 &&
           l->out_channels % 16 == 0 && 4 * pixels >= 3 * tiled;
}

/* Whether the map is one of 2x2 pixels and the convolution one that keeps it. */
static bool suits_two_by_two(const struct network *net, const struct layer *l)
{
    return !net->options.direct && l->in_height == 2 && l->in_width == 2 && l->out_height == 2 &&
           l->out_width == 2 && l->kernel_height == 3 && l->kernel_width == 3 &&
           !net->options.openblas && l->in_channels % 16 == 0 && l->out_channels % 16 == 0;
}

/* Memory of two_by_two.c. */
static void plan_two_by_two(struct layer *l)
{
    const uint64_t channels = (uint64_t)l->in_channels + l->out_channels;
    l->two_by_two = true;
    /* Transformed filters and a tile of outputs; elements of a sample's values, and elements and
     * pixels in columns, which may be padded by 15. */
    l->scratch_fixed = 9 * (8 * WEIGHT_PANEL + 16 + 16 * 16) + (9 + 4) * 15 * channels;
    l->scratch_floats = (9 + 9 + 4) * channels;
}

/* Whether minimal filtering suits a first convolution that moves by 2 pixels. */
static bool suits_strided_picture(const struct network *net, const struct layer *l)
{
    return !net->options.direct && l->kernel_height == 7 && l->kernel_width == 7 &&
           l->stride == 2 && l->out_channels % 16 == 0 && l->in_channels <= 16;
}

/* Memory of strided_picture.c. */
static void plan_strided_picture(struct layer *l)
{
    const uint64_t tiles = (l->out_width + UINT64_C(3)) / 4;
    const uint64_t lines = l->in_height + 2 * (uint64_t)l->padding;
    const uint64_t channels = 2 * (uint64_t)l->in_channels; /* even and odd pixels */
    l->winograd = true;
    l->filters_floats = 7 * 7 * channels * l->out_channels;
    l->saved_floats = 7 * (lines * tiles * channels + 16);
    l->scratch_fixed = l->filters_floats + 16;
    l->scratch_floats = lines * (4 * tiles + 3) * channels + 7 * tiles * WEIGHT_PANEL;
}

/* Memory of a convolution, and how it finds its input gradient. */
static void plan_convolution(struct network *net, struct layer *l)
{
    if (l->type == LAYER_PICTURE_CONVOLUTION && suits_strided_picture(net, l)) {
        plan_strided_picture(l);
        return;
    }
    if (l->type == LAYER_PICTURE_CONVOLUTION) {
        l->saved_floats = (uint64_t)l->in_channels * (l->in_height + 2 * l->padding) *
                          (l->in_width + 2 * l->padding);
        return;
    }
    /* Filters that are transformed as a whole lie as a whole. */
    struct parameter *p = &net->parameter[l->weight];
    p->taps_together = suits_two_by_two(net, l) || suits_winograd(net, l);
    if (suits_two_by_two(net, l)) {
        plan_two_by_two(l);
        return;
    }
    if (suits_winograd(net, l)) {
        const uint64_t in_blocks = (l->in_channels + WEIGHT_PANEL - 1) / WEIGHT_PANEL;
        const uint64_t out_blocks = (l->out_channels + WEIGHT_PANEL - 1) / WEIGHT_PANEL;
        const uint64_t most_blocks = in_blocks > out_blocks ? in_blocks : out_blocks;
        const uint64_t rows = 36 * (WINOGRAD_ROWS * WEIGHT_PANEL + 16);
        const uint64_t filters = 36 * (WEIGHT_PANEL * WEIGHT_PANEL + 16);
        l->winograd = true;
        l->filters_floats = in_blocks * out_blocks * filters;
        l->scratch_fixed = (2 + most_blocks + in_blocks) * rows + l->filters_floats + filters;
        return;
    }
    /* Transposed: either all weights, or both activations, padded to whole vectors. */
    enum { MOST_LANES = 16 };
    const uint64_t weights = p->out * p->in * p->spatial;
    const uint64_t activations = (uint64_t)l->in_height * l->in_width * l->in_channels +
                                 (uint64_t)l->out_height * l->out_width * l->out_channels;
    l->transposes_weights = l->stride == 1 && weights <= 16 * activations;
    l->scratch_fixed = l->transposes_weights ? weights : (MOST_LANES - 1) * activations;
    l->scratch_floats = l->transposes_weights ? 0 : activations;
}

/* Memory of a convolution of groups, or of any padding, and of one of single channels. */
static void plan_grouped(struct network *net, struct layer *l)
{
    const struct parameter *p = &net->parameter[l->weight];
    if (l->type == LAYER_DEPTHWISE)
        l->scratch_fixed = 2 * p->spatial * p->out; /* sums in double */
    else
        l->scratch_fixed = p->out / l->groups * p->in * p->spatial; /* transposed, of a group */
}

/* What is not a plain convolution of all channels goes other ways. */
static enum layer_type type_of(int input, const struct convolution *c, uint32_t in_channels)
{
    if (c->groups > 1 && c->groups == in_channels)
        return LAYER_DEPTHWISE;
    if (c->groups > 1 || 2 * c->padding >= (c->kernel != 0 ? c->kernel : 1))
        return LAYER_GROUPED_CONVOLUTION;
    return input < 0 ? LAYER_PICTURE_CONVOLUTION : LAYER_CONVOLUTION;
}

static bool groups_divide(struct network *net, const struct convolution *c, uint32_t in_channels)
{
    if (c->groups > 1 && (in_channels % c->groups != 0 || c->channels % c->groups != 0))
        network_fail(net,
                     "groups = %" PRIu32 " does not divide the %" PRIu32 " channels that it reads "
                     "and the %" PRIu32 " that it gives",
                     c->groups, in_channels, c->channels);
    return net->status == OSAFL_OK;
}

/* The layer without its output activation; NULL when the network has failed. */
static struct layer *begin_convolution(struct network *net, int input, const struct convolution *c,
                                       bool linear)
{
    if (net->status != OSAFL_OK)
        return NULL;
    const uint32_t in_channels = input < 0 ? net->channels : net->activation[input].channels;
    const uint32_t in_height = input < 0 ? net->height : net->activation[input].height;
    if (!groups_divide(net, c, in_channels))
        return NULL;
    if (c->line && in_height != 1) {
        network_fail(net, "a 1-D convolution reads one line, not %" PRIu32, in_height);
        return NULL;
    }
    struct layer *l = describe_layer(net, type_of(input, c, in_channels), input);
    if (l == NULL)
        return NULL;
    uint32_t kernel_height = c->line ? 1 : c->kernel;
    uint32_t kernel_width = c->kernel;
    if (linear) {
        kernel_height = c->each ? 1 : in_height;
        kernel_width = c->each ? 1 : input < 0 ? net->width : net->activation[input].width;
    }
    /* With less than half a kernel of padding, tap (padding, padding) meets the picture at every
     * position; the arithmetic of plain convolutions relies on it. */
    set_window(net, l, kernel_height, kernel_width, c->stride != 0 ? c->stride : 1, c->padding,
               false);
    if (c->line) {
        l->padding_y = 0;
        l->out_height = 1;
    }
    l->out_channels = c->channels;
    l->groups = c->groups > 1 ? c->groups : 1;
    l->relu = c->relu;
    if (l->out_height == 0 || l->out_width == 0) {
        fail_too_small(net, c->name);
        return NULL;
    }
    add_weights(net, l, c, linear);
    if (net->status == OSAFL_OK && l->type >= LAYER_GROUPED_CONVOLUTION)
        plan_grouped(net, l);
    else if (net->status == OSAFL_OK)
        plan_convolution(net, l);
    return net->status == OSAFL_OK ? l : NULL;
}

static int finish_convolution(struct network *net, struct layer *l)
{
    if (l == NULL)
        return 0;
    return describe_output(net, l);
}

int network_convolution(struct network *net, int input, const struct convolution *c)
{
    return finish_convolution(net, begin_convolution(net, input, c, false));
}

int network_linear(struct network *net, int input, const struct convolution *c)
{
    return finish_convolution(net, begin_convolution(net, input, c, true));
}

int network_concatenation(struct network *net, int like, uint32_t channels)
{
    if (net->status != OSAFL_OK)
        return 0;
    const struct activation *a = &net->activation[like];
    return add_activation(net, a->height, a->width, channels);
}

int network_concatenation_for(struct network *net, int input, const struct convolution *c,
                              uint32_t channels)
{
    if (net->status != OSAFL_OK)
        return 0;
    const uint32_t stride = c->stride != 0 ? c->stride : 1;
    const uint32_t height = input < 0 ? net->height : net->activation[input].height;
    const uint32_t width = input < 0 ? net->width : net->activation[input].width;
    return add_activation(net, positions(height, c->kernel, stride, c->padding, false),
                          positions(width, c->kernel, stride, c->padding, false), channels);
}

/* Whether what the layer gives fits beside others. */
static bool fits_beside(struct network *net, const struct layer *l, int output)
{
    const struct activation *a = &net->activation[output];
    if (l->out_height != a->height || l->out_width != a->width)
        network_fail(
            net, "%" PRIu32 " x %" PRIu32 " values cannot be joined with %" PRIu32 " x %" PRIu32,
            l->out_height, l->out_width, a->height, a->width);
    return net->status == OSAFL_OK;
}

void network_copy_into(struct network *net, int input, int output, uint32_t first)
{
    struct layer *l = describe_alike(net, LAYER_COPY, input);
    if (l == NULL || !fits_beside(net, l, output))
        return;
    l->output = output;
    l->out_first = first;
}

void network_convolution_into(struct network *net, int input, const struct convolution *c,
                              int output, uint32_t first)
{
    struct layer *l = begin_convolution(net, input, c, false);
    if (l == NULL || !fits_beside(net, l, output))
        return;
    assert(first + l->out_channels <= net->activation[output].channels);
    l->output = output;
    l->out_first = first;
}

/* Whether a max-pool is the one that LAYER_POOLED_PICTURE computes with the layer before. */
static bool fits_picture_convolution(const struct network *net, int input, uint32_t kernel,
                                     uint32_t stride, uint32_t padding, bool ceil)
{
    const struct layer *l = &net->layer[net->n_layers - 1];
    return !net->options.direct && l->output == input && !l->shared &&
           l->type == LAYER_PICTURE_CONVOLUTION && l->kernel_height == 3 && l->kernel_width == 3 &&
           l->stride == 1 && l->padding == 1 && l->out_channels % 16 == 0 && l->in_channels <= 4 &&
           kernel == 2 && stride == 2 && padding == 0 && !ceil;
}

/* Turns the last layer and its activation into the fused ones. */
static int pool_picture_convolution(struct network *net)
{
    struct layer *l = &net->layer[net->n_layers - 1];
    l->type = LAYER_POOLED_PICTURE;
    l->out_height /= 2;
    l->out_width /= 2;
    if (l->out_height == 0 || l->out_width == 0) {
        fail_too_small(net, "a max-pool");
        return 0;
    }
    struct activation *a = &net->activation[l->output];
    a->height = l->out_height;
    a->width = l->out_width;
    /* Bordered pictures, and a byte for each result; transformed filters and one patch. */
    const uint64_t height = (l->out_height + 1) / 2 * 4 + 2;
    const uint64_t width = (l->out_width + 1) / 2 * 4 + 2;
    const uint64_t results = (uint64_t)l->out_height * l->out_width * l->out_channels;
    l->saved_floats = l->in_channels * height * width + 16 + results / 4;
    l->filters_floats = 36 * (uint64_t)l->in_channels * l->out_channels;
    l->scratch_fixed = l->filters_floats + 36 * 15 * (uint64_t)l->in_channels;
    l->scratch_floats = 36 * (uint64_t)l->in_channels;
    return l->output;
}

int network_max_pool(struct network *net, int input, uint32_t kernel, uint32_t stride,
                     uint32_t padding, bool ceil)
{
    if (net->status != OSAFL_OK)
        return 0;
    assert(kernel <= 8 && 2 * padding <= kernel); /* max_pool.c has room for 64 cells */
    if (fits_picture_convolution(net, input, kernel, stride, padding, ceil))
        return pool_picture_convolution(net);
    struct layer *l = describe_layer(net, LAYER_MAX_POOL, input);
    if (l == NULL)
        return 0;
    set_window(net, l, kernel, kernel, stride, padding, ceil);
    l->out_channels = l->in_channels;
    if (l->out_height == 0 || l->out_width == 0) {
        fail_too_small(net, "a max-pool");
        return 0;
    }
    l->output = add_activation(net, l->out_height, l->out_width, l->out_channels);
    /* One byte for each value: which cell of the window won. */
    l->saved_floats = ((uint64_t)l->out_height * l->out_width * l->out_channels + 3) / 4;
    return l->output;
}

static bool same_shape(struct network *net, int one, int other)
{
    const struct activation a = net->activation[one];
    const struct activation b = net->activation[other];
    if (a.height != b.height || a.width != b.width || a.channels != b.channels)
        network_fail(net,
                     "it adds %" PRIu32 " x %" PRIu32 " x %" PRIu32 " values to %" PRIu32
                     " x %" PRIu32 " x %" PRIu32 " (channels, height, width)",
                     b.channels, b.height, b.width, a.channels, a.height, a.width);
    return net->status == OSAFL_OK;
}

/* Without scratch memory; NULL after a failure. */
static struct layer *describe_norm(struct network *net, enum layer_type type, int input,
                                   const char *name, uint32_t groups, int residual, bool relu)
{
    if (net->status != OSAFL_OK)
        return NULL;
    const struct activation in = net->activation[input];
    if (groups == 0 || in.channels % groups != 0) {
        network_fail(net, "%s: groups = %" PRIu32 " does not divide the %" PRIu32 " channels of %s",
                     net->model, groups, in.channels, name);
        return NULL;
    }
    if (residual >= 0 && !same_shape(net, input, residual))
        return NULL;
    struct layer *l = describe_alike(net, type, input);
    if (l == NULL)
        return NULL;
    l->groups = groups;
    l->residual = residual;
    l->relu = relu;
    l->weight = describe_parameter(net, name, ".weight", describe_vector(in.channels, INIT_ONE, 1));
    l->bias = describe_parameter(net, name, ".bias", describe_vector(in.channels, INIT_ZERO, 1));
    l->output = add_activation(net, in.height, in.width, in.channels);
    l->saved_floats = 2 * (uint64_t)groups; /* mean and 1/deviation */
    return l;
}

int network_group_norm(struct network *net, int input, const char *name, uint32_t groups,
                       int residual, bool relu)
{
    struct layer *l = describe_norm(net, LAYER_GROUP_NORM, input, name, groups, residual, relu);
    if (l == NULL)
        return 0;
    l->scratch_fixed = 6 * (uint64_t)l->in_channels;     /* two sums, in double and in float */
    l->scratch_floats = (4 + 2 * 16) * (uint64_t)groups; /* two in double, and two vectors */
    return l->output;
}

int network_narrow_norm(struct network *net, int input, const char *name, uint32_t groups,
                        int residual, bool relu)
{
    struct layer *l = describe_norm(net, LAYER_NARROW_NORM, input, name, groups, residual, relu);
    if (l == NULL)
        return 0;
    l->scratch_floats = 8 * (uint64_t)l->in_channels; /* two in double, four in float */
    return l->output;
}

int network_average(struct network *net, int input)
{
    if (net->status != OSAFL_OK)
        return 0;
    struct layer *l = describe_alike(net, LAYER_AVERAGE, input);
    if (l == NULL)
        return 0;
    l->out_height = l->out_width = 1;
    return describe_output(net, l);
}

int network_dropout(struct network *net, int input, double rate)
{
    if (net->status != OSAFL_OK)
        return 0;
    assert(rate >= 0 && rate < 1);
    uint32_t ordinal = 0;
    for (int i = 0; i < net->n_layers; i++)
        ordinal += net->layer[i].type == LAYER_DROPOUT;
    struct layer *l = describe_alike(net, LAYER_DROPOUT, input);
    if (l == NULL)
        return 0;
    const struct activation in = net->activation[input];
    l->drop = (float)rate;
    l->ordinal = ordinal;
    l->output = add_activation(net, in.height, in.width, in.channels);
    l->saved_floats = (uint64_t)in.height * in.width * in.channels; /* the factors */
    l->scratch_floats = l->saved_floats / 2 + 1;                    /* random words */
    return l->output;
}

int network_picture(struct network *net)
{
    struct layer *l = describe_layer(net, LAYER_PICTURE, NETWORK_PICTURE);
    if (l == NULL)
        return 0;
    l->in_height = l->out_height = net->height;
    l->in_width = l->out_width = net->width;
    l->in_channels = l->out_channels = net->channels;
    return describe_output(net, l);
}

int network_activate(struct network *net, int input, enum nonlinearity f)
{
    struct layer *l = describe_alike(net, LAYER_NONLINEARITY, input);
    if (l == NULL)
        return 0;
    l->nonlinearity = f;
    return describe_output(net, l);
}

int network_add(struct network *net, int input, int other, bool relu)
{
    if (net->status != OSAFL_OK || !same_shape(net, input, other))
        return 0;
    struct layer *l = describe_alike(net, LAYER_ADDITION, input);
    if (l == NULL)
        return 0;
    l->residual = other;
    l->relu = relu;
    return describe_output(net, l);
}

int network_average_pool(struct network *net, int input, uint32_t kernel, uint32_t stride,
                         uint32_t padding)
{
    struct layer *l = describe_layer(net, LAYER_AVERAGE_POOL, input);
    if (l == NULL)
        return 0;
    set_window(net, l, kernel, kernel, stride, padding, false);
    l->out_channels = l->in_channels;
    if (l->out_height == 0 || l->out_width == 0) {
        fail_too_small(net, "an average-pool");
        return 0;
    }
    return describe_output(net, l);
}
