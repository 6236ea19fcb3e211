/* The layers of the models against a reference in double precision, whose gradients are checked
 * against central differences: every layer type, every shape of the models' layers, odd sizes
 * and batches, every instruction set of this processor, every path. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "model_case.h"
#include "plugin/cpu.h"
#include "plugins/model/nn/compute/backend.h"
#include "plugins/model/nn/compute/exponential.h"
#include "reference_network.h"

/* Words for dropout; the reference asks for the same. */
static void random_words(osafl_call *c, uint32_t purpose, uint32_t client, uint32_t round,
                         uint64_t index, uint32_t *out, uint64_t n)
{
    (void)c;
    const uint64_t stream = purpose + 100 * (client + UINT64_C(100) * (round + 100 * index));
    for (uint64_t i = 0; i < n; i++)
        out[i] = (uint32_t)((case_number(stream, 9, i) + 1) * 0x1p31f);
}

static const osafl_host host = {.struct_size = sizeof host, .random_fill = random_words};
static const osafl_step step = {
    .struct_size = sizeof step, .client = 1, .round = 2, .step = 3, .training = 1};

/* What a trial is about: a description of a network. */
struct instance_under_test {
    void (*describe)(struct network *net, const struct instance_under_test *s);
    uint32_t channels; /* of the pictures */
    uint32_t height;
    uint32_t width;
    /* One convolution, for describe_convolution() and describe_first(). */
    uint32_t in;
    uint32_t out;
    uint32_t kernel;
    uint32_t stride;
    uint32_t padding;
};

/* The ways to the result, and how far each may be from it. */
static const struct way {
    const char *name;
    struct network_options options;
    double tolerance;
} ways[] = {
    {"auto", {.direct = false}, 1e-4},
    {"direct", {.direct = true}, 1e-5},
    {"direct, openblas", {.direct = true, .openblas = true}, 1e-5},
};
enum { N_WAYS = 3 };

/* A network with weights and a batch, for both sides. */
struct trial {
    struct network net;   /* under test */
    struct network plain; /* every layer on its own: what the reference computes */
    struct reference reference;
    uint32_t n;
    float *picture;
    int32_t *label;
    float *w;
    float *exported;
    float *grad;
    float *workspace;
    double *stepped;
};

static void describe(struct network *net, const struct instance_under_test *s,
                     struct network_options options)
{
    const osafl_dataset_info data = {.struct_size = sizeof data,
                                     .rank = 3,
                                     .shape = {s->channels, s->height, s->width},
                                     .x_type = OSAFL_X_FLOAT,
                                     .target_type = OSAFL_TARGET_CLASS,
                                     .target_size = 5};
    network_begin(net, "trial", &data, options);
    s->describe(net, s);
    if (network_finish(net) != OSAFL_OK)
        fail_msg("%s", net->error);
}

/* The probability that is drawn: half a word decides about value i. */
static double drawn(float rate)
{
    return fmin(round((double)rate * 65536.0), 65535.0) / 65536.0;
}

static bool dropped(const uint32_t *word, size_t i, float rate)
{
    return (i % 2 == 0 ? word[i / 2] & 0xffff : word[i / 2] >> 16) / 65536.0 < drawn(rate);
}

/* What network_dropout() draws, from [y][x][sample][channel] to the reference's order. */
static void share_dropout(struct trial *t)
{
    for (int i = 0; i < t->plain.n_layers; i++) {
        const struct layer *l = &t->plain.layer[i];
        if (l->type != LAYER_DROPOUT)
            continue;
        const size_t plane = (size_t)l->in_height * l->in_width;
        const size_t size = plane * l->in_channels * t->n;
        uint32_t *word = malloc(size * sizeof *word);
        assert_non_null(word);
        random_words(NULL, NETWORK_STREAM_DROPOUT + l->ordinal, step.client, step.round, step.step,
                     word, (size + 1) / 2);
        t->reference.factor[i] = reference_zeros(size);
        for (size_t p = 0; p < plane; p++)
            for (size_t n = 0; n < t->n; n++)
                for (size_t c = 0; c < l->in_channels; c++)
                    t->reference.factor[i][(n * l->in_channels + c) * plane + p] =
                        dropped(word, (p * t->n + n) * l->in_channels + c, l->drop)
                            ? 0
                            : 1 / (1 - drawn(l->drop));
        free(word);
    }
}

static void begin(struct trial *t, const struct instance_under_test *s, uint32_t n)
{
    describe(&t->plain, s, (struct network_options){.direct = true});
    const struct network *net = &t->plain;
    const size_t pictures = (size_t)net->channels * net->height * net->width * n;
    t->n = n;
    t->picture = case_memory(pictures * sizeof *t->picture);
    t->label = case_memory(n * sizeof *t->label);
    t->w = case_memory(net->n_weights * sizeof *t->w);
    t->exported = case_memory(net->n_weights * sizeof *t->w);
    t->grad = case_memory(net->n_weights * sizeof *t->w);
    for (size_t i = 0; i < pictures; i++)
        t->picture[i] = 2 * case_number(1, 0, i);
    for (uint32_t i = 0; i < n; i++)
        t->label[i] = (int32_t)(3 * i % net->classes);
    t->reference = reference_open(net, n, t->picture, t->label);
    t->stepped = reference_zeros(net->n_weights);
    share_dropout(t);
    for (int p = 0; p < net->n_parameters; p++) {
        const struct parameter *q = &net->parameter[p];
        const uint64_t size = q->out * q->in * q->spatial;
        for (uint64_t i = 0; i < size; i++) {
            const float u = case_number(2, (uint64_t)p, i);
            t->exported[i] = q->rank > 1 ? u * sqrtf(6.0f / (float)q->fan_in)
                                         : 0.3f * u + (q->init == INIT_ONE ? 1.0f : 0.0f);
            t->reference.w[q->offset + i] = (double)t->exported[i];
        }
    }
}

/* The weights as t->net has them. */
static void import_weights(struct trial *t)
{
    for (int p = 0; p < t->net.n_parameters; p++) {
        const struct parameter *q = &t->net.parameter[p];
        for (uint64_t i = 0; i < q->out * q->in * q->spatial; i++)
            t->exported[i] = (float)t->reference.w[q->offset + i];
        network_import(&t->net, p, t->exported, t->w);
    }
}

static void end(struct trial *t)
{
    reference_close(&t->reference);
    free(t->stepped);
    free(t->picture);
    free(t->label);
    free(t->w);
    free(t->exported);
    free(t->grad);
}

/* The relative error of tensor p, |got - expected|_2 / |expected|_2, is at most what the way has.
 * Where two values of a max-pool's window are equal up to rounding either may win, which moves its
 * gradient from one patch of the picture, of numbers up to 2, to another. */
static void compare(struct trial *t, const struct way *way, const char *what, int p,
                    const float *got, const double *expected)
{
    const struct parameter *q = &t->net.parameter[p];
    double error = 0;
    double norm = 0;
    network_export(&t->net, p, got, t->exported);
    for (uint64_t i = 0; i < q->out * q->in * q->spatial; i++) {
        const double e = expected[q->offset + i];
        error += ((double)t->exported[i] - e) * ((double)t->exported[i] - e);
        norm += e * e;
    }
    const double moved = t->reference.near_ties * 4 * sqrt((double)q->fan_in);
    if (!(sqrt(error) <= way->tolerance * sqrt(norm) + moved + 1e-9))
        fail_msg("%ux%ux%u, batch %u, %s, %s, %s: %s is off by %.2e of its norm %.2e",
                 t->net.channels, t->net.height, t->net.width, t->n, t->net.backend->name,
                 way->name, q->name, what, sqrt(error / norm), sqrt(norm));
}

/* Loss, gradient and fused step one way on one instruction set. */
static void check_way(struct trial *t, const struct way *way, double expected, double rate)
{
    double loss = 0;
    const uint64_t bytes = network_workspace_bytes(&t->net, t->n, 0);
    float *workspace = case_memory(bytes);
    float *w = case_memory(t->net.n_weights * sizeof *w);
    struct pass pass = {.net = &t->net,
                        .host = &host,
                        .step = &step,
                        .workspace = workspace,
                        .picture = t->picture,
                        .n = t->n,
                        .w = t->w,
                        .target = t->grad,
                        .scale = 1};
    memset(t->grad, 0xff, t->net.n_weights * sizeof *t->grad);
    memset(workspace, 0x7f, bytes);
    network_train(&pass, t->label, &loss);
    if (!(fabs(loss - expected) <= way->tolerance * expected))
        fail_msg("%s, %s, batch %u: loss %.9g, expected %.9g", t->net.backend->name, way->name,
                 t->n, loss, expected);
    for (int p = 0; p < t->net.n_parameters; p++)
        compare(t, way, "gradient", p, t->grad, t->reference.dw);
    memcpy(w, t->w, t->net.n_weights * sizeof *w);
    pass.w = w;
    pass.target = w;
    pass.scale = (float)-rate;
    pass.add = true;
    network_train(&pass, t->label, &loss);
    for (int p = 0; p < t->net.n_parameters; p++)
        compare(t, way, "fused step", p, w, t->stepped);
    free(w);
    free(workspace);
}

static void check(const struct instance_under_test *s, uint32_t n)
{
    struct trial t;
    const double rate = 0.5;
    begin(&t, s, n);
    const double expected = reference_gradient(&t.reference);
    for (uint64_t i = 0; i < t.plain.n_weights; i++)
        t.stepped[i] = t.reference.w[i] - rate * t.reference.dw[i];
    for (size_t i = 0; i < N_WAYS; i++) {
        describe(&t.net, s, ways[i].options);
        import_weights(&t);
        for (enum cpu_isa isa = CPU_BASELINE; isa <= cpu_isa_offered(); isa++) {
            t.net.backend = backend_named(cpu_isa_name(isa));
            assert_non_null(t.net.backend);
            check_way(&t, &ways[i], expected, rate);
        }
    }
    end(&t);
}

static int convolve(struct network *net, int x, const char *name, uint32_t channels,
                    uint32_t kernel, uint32_t stride, uint32_t padding, bool relu)
{
    return network_convolution(net, x,
                               &(struct convolution){.name = name,
                                                     .channels = channels,
                                                     .kernel = kernel,
                                                     .stride = stride,
                                                     .padding = padding,
                                                     .relu = relu});
}

/* 1e-7 of the polynomial, and what float loses in the exponent. */
static void normal_share_is_that_of_the_distribution(void **state)
{
    (void)state;
    for (int i = -12800; i <= 12800; i++) {
        const float x = (float)i * 0x1p-10f;
        const double expected = 0.5 * erfc((double)-x * sqrt(0.5));
        const double found = (double)normal_share(x, exponential(-0.5f * x * x));
        assert_true(fabs(found - expected) <= 2e-7);
        assert_true(fabs(found - expected) <= (5e-7 + 1e-7 * (double)(x * x)) * expected);
    }
}

static void head(struct network *net, int x)
{
    network_linear(net, x, &(struct convolution){.name = "head", .channels = net->classes});
}

/* A little of everything: both branches of a sum, a concatenation, every layer type. */
static void describe_everything(struct network *net, const struct instance_under_test *s)
{
    (void)s;
    int x = convolve(net, NETWORK_PICTURE, "stem", 6, 3, 2, 1, true);
    x = network_max_pool(net, x, 3, 2, 1, false);
    int y = convolve(net, x, "a", 6, 3, 1, 1, false);
    y = network_group_norm(net, y, "norm_a", 2, x, true);
    const int both = network_concatenation(net, y, 7);
    network_convolution_into(
        net, y, &(struct convolution){.name = "b", .channels = 4, .kernel = 1, .relu = true}, both,
        0);
    network_convolution_into(
        net, y,
        &(struct convolution){
            .name = "c", .channels = 3, .kernel = 3, .padding = 1, .no_bias = true},
        both, 4);
    x = network_max_pool(net, both, 3, 2, 0, true);
    y = network_group_norm(net, x, "norm_d", 1, -1, false);
    y = network_dropout(net, y, 0.3);
    x = convolve(net, y, "d", 4, 1, 2, 0, true);
    y = network_average(net, x);
    head(net, y);
}

static void reference_has_the_gradient_of_its_loss(void **state)
{
    (void)state;
    struct trial t;
    begin(&t,
          &(struct instance_under_test){
              .describe = describe_everything, .channels = 2, .height = 13, .width = 9},
          3);
    reference_gradient(&t.reference);
    double *w = t.reference.w;
    const double h = 1e-6;
    for (uint64_t i = 0; i < t.plain.n_weights; i++) {
        const double middle = w[i];
        w[i] = middle + h;
        const double above = reference_loss(&t.reference);
        w[i] = middle - h;
        const double below = reference_loss(&t.reference);
        w[i] = middle;
        const double slope = (above - below) / (2 * h);
        if (fabs(slope - t.reference.dw[i]) > 1e-7)
            fail_msg("weight %d: slope %.9g, gradient %.9g", (int)i, slope, t.reference.dw[i]);
    }
    end(&t);
}

static void every_layer_type(void **state)
{
    (void)state;
    static const uint32_t batches[] = {1, 3, 16, 17};
    static const uint32_t sizes[][3] = {{2, 13, 9}, {1, 28, 28}, {3, 33, 17}, {4, 7, 40}};
    for (size_t s = 0; s < 4; s++)
        for (size_t b = 0; b < 4; b++)
            check(
                &(struct instance_under_test){
                    .describe = describe_everything, sizes[s][0], sizes[s][1], sizes[s][2]},
                batches[b]);
}

/* Nearly all values are dropped: the rest makes up for them to the last digit. */
static void describe_dropout(struct network *net, const struct instance_under_test *s)
{
    int x = convolve(net, NETWORK_PICTURE, "stem", 64, 1, 1, 0, false);
    x = network_dropout(net, x, s->in == 0 ? 0.999 : 0.9999);
    head(net, network_average(net, x));
}

static void dropout_is_unbiased(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++)
        check(
            &(struct instance_under_test){
                .describe = describe_dropout, .channels = 3, .height = 16, .width = 16, .in = i},
            16);
}

/* One convolution between a 1x1 convolution and the head. */
static void describe_convolution(struct network *net, const struct instance_under_test *s)
{
    int x = convolve(net, NETWORK_PICTURE, "stem", s->in, 1, 1, 0, false);
    x = convolve(net, x, "convolution", s->out, s->kernel, s->stride, s->padding, true);
    head(net, network_average(net, x));
}

static void check_convolution(uint32_t height, uint32_t width, uint32_t in, uint32_t out,
                              uint32_t kernel, uint32_t stride, uint32_t padding, uint32_t n)
{
    const struct instance_under_test s = {.describe = describe_convolution,
                                          .channels = 3,
                                          .height = height,
                                          .width = width,
                                          .in = in,
                                          .out = out,
                                          .kernel = kernel,
                                          .stride = stride,
                                          .padding = padding};
    check(&s, n);
}

static void shapes_of_cnn(void **state)
{
    (void)state;
    check_convolution(16, 16, 256, 64, 3, 1, 1, 3);
    check_convolution(14, 14, 256, 64, 3, 1, 1, 1);
    check_convolution(16, 8, 256, 64, 3, 1, 1, 1);
}

static void shapes_of_squeezenet(void **state)
{
    (void)state;
    static const uint32_t shape[][3] = {/* in, out, kernel */
                                        {64, 16, 1},  {16, 64, 1},  {16, 64, 3},  {128, 16, 1},
                                        {128, 32, 1}, {32, 128, 3}, {256, 48, 1}, {48, 192, 3},
                                        {384, 64, 1}, {64, 256, 3}, {512, 10, 1}};
    for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++) {
        check_convolution(7, 7, shape[i][0], shape[i][1], shape[i][2], 1, shape[i][2] / 2, 3);
        check_convolution(3, 3, shape[i][0], shape[i][1], shape[i][2], 1, shape[i][2] / 2, 16);
        check_convolution(1, 1, shape[i][0], shape[i][1], shape[i][2], 1, shape[i][2] / 2, 17);
        check_convolution(1, 2, shape[i][0], shape[i][1], shape[i][2], 1, shape[i][2] / 2, 1);
    }
}

static void shapes_of_resnet18(void **state)
{
    (void)state;
    uint32_t size = 8;
    for (uint32_t channels = 64; channels <= 512; channels *= 2, size /= 2) {
        if (channels > 64) {
            check_convolution(2 * size, 2 * size, channels / 2, channels, 3, 2, 1, 3);
            check_convolution(2 * size, 2 * size, channels / 2, channels, 1, 2, 0, 17);
        }
        check_convolution(size, size, channels, channels, 3, 1, 1, channels == 64 ? 3 : 16);
        check_convolution(size, size, channels, channels, 3, 1, 1, 1);
    }
    check_convolution(7, 8, 64, 64, 3, 1, 1, 17);
    check_convolution(5, 3, 64, 128, 3, 2, 1, 3);
}

/* The models' first layers. */
static void describe_first(struct network *net, const struct instance_under_test *s)
{
    int x = convolve(net, NETWORK_PICTURE, "first", s->out, s->kernel, s->stride, s->padding,
                     s->stride == 2);
    if (s->kernel == 7)
        x = network_max_pool(net, x, 3, 2, 1, false);
    else if (s->stride == 2)
        x = network_max_pool(net, x, 3, 2, 0, true);
    else
        x = network_max_pool(net, x, 2, 2, 0, false);
    head(net, network_average(net, x));
}

static void first_convolutions(void **state)
{
    (void)state;
    static const uint32_t size[][4] = {
        {3, 32, 32, 16}, {1, 28, 28, 3}, {2, 33, 17, 17}, {4, 9, 31, 1}, {3, 28, 32, 3}};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        struct instance_under_test s = {.describe = describe_first,
                                        .channels = size[i][0],
                                        .height = size[i][1],
                                        .width = size[i][2]};
        s.out = 256; /* cnn */
        s.kernel = 3;
        s.stride = 1;
        s.padding = 1;
        check(&s, size[i][3]);
        s.out = 64; /* squeezenet */
        s.stride = 2;
        s.padding = 0;
        check(&s, size[i][3]);
        s.kernel = 7; /* resnet18 */
        s.padding = 3;
        check(&s, size[i][3]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_has_the_gradient_of_its_loss),
        cmocka_unit_test(normal_share_is_that_of_the_distribution),
        cmocka_unit_test(every_layer_type),
        cmocka_unit_test(dropout_is_unbiased),
        cmocka_unit_test(shapes_of_cnn),
        cmocka_unit_test(shapes_of_squeezenet),
        cmocka_unit_test(shapes_of_resnet18),
        cmocka_unit_test(first_convolutions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
