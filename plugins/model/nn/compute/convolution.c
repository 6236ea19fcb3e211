/* convolution.c - convolutions between activations, as products over filter taps.
 *
 * In the layout [y][x][sample][channel] the inputs that one filter tap meets along a line of
 * output positions are one contiguous matrix (stride 1), so each tap is one matrix product on
 * the activations as they lie; taps that meet only padding are never computed. */
#include <string.h>

#include "arithmetic.h"

/* One tap met with a run of neighbouring positions of one output line: input pixel in_pixel + j
 * belongs to output pixel out_pixel + j, j < pixels. */
struct tap_run {
    size_t tap;
    size_t in_pixel;
    size_t out_pixel;
    size_t pixels;
    bool first_of_output; /* nothing was added to these output pixels before */
    bool first_of_tap;    /* no run of this tap came before */
};

typedef void tap_function(const struct layer *l, const struct pass *pass,
                          const struct tap_run *run);

/* Positions o in [begin, end) of n whose input o * stride + offset - padding lies inside. */
struct span {
    size_t begin;
    size_t end;
};

static struct span inside(size_t n, size_t stride, size_t offset, size_t padding, size_t length)
{
    struct span s = {0, 0};
    if (offset < padding)
        s.begin = (padding - offset + stride - 1) / stride;
    if (length + padding > offset)
        s.end = (length + padding - offset - 1) / stride + 1;
    if (s.end > n)
        s.end = n;
    if (s.begin > s.end)
        s.begin = s.end;
    return s;
}

/* The runs of tap t on output line y. */
static void visit_line(const struct layer *l, const struct pass *pass, tap_function *visit,
                       size_t t, size_t y)
{
    const size_t row = t / l->kernel_width;
    const size_t column = t % l->kernel_width;
    const struct span ys = inside(l->out_height, l->stride, row, l->padding, l->in_height);
    const struct span xs = inside(l->out_width, l->stride, column, l->padding, l->in_width);
    if (y < ys.begin || y >= ys.end || xs.begin == xs.end)
        return;
    const size_t central = (size_t)l->padding * l->kernel_width + l->padding;
    const size_t in_line = (y * l->stride + row - l->padding) * l->in_width;
    struct tap_run run = {.tap = t,
                          .first_of_output = t == central,
                          .first_of_tap = y == ys.begin,
                          .pixels = l->stride == 1 ? xs.end - xs.begin : 1};
    for (size_t x = xs.begin; x < xs.end; x += run.pixels) {
        run.in_pixel = in_line + x * l->stride + column - l->padding;
        run.out_pixel = y * l->out_width + x;
        visit(l, pass, &run);
        run.first_of_tap = false;
    }
}

static bool tap_is_used(const struct layer *l, size_t t)
{
    const struct span ys =
        inside(l->out_height, l->stride, t / l->kernel_width, l->padding, l->in_height);
    const struct span xs =
        inside(l->out_width, l->stride, t % l->kernel_width, l->padding, l->in_width);
    return ys.begin < ys.end && xs.begin < xs.end;
}

/* Visits every run once.  Whichever is larger, weights or activations, is streamed through the
 * caches once and not once for each line or tap.  Tap (padding, padding) comes first: it meets
 * the input at every position. */
static void walk_taps(const struct layer *l, const struct pass *pass, tap_function *visit)
{
    const size_t taps = (size_t)l->kernel_height * l->kernel_width;
    const size_t central = (size_t)l->padding * l->kernel_width + l->padding;
    const size_t weights = taps * l->in_channels * l->out_channels;
    const size_t values = (size_t)l->in_height * l->in_width * l->in_channels * pass->n;
    const bool lines_outside = values > weights;
    for (size_t i = 0; i < taps * l->out_height; i++) {
        const size_t y = lines_outside ? i / taps : i % l->out_height;
        const size_t order = lines_outside ? i % taps : i / l->out_height;
        const size_t t = order == 0 ? central : order <= central ? order - 1 : order;
        visit_line(l, pass, visit, t, y);
    }
}

static const float *input_rows(const struct layer *l, const struct pass *pass, size_t pixel)
{
    return pass_values(pass, l->input) + pixel * pass->n * l->in_channels;
}

static size_t output_stride(const struct layer *l, const struct pass *pass)
{
    return pass->net->activation[l->output].channels;
}

static void forward_run(const struct layer *l, const struct pass *pass, const struct tap_run *run)
{
    const size_t stride = output_stride(l, pass);
    const float *w = pass_weights(pass, l->weight) + run->tap * l->in_channels * l->out_channels;
    float *y = pass_values(pass, l->output) + run->out_pixel * pass->n * stride + l->out_first;
    matrix_product(run->pixels * pass->n, l->out_channels, l->in_channels, 1,
                   (struct matrix){input_rows(l, pass, run->in_pixel), l->in_channels, false},
                   (struct matrix){w, l->out_channels, false}, y, stride, !run->first_of_output);
}

static const float *output_gradient(const struct layer *l, const struct pass *pass, size_t pixel)
{
    return pass_gradient(pass, l->output) + pixel * pass->n * output_stride(l, pass) + l->out_first;
}

static void input_gradient_run(const struct layer *l, const struct pass *pass,
                               const struct tap_run *run)
{
    const float *w = pass_weights(pass, l->weight) + run->tap * l->in_channels * l->out_channels;
    float *dx = pass_gradient(pass, l->input) + run->in_pixel * pass->n * l->in_channels;
    matrix_product(
        run->pixels * pass->n, l->in_channels, l->out_channels, 1,
        (struct matrix){output_gradient(l, pass, run->out_pixel), output_stride(l, pass), false},
        (struct matrix){w, l->out_channels, true}, dx, l->in_channels, true);
}

static void weight_gradient_run(const struct layer *l, const struct pass *pass,
                                const struct tap_run *run)
{
    float *dw = pass_target(pass, l->weight) + run->tap * l->in_channels * l->out_channels;
    matrix_product(
        l->in_channels, l->out_channels, run->pixels * pass->n, pass->scale,
        (struct matrix){input_rows(l, pass, run->in_pixel), l->in_channels, true},
        (struct matrix){output_gradient(l, pass, run->out_pixel), output_stride(l, pass), false},
        dw, l->out_channels, pass->add || !run->first_of_tap);
}

void convolution_forward(const struct layer *l, const struct pass *pass)
{
    walk_taps(l, pass, forward_run);
    add_bias_and_rectify(output_block(l, pass, pass_values(pass, l->output)),
                         l->bias >= 0 ? pass_weights(pass, l->bias) : NULL, l->relu);
}

/* A tap that met nothing but padding has a gradient of exactly 0. */
static void clear_unused_taps(const struct layer *l, const struct pass *pass)
{
    const size_t size = (size_t)l->in_channels * l->out_channels;
    float *dw = pass_target(pass, l->weight);
    for (size_t t = 0; t < (size_t)l->kernel_height * l->kernel_width; t++)
        if (!tap_is_used(l, t))
            memset(dw + t * size, 0, size * sizeof *dw);
}

void convolution_backward(const struct layer *l, const struct pass *pass)
{
    const struct block dy = output_block(l, pass, pass_gradient(pass, l->output));
    if (l->relu)
        mask_rectified(dy, pass_values(pass, l->output) + l->out_first);
    if (!l->adds_input_gradient)
        memset(pass_gradient(pass, l->input), 0,
               (size_t)l->in_height * l->in_width * l->in_channels * pass->n * sizeof(float));
    /* The input's gradient first: the weights' may be a step that changes the weights. */
    walk_taps(l, pass, input_gradient_run);
    if (!pass->add)
        clear_unused_taps(l, pass);
    walk_taps(l, pass, weight_gradient_run);
    if (l->bias >= 0)
        bias_gradient(pass, l->bias, dy);
}
