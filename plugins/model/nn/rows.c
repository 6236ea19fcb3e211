/* rows.c - from rows of settings to the layers of a network. */
#include "rows.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_CHANNELS = 1 << 20, MOST_NAME = 32, NO_ROW = -2 };

static const char *const channel_words[] = {"classes", NULL};
static const char *const activations[] = {"none", "relu", "relu6", "gelu", "tanh", "sigmoid", NULL};
static const char *const inits[] = {
    "torch",  "he_uniform", "he_normal", "he_normal_fan_out", "xavier_uniform", "xavier_normal",
    "normal", "zero",       NULL};

#define S struct network_row
static const osafl_param row_params[] = {
    OSAFL_TEXT(S, name, "",
               "Name of the layer and its tensors; empty: its number in a torch.nn.Sequential"),
    OSAFL_TEXT(S, from, "", "The layer that it reads, or \"input\"; empty: the one before"),
    OSAFL_INT_OR(S, conv, 0, 0, MOST_CHANNELS, channel_words,
                 "2-D convolution to so many channels"),
    OSAFL_INT_OR(S, conv1d, 0, 0, MOST_CHANNELS, channel_words,
                 "1-D convolution to so many channels"),
    OSAFL_INT(S, depthwise, 0, 0, 64,
              "2-D convolution of each channel on its own, to so many channels each"),
    OSAFL_INT_OR(S, linear, 0, 0, MOST_CHANNELS, channel_words,
                 "Fully connected layer to so many values; of a sequence, at each position"),
    OSAFL_INT(S, max_pool, 0, 0, 8, "Maximum over windows of this size", .unit = "pixels"),
    OSAFL_INT(S, average_pool, 0, 0, 1024, "Mean over windows of this size", .unit = "pixels"),
    OSAFL_BOOL(S, global_average, false, "Mean over the whole picture or sequence"),
    OSAFL_INT(S, group_norm, 0, 0, MOST_CHANNELS, "GroupNorm with so many groups of channels",
              .unit = "groups"),
    OSAFL_BOOL(S, layer_norm, false, "LayerNorm over the channels of each position"),
    OSAFL_REAL(S, dropout, 0, 0, 1, "Dropout with this probability", .flags = OSAFL_P_HI_OPEN),
    OSAFL_BOOL(S, flatten, false, "One vector of each sample, in the order channel, line, column"),
    OSAFL_INT(S, embedding, 0, 0, MOST_CHANNELS,
              "Embedding of tokens below this number, which are the values of the samples",
              .unit = "tokens"),
    OSAFL_BOOL(S, position, false, "Adds a learned vector to each position of a sequence"),
    OSAFL_INT(S, gru, 0, 0, MOST_CHANNELS, "Gated recurrent unit with so many hidden values"),
    OSAFL_INT(S, lstm, 0, 0, MOST_CHANNELS, "Long short-term memory with so many hidden values"),
    OSAFL_INT(S, attention, 0, 0, 1024, "Self-attention with so many heads", .unit = "heads"),
    OSAFL_TEXT(S, concat, "", "Channels of these layers side by side: \"a, b\""),
    OSAFL_TEXT(S, add, "", "Adds the result of this layer, before the activation"),
    OSAFL_BOOL(S, relu, false, "Short for activation = \"relu\""),
    OSAFL_CHOICE(S, activation, 0, activations, "Function applied to every value at the end"),
    OSAFL_INT(S, kernel, 0, 0, 1024, "Size of a convolution's filter", .unit = "pixels"),
    OSAFL_INT(S, stride, 0, 0, 1024,
              "Step of a window; 0: 1 for a convolution, the window's size for a pool",
              .unit = "pixels"),
    OSAFL_INT(S, padding, 0, 0, 1024, "Zeros on each side of the input", .unit = "pixels"),
    OSAFL_INT(S, groups, 1, 1, MOST_CHANNELS, "Groups of channels that a convolution keeps apart"),
    OSAFL_INT(S, size, 0, 0, MOST_CHANNELS, "Values of an embedding's vector"),
    OSAFL_BOOL(S, bias, true, "Whether a convolution or linear layer has a bias"),
    OSAFL_BOOL(S, ceil, false, "Whether a max-pool's last window may extend beyond the border"),
    OSAFL_BOOL(S, causal, false, "Whether attention sees only earlier positions"),
    OSAFL_BOOL(S, last, false, "Whether a recurrent layer gives only its last position"),
    OSAFL_CHOICE(S, init, 0, inits,
                 "Initial weights: as torch does by default, or by name with biases of 0; "
                 "\"normal\" is N(0, 0.01^2)"),
};
#undef S

const osafl_row_type network_row_type = OSAFL_ROW_TYPE(row_params, struct network_row);

enum kind {
    CONV,
    CONV1D,
    DEPTHWISE,
    LINEAR,
    MAX_POOL,
    AVERAGE_POOL,
    GLOBAL_AVERAGE,
    GROUP_NORM,
    LAYER_NORM,
    DROPOUT,
    FLATTEN,
    EMBEDDING,
    POSITION,
    GRU,
    LSTM,
    ATTENTION,
    CONCAT,
    PLAIN, /* an addition or an activation */
    KINDS
};

/* Settings that belong to some kinds only. */
enum {
    HAS_KERNEL = 1,
    HAS_STRIDE = 2,
    HAS_PADDING = 4,
    HAS_GROUPS = 8,
    HAS_SIZE = 16,
    HAS_BIAS = 32,
    HAS_CEIL = 64,
    HAS_CAUSAL = 128,
    HAS_LAST = 256,
    HAS_INIT = 512,
};
enum {
    OPTIONS = 10,
    WINDOW = HAS_KERNEL | HAS_STRIDE | HAS_PADDING,
    WEIGHTS = HAS_BIAS | HAS_INIT
};

static const char *const option_names[OPTIONS] = {"kernel", "stride", "padding", "groups", "size",
                                                  "bias",   "ceil",   "causal",  "last",   "init"};

static const struct {
    const char *name;
    unsigned options;
} kinds[KINDS] = {
    [CONV] = {"conv", WINDOW | WEIGHTS | HAS_GROUPS},
    [CONV1D] = {"conv1d", WINDOW | WEIGHTS | HAS_GROUPS},
    [DEPTHWISE] = {"depthwise", WINDOW | WEIGHTS},
    [LINEAR] = {"linear", WEIGHTS},
    [MAX_POOL] = {"max_pool", HAS_STRIDE | HAS_PADDING | HAS_CEIL},
    [AVERAGE_POOL] = {"average_pool", HAS_STRIDE | HAS_PADDING},
    [GLOBAL_AVERAGE] = {"global_average", 0},
    [GROUP_NORM] = {"group_norm", 0},
    [LAYER_NORM] = {"layer_norm", 0},
    [DROPOUT] = {"dropout", 0},
    [FLATTEN] = {"flatten", 0},
    [EMBEDDING] = {"embedding", HAS_SIZE},
    [POSITION] = {"position", 0},
    [GRU] = {"gru", HAS_LAST},
    [LSTM] = {"lstm", HAS_LAST},
    [ATTENTION] = {"attention", HAS_CAUSAL},
    [CONCAT] = {"concat", 0},
    [PLAIN] = {"add", 0},
};

/* What a row has become. */
struct built {
    enum kind kind;
    int input;      /* row number; NETWORK_PICTURE; NO_ROW: none */
    int added;      /* row number; NO_ROW: none */
    uint32_t uses;  /* rows that read it */
    int concat;     /* row of the concatenation that it writes straight into; NO_ROW: none */
    uint32_t first; /* channel there */
    int output;     /* activation number */
    bool sequence;  /* positions along a line, as vectors */
    bool flat;      /* one vector already */
};

struct builder {
    struct network *net;
    const struct network_row *row;
    uint32_t n;
    uint32_t modules; /* of a torch.nn.Sequential, so far */
    int picture;      /* activation that holds the picture; NETWORK_PICTURE: none yet */
    struct built built[ROWS_MOST];
};

/* ---- what rows say ---- */

static bool is_given(const char *text)
{
    return text[0] != '\0';
}

static void kinds_of(const struct network_row *r, bool given[KINDS])
{
    const bool all[KINDS] = {
        [CONV] = r->conv != 0,
        [CONV1D] = r->conv1d != 0,
        [DEPTHWISE] = r->depthwise != 0,
        [LINEAR] = r->linear != 0,
        [MAX_POOL] = r->max_pool != 0,
        [AVERAGE_POOL] = r->average_pool != 0,
        [GLOBAL_AVERAGE] = r->global_average,
        [GROUP_NORM] = r->group_norm != 0,
        [LAYER_NORM] = r->layer_norm,
        [DROPOUT] = r->dropout > 0,
        [FLATTEN] = r->flatten,
        [EMBEDDING] = r->embedding != 0,
        [POSITION] = r->position,
        [GRU] = r->gru != 0,
        [LSTM] = r->lstm != 0,
        [ATTENTION] = r->attention != 0,
        [CONCAT] = is_given(r->concat),
    };
    memcpy(given, all, sizeof all);
}

static unsigned options_of(const struct network_row *r)
{
    return (r->kernel != 0 ? HAS_KERNEL : 0U) | (r->stride != 0 ? HAS_STRIDE : 0U) |
           (r->padding != 0 ? HAS_PADDING : 0U) | (r->groups != 1 ? HAS_GROUPS : 0U) |
           (r->size != 0 ? HAS_SIZE : 0U) | (!r->bias ? HAS_BIAS : 0U) | (r->ceil ? HAS_CEIL : 0U) |
           (r->causal ? HAS_CAUSAL : 0U) | (r->last ? HAS_LAST : 0U) |
           (r->init.index != 0 ? HAS_INIT : 0U);
}

static enum nonlinearity activation_of(const struct network_row *r)
{
    return r->relu ? NONLINEARITY_RELU : (enum nonlinearity)r->activation.index;
}

static enum kind find_kind(struct builder *b, const struct network_row *r)
{
    bool given[KINDS];
    int kind = PLAIN;
    kinds_of(r, given);
    for (int k = 0; k < PLAIN; k++) {
        if (!given[k])
            continue;
        if (kind != PLAIN)
            network_fail(b->net, "it is %s and %s; each layer has a row of its own",
                         kinds[kind].name, kinds[k].name);
        kind = k;
    }
    if (r->relu && r->activation.index != 0)
        network_fail(b->net, "relu and activation are both given");
    if (kind == PLAIN && !is_given(r->add) && activation_of(r) == NONLINEARITY_NONE)
        network_fail(b->net, "it says no kind of layer, such as conv = 32 or linear = \"classes\"");
    const unsigned foreign = options_of(r) & ~kinds[kind].options;
    for (unsigned o = 0; o < OPTIONS; o++)
        if ((foreign >> o & 1) != 0)
            network_fail(b->net, "%s does not belong to %s", option_names[o],
                         kind == PLAIN && !is_given(r->add) ? "an activation" : kinds[kind].name);
    if ((kinds[kind].options & HAS_KERNEL) != 0 && r->kernel == 0)
        network_fail(b->net, "%s needs kernel = ...", kinds[kind].name);
    return (enum kind)kind;
}

/* ---- names ---- */

/* The row of that name before row `end`; NO_ROW with an error when there is none. */
static int find_row(struct builder *b, const char *name, size_t length, uint32_t end)
{
    if (length == 5 && strncmp(name, "input", 5) == 0)
        return NETWORK_PICTURE;
    for (uint32_t i = 0; i < b->n; i++) {
        if (strlen(b->row[i].name) != length || strncmp(b->row[i].name, name, length) != 0)
            continue;
        if (i < end)
            return (int)i;
        network_fail(b->net, "\"%.*s\" comes after it; a layer reads earlier ones", (int)length,
                     name);
        return NO_ROW;
    }
    network_fail(b->net, "no layer before it is called \"%.*s\"; give that one name = \"%.*s\"",
                 (int)length, name, (int)length, name);
    return NO_ROW;
}

/* The next name of a list "a, b" from *at on; its length, 0 at the end. */
static size_t next_name(const char **at)
{
    *at += strspn(*at, ", ");
    return strcspn(*at, ", ");
}

static void use(struct builder *b, int row)
{
    if (row >= 0)
        b->built[row].uses++;
}

static void check_name(struct builder *b, uint32_t i)
{
    const char *name = b->row[i].name;
    if (strlen(name) > MOST_NAME)
        network_fail(b->net, "name = \"%s\" is longer than %d characters", name, MOST_NAME);
    if (strcmp(name, "input") == 0)
        network_fail(b->net, "\"input\" is the name of the samples");
    for (const char *p = name; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && strchr("._-", *p) == NULL)
            network_fail(b->net, "name = \"%s\" holds other characters than A-Z, a-z, 0-9, . _ -",
                         name);
    for (uint32_t k = 0; k < i; k++)
        if (is_given(name) && strcmp(b->row[k].name, name) == 0)
            network_fail(b->net, "layers[%" PRIu32 "] is called \"%s\" already", k, name);
}

/* A layer without a name has its number for one, as in a torch.nn.Sequential. */
static void check_number(struct builder *b, const char *number)
{
    for (uint32_t k = 0; k < b->n; k++)
        if (strcmp(b->row[k].name, number) == 0)
            network_fail(b->net,
                         "layers[%" PRIu32 "] is called \"%s\", which is the number of this layer; "
                         "give either another name",
                         k, number);
}

/* What row i is and reads. */
static void resolve(struct builder *b, uint32_t i)
{
    const struct network_row *r = &b->row[i];
    struct built *t = &b->built[i];
    *t = (struct built){.input = NO_ROW, .added = NO_ROW, .concat = NO_ROW};
    check_name(b, i);
    t->kind = find_kind(b, r);
    if (t->kind == CONCAT) {
        const char *at = r->concat;
        size_t n;
        for (; (n = next_name(&at)) > 0; at += n)
            use(b, find_row(b, at, n, i));
        if (is_given(r->from))
            network_fail(b->net, "from does not belong to concat, which names all that it reads");
    } else {
        t->input = is_given(r->from) ? find_row(b, r->from, strlen(r->from), i) : (int)i - 1;
        use(b, t->input);
    }
    if (is_given(r->add)) {
        t->added = find_row(b, r->add, strlen(r->add), i);
        use(b, t->added);
    }
}

/* ---- building ---- */

static const struct activation *shape_of(const struct builder *b, int output)
{
    return &b->net->activation[output];
}

/* The activation that a row gives; the picture becomes one where its layer needs it. */
static int output_of(struct builder *b, int row)
{
    if (row >= 0)
        return b->built[row].output;
    if (b->picture < 0)
        b->picture = network_picture(b->net);
    return b->picture;
}

static uint32_t channels_of(const struct builder *b, int64_t channels)
{
    return channels == CHANNELS_CLASSES ? b->net->classes : (uint32_t)channels;
}

static void set_inits(const struct network_row *r, struct convolution *c)
{
    static const enum initializer of[] = {
        INIT_UNIFORM_FAN_IN, INIT_HE_UNIFORM,    INIT_HE_NORMAL,  INIT_HE_NORMAL_FAN_OUT,
        INIT_XAVIER_UNIFORM, INIT_XAVIER_NORMAL, INIT_NORMAL_001, INIT_ZERO};
    c->init = of[r->init.index];
    c->bias_init = r->init.index == 0 ? INIT_UNIFORM_FAN_IN : INIT_ZERO;
}

static struct convolution convolution_of(const struct builder *b, const struct network_row *r,
                                         const struct built *t, const char *name)
{
    struct convolution c = {.name = name,
                            .kernel = (uint32_t)r->kernel,
                            .stride = (uint32_t)r->stride,
                            .padding = (uint32_t)r->padding,
                            .groups = (uint32_t)r->groups,
                            .line = t->kind == CONV1D,
                            .no_bias = !r->bias};
    c.channels = channels_of(b, t->kind == CONV     ? r->conv
                                : t->kind == CONV1D ? r->conv1d
                                                    : r->linear);
    c.relu = t->added == NO_ROW && activation_of(r) == NONLINEARITY_RELU;
    set_inits(r, &c);
    return c;
}

/* Whether a convolution is a plain one, of the fast kernels. */
static bool is_dense(const struct network_row *r, const struct built *t)
{
    return t->kind == CONV && r->groups == 1 && 2 * r->padding < r->kernel;
}

/* A part of a concatenation goes straight to its place when nobody else reads it. */
static bool writes_straight(const struct builder *b, int row)
{
    if (row < 0)
        return false;
    const struct built *t = &b->built[row];
    const enum nonlinearity a = activation_of(&b->row[row]);
    return is_dense(&b->row[row], t) && t->uses == 1 && t->added == NO_ROW &&
           (a == NONLINEARITY_NONE || a == NONLINEARITY_RELU);
}

static void plan_concatenation(struct builder *b, uint32_t i)
{
    const char *at = b->row[i].concat;
    bool all = true;
    size_t n;
    for (; (n = next_name(&at)) > 0; at += n)
        all = all && writes_straight(b, find_row(b, at, n, i));
    uint32_t first = 0;
    for (at = b->row[i].concat; all && (n = next_name(&at)) > 0; at += n) {
        const int part = find_row(b, at, n, i);
        b->built[part].concat = (int)i;
        b->built[part].first = first;
        first += channels_of(b, b->row[part].conv);
    }
    b->built[i].output = -1;
    b->built[i].first = first; /* all its channels */
}

/* A convolution that writes into a concatenation, which the first of them makes. */
static int build_part(struct builder *b, struct built *t, int input, const struct convolution *c)
{
    struct built *whole = &b->built[t->concat];
    if (whole->output < 0)
        whole->output = network_concatenation_for(b->net, input, c, whole->first);
    network_convolution_into(b->net, input, c, whole->output, t->first);
    return whole->output;
}

static int build_convolution(struct builder *b, uint32_t i, const char *name)
{
    const struct network_row *r = &b->row[i];
    struct built *t = &b->built[i];
    struct convolution c = convolution_of(b, r, t, name);
    const bool dense = is_dense(r, t);
    const int input = dense && t->input < 0 ? NETWORK_PICTURE : output_of(b, t->input);
    if (t->kind == DEPTHWISE && b->net->status == OSAFL_OK) {
        c.groups = shape_of(b, input)->channels;
        c.channels = (uint32_t)r->depthwise * c.groups;
    }
    if (t->concat != NO_ROW)
        return build_part(b, t, input, &c);
    const int output = network_convolution(b->net, input, &c);
    if (b->net->status == OSAFL_OK)
        b->net->layer[b->net->n_layers - 1].shared = t->uses > 1;
    return output;
}

static int build_linear(struct builder *b, uint32_t i, const char *name)
{
    const struct network_row *r = &b->row[i];
    struct built *t = &b->built[i];
    struct convolution c = convolution_of(b, r, t, name);
    c.each = t->sequence;
    t->flat = !t->sequence;
    if (t->input < 0)
        return network_linear(b->net, NETWORK_PICTURE, &c);
    return network_linear(b->net, output_of(b, t->input), &c);
}

static int build_concatenation(struct builder *b, uint32_t i)
{
    const char *at = b->row[i].concat;
    size_t n;
    if (b->built[i].output >= 0)
        return b->built[i].output; /* its parts have written it */
    uint32_t channels = 0;
    int parts[ROWS_MOST];
    uint32_t n_parts = 0;
    for (; (n = next_name(&at)) > 0 && n_parts < ROWS_MOST; at += n) {
        const int row = find_row(b, at, n, i);
        if (b->net->status != OSAFL_OK)
            return 0;
        parts[n_parts] = output_of(b, row);
        channels += shape_of(b, parts[n_parts++])->channels;
        b->built[i].sequence = row >= 0 && b->built[row].sequence;
    }
    if (n_parts == 0) {
        network_fail(b->net, "concat names no layer");
        return 0;
    }
    const int whole = network_concatenation(b->net, parts[0], channels);
    uint32_t first = 0;
    for (uint32_t k = 0; k < n_parts && b->net->status == OSAFL_OK; k++) {
        network_copy_into(b->net, parts[k], whole, first);
        first += shape_of(b, parts[k])->channels;
    }
    return whole;
}

static int build_pool(struct builder *b, const struct network_row *r, int input, enum kind kind)
{
    const uint32_t kernel = (uint32_t)(kind == MAX_POOL ? r->max_pool : r->average_pool);
    const uint32_t stride = r->stride != 0 ? (uint32_t)r->stride : kernel;
    if (2 * r->padding > kernel) {
        network_fail(b->net, "padding = %" PRId64 " is more than half of the window's %" PRIu32,
                     r->padding, kernel);
        return 0;
    }
    if (kind == MAX_POOL)
        return network_max_pool(b->net, input, kernel, stride, (uint32_t)r->padding, r->ceil);
    return network_average_pool(b->net, input, kernel, stride, (uint32_t)r->padding);
}

/* Groups of 32 channels, 64 and so on fill vectors of any width: those of a ResNet, whose results
 * stay what they were. */
static int build_group_norm(struct builder *b, uint32_t i, const char *name, int input, bool relu)
{
    const uint32_t groups = (uint32_t)b->row[i].group_norm;
    const int other = b->built[i].added != NO_ROW && b->net->status == OSAFL_OK
                          ? output_of(b, b->built[i].added)
                          : -1;
    const bool narrow =
        b->net->status == OSAFL_OK && shape_of(b, input)->channels % (32 * groups) != 0;
    return (narrow ? network_narrow_norm : network_group_norm)(b->net, input, name, groups, other,
                                                               relu);
}

static int build_flatten(struct builder *b, struct built *t, int input)
{
    t->flat = true;
    if (t->sequence)
        network_fail(b->net, "a sequence is not flattened: take its mean (global_average), or the "
                             "last position of a recurrent layer (last)");
    return input;
}

static int build_embedding(struct builder *b, uint32_t i, const char *name)
{
    const struct network_row *r = &b->row[i];
    b->built[i].sequence = true;
    if (b->built[i].input >= 0)
        network_fail(
            b->net, "an embedding reads the samples: it must come first, or have from = \"input\"");
    return network_embedding(b->net, name, (uint32_t)r->embedding, (uint32_t)r->size);
}

/* The layer itself, without what follows it. */
static int build_layer(struct builder *b, uint32_t i, const char *name)
{
    const struct network_row *r = &b->row[i];
    struct built *t = &b->built[i];
    struct network *net = b->net;
    const int input =
        t->kind <= LINEAR || t->kind == EMBEDDING || t->kind == CONCAT ? 0 : output_of(b, t->input);
    const enum nonlinearity a = activation_of(r);
    switch (t->kind) {
    case CONV:
    case CONV1D:
    case DEPTHWISE:
        return build_convolution(b, i, name);
    case LINEAR:
        return build_linear(b, i, name);
    case MAX_POOL:
    case AVERAGE_POOL:
        return build_pool(b, r, input, t->kind);
    case GLOBAL_AVERAGE:
        t->flat = t->sequence;
        t->sequence = false;
        return network_average(net, input);
    case GROUP_NORM:
        return build_group_norm(b, i, name, input, a == NONLINEARITY_RELU);
    case LAYER_NORM:
        return network_layer_norm(net, input, name);
    case DROPOUT:
        return network_dropout(net, input, r->dropout);
    case FLATTEN:
        return build_flatten(b, t, input);
    case EMBEDDING:
        return build_embedding(b, i, name);
    case POSITION:
        return network_position(net, input, name);
    case GRU:
    case LSTM:
        t->sequence = !r->last;
        t->flat = r->last;
        return network_recurrent(net, input, name, (uint32_t)(t->kind == GRU ? r->gru : r->lstm),
                                 t->kind == LSTM, r->last);
    case ATTENTION:
        return network_attention(net, input, name, (uint32_t)r->attention, r->causal);
    case CONCAT:
        return build_concatenation(b, i);
    case PLAIN:
    case KINDS:
        break;
    }
    return input;
}

/* Whether the layer itself rectifies, and adds. */
static bool rectifies(const struct builder *b, const struct network_row *r, const struct built *t)
{
    (void)b;
    return activation_of(r) == NONLINEARITY_RELU &&
           (t->kind == GROUP_NORM || t->added != NO_ROW || is_dense(r, t) || t->kind == LINEAR ||
            (t->kind == CONV1D && r->groups == 1 && 2 * r->padding < r->kernel));
}

/* What is flat goes on as one vector. */
static void check_flat(struct builder *b, const struct built *t)
{
    const bool alike = t->kind == LINEAR || t->kind == DROPOUT || t->kind == FLATTEN ||
                       t->kind == PLAIN || t->kind == CONCAT;
    if (t->input < 0 || !t->flat || alike || b->net->status != OSAFL_OK)
        return;
    const struct activation *a = shape_of(b, b->built[t->input].output);
    if (a->height != 1 || a->width != 1)
        network_fail(b->net,
                     "it reads a flat vector, which only linear, dropout and activations do");
}

static void build_row(struct builder *b, uint32_t i)
{
    const struct network_row *r = &b->row[i];
    struct built *t = &b->built[i];
    if (t->input >= 0) {
        t->sequence = b->built[t->input].sequence;
        t->flat = b->built[t->input].flat;
    }
    check_flat(b, t);
    if (t->kind == LINEAR && !t->flat && !t->sequence)
        b->modules++; /* flattens */
    char number[16];
    snprintf(number, sizeof number, "%" PRIu32, b->modules);
    if (!is_given(r->name) && t->kind != PLAIN && t->kind != CONCAT)
        check_number(b, number);
    int x = build_layer(b, i, is_given(r->name) ? r->name : number);
    b->modules += t->kind != PLAIN && t->kind != CONCAT;
    if (t->added != NO_ROW && t->kind != GROUP_NORM && b->net->status == OSAFL_OK)
        x = network_add(b->net, x, output_of(b, t->added), activation_of(r) == NONLINEARITY_RELU);
    if (activation_of(r) != NONLINEARITY_NONE) {
        b->modules++;
        if (!rectifies(b, r, t))
            x = network_activate(b->net, x, activation_of(r));
    }
    t->output = x;
}

/* ---- the whole ---- */

static void name_row(struct network *net, const osafl_rows *rows, uint32_t i, const char *name)
{
    char text[256];
    const osafl_origin *at = &rows->at[i];
    snprintf(text, sizeof text, "%.255s", net->error);
    char line[16] = "";
    if (at->line > 0)
        snprintf(line, sizeof line, ":%" PRIu32, at->line);
    snprintf(net->error, sizeof net->error, "%s%s: layers[%" PRIu32 "]%s%s%s: %s", at->file, line,
             i, is_given(name) ? " \"" : "", name, is_given(name) ? "\"" : "", text);
}

static void check_end(struct builder *b)
{
    const struct activation *a = shape_of(b, b->built[b->n - 1].output);
    if (a->height != 1 || a->width != 1 || a->channels != b->net->classes)
        network_fail(b->net,
                     "the network ends with %" PRIu32 " x %" PRIu32 " x %" PRIu32
                     " values; the data set wants %" PRIu32
                     ": end it with { linear = \"classes\"; }",
                     a->channels, a->height, a->width, b->net->classes);
}

void network_of_rows(struct network *net, const osafl_rows *rows)
{
    struct builder b = {
        .net = net, .row = rows->v, .n = (uint32_t)rows->n, .picture = NETWORK_PICTURE};
    if (net->status != OSAFL_OK)
        return; /* of the data set */
    uint32_t i = 0;
    for (; i < b.n && net->status == OSAFL_OK; i++)
        resolve(&b, i);
    for (uint32_t k = 0; k < b.n && net->status == OSAFL_OK; k++) {
        i = k + 1;
        if (b.built[k].kind == CONCAT)
            plan_concatenation(&b, k);
        if (b.built[k].uses == 0 && i < b.n)
            network_fail(net, "nothing reads it: the next layer names another one in from");
    }
    for (uint32_t k = 0; k < b.n && net->status == OSAFL_OK; k++) {
        i = k + 1;
        build_row(&b, k);
    }
    if (net->status == OSAFL_OK)
        check_end(&b);
    if (net->status != OSAFL_OK)
        name_row(net, rows, i - 1, b.row[i - 1].name);
}
