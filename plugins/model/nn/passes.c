/* passes.c - plans a network's memory and runs it: initial weights, training, evaluation. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "compute/backend.h"
#include "network.h"
#include "osafl/random.h"

/* Of a batch that is evaluated: their activations stay in the caches. */
enum { SAMPLES_AT_ONCE = 32 };

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Memory is handed out in lines of 64 bytes for each sample. */
static uint64_t round_to_line(uint64_t floats)
{
    return (floats + 15) / 16 * 16;
}

static uint64_t activation_floats(const struct activation *a)
{
    return round_to_line((uint64_t)a->height * a->width * a->channels);
}

/* The last reader of an activation writes its gradient, earlier ones add theirs. */
static void plan_gradients(struct network *net)
{
    bool written[NETWORK_MAX_ACTIVATIONS] = {false};
    for (int i = net->n_layers - 1; i >= 0; i--) {
        struct layer *l = &net->layer[i];
        if (l->residual >= 0) {
            l->adds_residual_gradient = written[l->residual];
            written[l->residual] = true;
        }
        if (l->input >= 0) {
            l->adds_input_gradient = written[l->input];
            written[l->input] = true;
        }
    }
}

/* Layers [first, last] that the gradient of an activation lives for: they run last to first, from
 * its last reader, which writes the gradient first, to its first writer. */
struct life {
    int first;
    int last;
};

static struct life life_of(const struct network *net, int activation)
{
    struct life life = {.first = net->n_layers, .last = -1};
    for (int i = 0; i < net->n_layers; i++) {
        const struct layer *l = &net->layer[i];
        if (l->output == activation && life.first == net->n_layers)
            life.first = i;
        if (l->input == activation || l->residual == activation)
            life.last = i;
    }
    if (life.last < 0) /* the loss reads the last activation */
        life.last = net->n_layers;
    return life;
}

/* Gradients that no layer needs at the same time share memory, so that they stay in the caches:
 * each lies as low, above the values, as those that live with it and were placed before allow. */
static void place_gradients(struct network *net)
{
    net->training_floats = net->forward_floats;
    for (int i = net->n_activations - 1; i >= 0; i--) {
        struct activation *a = &net->activation[i];
        const struct life life = life_of(net, i);
        const uint64_t size = activation_floats(a);
        a->gradient_offset = net->forward_floats;
        for (int j = net->n_activations - 1; j > i; j--) {
            const struct activation *b = &net->activation[j];
            const struct life other = life_of(net, j);
            const uint64_t end = b->gradient_offset + activation_floats(b);
            if (other.first <= life.last && life.first <= other.last && a->gradient_offset < end &&
                b->gradient_offset < a->gradient_offset + size) {
                a->gradient_offset = end;
                j = net->n_activations; /* those already passed may be in the way now */
            }
        }
        if (a->gradient_offset + size > net->training_floats)
            net->training_floats = a->gradient_offset + size;
    }
}

static void plan_memory(struct network *net)
{
    for (int i = 0; i < net->n_layers; i++) {
        const struct layer *l = &net->layer[i];
        if (l->scratch_fixed > net->scratch_fixed)
            net->scratch_fixed = round_to_line(l->scratch_fixed);
        if (l->scratch_floats > net->scratch_floats)
            net->scratch_floats = round_to_line(l->scratch_floats);
        net->layer[i].filters_offset = net->filters_floats;
        net->filters_floats += round_to_line(l->filters_floats);
    }
    uint64_t next = net->scratch_floats;
    for (int i = 0; i < net->n_activations; i++) {
        net->activation[i].value_offset = next;
        next += activation_floats(&net->activation[i]);
    }
    for (int i = 0; i < net->n_layers; i++) {
        net->layer[i].saved_offset = next;
        next += round_to_line(net->layer[i].saved_floats);
    }
    net->forward_floats = next;
    place_gradients(net);
}

static bool reads_tokens_only(const struct network *net)
{
    for (int i = 0; i < net->n_layers; i++)
        if (net->layer[i].input == NETWORK_PICTURE && net->layer[i].type != LAYER_EMBEDDING)
            return false;
    return true;
}

osafl_status network_finish(struct network *net)
{
    if (net->status != OSAFL_OK)
        return net->status;
    if (net->integers && !reads_tokens_only(net)) {
        network_fail(net,
                     "%s: the samples are tokens, and numbers that name something are not "
                     "calculated with: begin the network with an embedding (model/network), or "
                     "leave dataset.npy.tokens out",
                     net->model);
        return net->status;
    }
    net->output = net->layer[net->n_layers - 1].output;
    const struct activation *last = &net->activation[net->output];
    assert(last->height == 1 && last->width == 1 && last->channels == net->classes);
    (void)last;
    net->backend = backend_chosen(net->error, sizeof net->error);
    if (net->backend == NULL)
        return net->status = OSAFL_E_CONFIG;
    plan_gradients(net);
    plan_memory(net);
    return OSAFL_OK;
}

uint64_t network_workspace_bytes(const struct network *net, uint32_t batch,
                                 uint32_t evaluation_batch)
{
    const uint64_t at_once = smaller(evaluation_batch, SAMPLES_AT_ONCE);
    uint64_t training;
    uint64_t bytes;
    const uint64_t evaluation =
        at_once == 0 ? 0 : net->forward_floats * at_once + net->filters_floats; /* no overflow */
    if (__builtin_mul_overflow(net->training_floats, (uint64_t)batch, &training))
        return UINT64_MAX;
    const uint64_t floats = training > evaluation ? training : evaluation;
    if (__builtin_add_overflow(floats, net->scratch_fixed, &bytes) ||
        __builtin_mul_overflow(bytes, sizeof(float), &bytes))
        return UINT64_MAX;
    return bytes;
}

/* Number i of tensor p in the order in which it is exported, to its place within w. */
static uint64_t place(const struct parameter *p, uint64_t i)
{
    const uint64_t spatial = i % p->spatial;
    const uint64_t in = i / p->spatial % p->in;
    const uint64_t out = i / p->spatial / p->in;
    const uint64_t of_group = p->groups > 1 ? p->out / p->groups : p->out;
    const uint64_t group = out / of_group * of_group;                           /* first channels */
    const uint64_t panel = (out - group) / WEIGHT_PANEL * WEIGHT_PANEL + group; /* of both */
    const uint64_t left = group + of_group - panel;
    const uint64_t width = left < WEIGHT_PANEL ? left : WEIGHT_PANEL;
    const uint64_t row = p->taps_together ? in * p->spatial + spatial : spatial * p->in + in;
    return p->offset + panel * p->spatial * p->in + row * width + out - panel;
}

void network_export(const struct network *net, int p, const float *w, float *out)
{
    const struct parameter *q = &net->parameter[p];
    for (uint64_t i = 0; i < q->out * q->in * q->spatial; i++)
        out[i] = w[place(q, i)];
}

void network_import(const struct network *net, int p, const float *in, float *w)
{
    const struct parameter *q = &net->parameter[p];
    for (uint64_t i = 0; i < q->out * q->in * q->spatial; i++)
        w[place(q, i)] = in[i];
}

/* One number of an initial tensor, from four random words. */
static float initial_value(const struct parameter *p, const uint32_t word[4])
{
    const double fan_in = (double)p->fan_in;
    const double fan_out = (double)(p->out * p->spatial);
    switch (p->init) {
    case INIT_ZERO:
        return 0;
    case INIT_ONE:
        return 1;
    case INIT_UNIFORM_FAN_IN:
        return (float)((2 * osafl_uniform(word) - 1) / sqrt(fan_in));
    case INIT_HE_UNIFORM:
        return (float)((2 * osafl_uniform(word) - 1) * sqrt(6 / fan_in));
    case INIT_HE_NORMAL_FAN_OUT:
        return (float)(osafl_normal(word) * sqrt(2.0 / (double)(p->out * p->spatial)));
    case INIT_NORMAL_001:
        return (float)(0.01 * osafl_normal(word));
    case INIT_HE_NORMAL:
        return (float)(osafl_normal(word) * sqrt(2 / fan_in));
    case INIT_XAVIER_UNIFORM:
        return (float)((2 * osafl_uniform(word) - 1) * sqrt(6 / (fan_in + fan_out)));
    case INIT_XAVIER_NORMAL:
        return (float)(osafl_normal(word) * sqrt(2 / (fan_in + fan_out)));
    case INIT_NORMAL:
        return (float)osafl_normal(word);
    case INIT_NORMAL_002:
        return (float)(0.02 * osafl_normal(word));
    }
    assert(0 && "unknown initializer");
    return 0;
}

/* Numbers are drawn in the order of the exported tensor, so that the internal layout decides
 * nothing. */
osafl_status network_init(const struct network *net, const osafl_host *h, osafl_call *c, float *w)
{
    enum { RUN = 1024 };
    uint32_t *word = h->scratch(c, RUN * 4 * sizeof *word);
    if (word == NULL)
        return OSAFL_E_NOMEM;
    for (int p = 0; p < net->n_parameters; p++) {
        const struct parameter *q = &net->parameter[p];
        const uint64_t size = q->out * q->in * q->spatial;
        for (uint64_t first = 0; first < size; first += RUN) {
            const uint64_t n = size - first < RUN ? size - first : RUN;
            h->random_fill(c, NETWORK_STREAM_INIT, OSAFL_NO_CLIENT, 0, ((uint64_t)p << 40) + first,
                           word, 4 * n);
            for (uint64_t i = 0; i < n; i++)
                w[place(q, first + i)] = initial_value(q, word + 4 * i);
        }
    }
    return OSAFL_OK;
}

static const char *kind_of(const struct network *net, const struct layer *l)
{
    static const char *const kinds[LAYER_TYPES] = {[LAYER_PICTURE_CONVOLUTION] = "convolution",
                                                   [LAYER_POOLED_PICTURE] = "convolution, max-pool",
                                                   [LAYER_CONVOLUTION] = "convolution",
                                                   [LAYER_MAX_POOL] = "max-pool",
                                                   [LAYER_GROUP_NORM] = "group norm",
                                                   [LAYER_NARROW_NORM] = "group norm",
                                                   [LAYER_AVERAGE] = "average",
                                                   [LAYER_DROPOUT] = "dropout",
                                                   [LAYER_PICTURE] = "input",
                                                   [LAYER_NONLINEARITY] = "activation",
                                                   [LAYER_ADDITION] = "addition",
                                                   [LAYER_COPY] = "concatenation",
                                                   [LAYER_AVERAGE_POOL] = "average-pool",
                                                   [LAYER_GROUPED_CONVOLUTION] =
                                                       "grouped convolution",
                                                   [LAYER_DEPTHWISE] = "depthwise convolution",
                                                   [LAYER_LAYER_NORM] = "layer norm",
                                                   [LAYER_EMBEDDING] = "embedding",
                                                   [LAYER_POSITION] = "position",
                                                   [LAYER_GRU] = "gru",
                                                   [LAYER_LSTM] = "lstm",
                                                   [LAYER_ATTENTION] = "attention"};
    const bool convolves = l->type == LAYER_PICTURE_CONVOLUTION || l->type == LAYER_CONVOLUTION;
    return convolves && l->weight >= 0 && net->parameter[l->weight].rank == 2 ? "linear"
                                                                              : kinds[l->type];
}

/* What a report calls a layer: "features.3.squeeze", or its kind. */
static void layer_name(const struct network *net, const struct layer *l, char *name, size_t size)
{
    if (l->weight < 0) {
        snprintf(name, size, "%s", kind_of(net, l));
        return;
    }
    const char *tensor = net->parameter[l->weight].name;
    const char *suffix = strstr(tensor, ".weight");
    if (suffix == NULL)
        suffix = strstr(tensor, ".in_proj_weight");
    snprintf(name, size, "%.*s", (int)(suffix - tensor), tensor);
}

/* Multiplications and additions of a layer's products for one sample, padding left out. */
static double operations(const struct network *net, const struct layer *l)
{
    const double steps = (double)l->in_width;
    const double values = (double)l->in_channels;
    if (l->weight < 0)
        return 0;
    if (l->type == LAYER_GRU || l->type == LAYER_LSTM)
        return 2 * steps * (double)net->parameter[l->weight].out *
               (values + (double)l->out_channels);
    if (l->type == LAYER_ATTENTION)
        return 2 * steps * values * (4 * values + 2 * steps);
    if (l->kernel_height == 0)
        return 0;
    uint64_t met[2] = {0, 0}; /* pairs of position and tap on a column, on a line */
    for (uint32_t axis = 0; axis < 2; axis++) {
        const uint64_t pool = l->type == LAYER_POOLED_PICTURE ? 2 : 1;
        const uint64_t out = pool * (axis == 0 ? l->out_height : l->out_width);
        const uint64_t kernel = axis == 0 ? l->kernel_height : l->kernel_width;
        const uint64_t in = axis == 0 ? l->in_height : l->in_width;
        const uint64_t padding = axis == 0 ? l->padding_y : l->padding;
        for (uint64_t o = 0; o < out; o++)
            for (uint64_t k = 0; k < kernel; k++) {
                const uint64_t at = o * l->stride + k;
                met[axis] += at >= padding && at < padding + in;
            }
    }
    return 2.0 * (double)(met[0] * met[1]) * (double)net->parameter[l->weight].in *
           (double)l->out_channels;
}

static uint64_t parameters_of(const struct network *net, int p)
{
    if (p < 0)
        return 0;
    const struct parameter *q = &net->parameter[p];
    return q->out * q->in * q->spatial;
}

struct network_layer network_layer_of(const struct network *net, int i)
{
    const struct layer *l = &net->layer[i];
    struct network_layer r = {.kind = kind_of(net, l), .operations = operations(net, l)};
    if (l->weight >= 0)
        layer_name(net, l, r.name, sizeof r.name);
    r.parameters = parameters_of(net, l->weight) + parameters_of(net, l->bias) +
                   parameters_of(net, l->second_weight) + parameters_of(net, l->second_bias);
    return r;
}

static double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_layer(const struct pass *pass, int i, uint32_t phase)
{
    const struct network *net = pass->net;
    const struct layer *l = &net->layer[i];
    const struct layer_functions *f = &net->backend->layer[l->type];
    layer_function *run = phase == OSAFL_PHASE_FORWARD ? f->forward : f->backward;
    if (net->profile == NULL) {
        run(l, pass);
        return;
    }
    char name[64];
    double work = operations(net, l) * pass->n;
    if (phase == OSAFL_PHASE_BACKWARD && l->type == LAYER_CONVOLUTION)
        work *= 2; /* gradients of input and weights */
    layer_name(net, l, name, sizeof name);
    const double start = thread_seconds();
    run(l, pass);
    net->profile->record(pass->call, (uint32_t)i, phase, name, thread_seconds() - start, work);
}

static void forward(const struct pass *pass)
{
    for (int i = 0; i < pass->net->n_layers; i++)
        run_layer(pass, i, OSAFL_PHASE_FORWARD);
}

static void backward(const struct pass *pass)
{
    for (int i = pass->net->n_layers - 1; i >= 0; i--)
        run_layer(pass, i, OSAFL_PHASE_BACKWARD);
}

/* Values or gradient of the last activation: [sample][class]. */
static float *logits(const struct pass *pass, bool gradient)
{
    const struct network *net = pass->net;
    const struct activation *a = &net->activation[net->output];
    return pass->workspace + net->scratch_fixed +
           (gradient ? a->gradient_offset : a->value_offset) * pass->n;
}

/* Cross-entropy of one sample, ln sum_j exp(z_j) - z_label; z less its maximum cannot overflow. */
static double cross_entropy(const float *z, uint32_t classes, int32_t label, double *log_sum)
{
    double top = (double)z[0];
    for (uint32_t j = 1; j < classes; j++)
        top = (double)z[j] > top ? (double)z[j] : top;
    double sum = 0;
    for (uint32_t j = 0; j < classes; j++)
        sum += exp((double)z[j] - top);
    *log_sum = top + log(sum);
    return *log_sum - (double)z[label];
}

/* Loss of sample i, whose outputs are z; where dz is wanted, its gradient divided by `batch`. */
static double sample_loss(const struct pass *pass, size_t i, const float *z, const int32_t *label,
                          float *dz, double batch)
{
    const struct network *net = pass->net;
    const uint32_t n = net->classes;
    double loss = 0;
    if (net->options.loss == LOSS_CROSS_ENTROPY) {
        double log_sum;
        assert(label[i] >= 0 && (uint32_t)label[i] < n);
        loss = cross_entropy(z, n, label[i], &log_sum);
        for (uint32_t j = 0; dz != NULL && j < n; j++) {
            const double p = exp((double)z[j] - log_sum);
            dz[j] = (float)((p - ((uint32_t)label[i] == j)) / batch);
        }
        return loss;
    }
    for (uint32_t j = 0; j < n; j++) {
        const double t =
            net->real_targets ? (double)pass->wanted[i * n + j] : (double)((uint32_t)label[i] == j);
        const double x = (double)z[j];
        const bool square = net->options.loss == LOSS_SQUARED_ERROR;
        loss += square ? (x - t) * (x - t) : fmax(x, 0) - x * t + log1p(exp(-fabs(x)));
        if (dz != NULL)
            dz[j] = (float)((square ? 2 * (x - t) : 1 / (1 + exp(-x)) - t) / (n * batch));
    }
    return loss / n;
}

/* What an embedding reads are whole numbers. */
static osafl_status check_tokens(const struct pass *pass)
{
    const struct network *net = pass->net;
    const size_t n = (size_t)pass->n * net->channels * net->height * net->width;
    for (size_t i = 0; net->tokens > 0 && i < n; i++) {
        const double x = pass->token != NULL ? (double)pass->token[i] : (double)pass->picture[i];
        if (!(x >= 0 && x < net->tokens && x == floor(x)))
            return pass->host->fail(pass->call, OSAFL_E_DATA,
                                    "%s: a sample holds %.10g, which is no token of an embedding "
                                    "of %u: tokens are whole numbers from 0 to %u",
                                    net->model, x, net->tokens, net->tokens - 1);
    }
    return OSAFL_OK;
}

osafl_status network_train(struct pass *pass, const int32_t *label, double *loss)
{
    const uint32_t classes = pass->net->classes;
    OSAFL_TRY(check_tokens(pass));
    forward(pass);
    const float *z = logits(pass, false);
    float *dz = logits(pass, true);
    double total = 0;
    for (size_t i = 0; i < pass->n; i++, z += classes, dz += classes)
        total += sample_loss(pass, i, z, label, dz, pass->n);
    *loss = total / pass->n;
    backward(pass);
    return OSAFL_OK;
}

static uint32_t argmax(const float *z, uint32_t n)
{
    uint32_t best = 0;
    for (uint32_t j = 1; j < n; j++)
        if (z[j] > z[best])
            best = j;
    return best;
}

/* Writes what is wanted of sample i, whose outputs are z, and returns what is behind it. */
typedef double *judge(const struct pass *pass, size_t i, const float *z, const int32_t *label,
                      double *value);

static double *judge_answer(const struct pass *pass, size_t i, const float *z, const int32_t *label,
                            double *value)
{
    if (!pass->net->real_targets)
        *value++ = argmax(z, pass->net->classes) == (uint32_t)label[i];
    *value++ = sample_loss(pass, i, z, label, NULL, 1);
    return value;
}

/* Entropy of the softmax, and its largest probability less the second largest. */
static double *judge_certainty(const struct pass *pass, size_t i, const float *z,
                               const int32_t *label, double *value)
{
    (void)i;
    (void)label;
    const uint32_t n = pass->net->classes;
    double log_sum;
    double entropy = 0;
    double most = 0;
    double second = 0;
    cross_entropy(z, n, 0, &log_sum);
    for (uint32_t j = 0; j < n; j++) {
        const double log_p = (double)z[j] - log_sum;
        const double p = exp(log_p);
        entropy -= p > 0 ? p * log_p : 0;
        second = fmax(second, fmin(most, p));
        most = fmax(most, p);
    }
    *value++ = entropy;
    *value++ = most - second;
    return value;
}

static osafl_status judge_samples(struct pass *pass, const int32_t *label, judge *by, double *value)
{
    const uint32_t classes = pass->net->classes;
    const size_t picture = (size_t)pass->net->channels * pass->net->height * pass->net->width;
    struct pass part = *pass;
    OSAFL_TRY(check_tokens(pass));
    part.filters = pass->workspace + pass->net->scratch_fixed +
                   pass->net->forward_floats * smaller(pass->n, SAMPLES_AT_ONCE);
    for (size_t first = 0; first < pass->n; first += SAMPLES_AT_ONCE) {
        if (pass->host->cancelled(pass->call))
            return OSAFL_E_CANCELLED;
        if (pass->token != NULL)
            part.token = pass->token + first * picture;
        else
            part.picture = pass->picture + first * picture;
        part.n = smaller(pass->n - (uint32_t)first, SAMPLES_AT_ONCE);
        forward(&part);
        part.filters_ready = true;
        const float *z = logits(&part, false);
        for (size_t i = first; i < first + part.n; i++, z += classes)
            value = by(pass, i, z, label, value);
    }
    return OSAFL_OK;
}

osafl_status network_evaluate(struct pass *pass, const int32_t *label, double *value)
{
    return judge_samples(pass, label, judge_answer, value);
}

osafl_status network_score(struct pass *pass, double *value)
{
    return judge_samples(pass, NULL, judge_certainty, value);
}
