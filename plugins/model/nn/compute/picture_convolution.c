/* picture_convolution.c - the first convolution, from pictures with few channels.
 *
 * One channel or three are too few for a matrix product for each filter tap.  Pictures are kept
 * as [y][sample][x][channel] with their padding, so that a whole line of a filter meets contiguous
 * numbers: the lines of the filter are the segments of one product for each output position.
 * There is no gradient by the picture. */
#include <string.h>

#include "arithmetic.h"
#include "product.h"
#include "strided_picture.h"
#include "vector.h"

/* Strides, in floats, in the padded pictures. */
struct geometry {
    size_t sample;
    size_t line;
    size_t step; /* from one output position to the next */
    size_t taps; /* of a line of the filter: kernel_width * channels */
    float *pictures;
};

static struct geometry geometry_of(const struct layer *l, const struct pass *pass)
{
    const size_t sample = (l->in_width + 2 * (size_t)l->padding) * l->in_channels;
    return (struct geometry){
        .sample = sample,
        .line = sample * pass->n,
        .step = (size_t)l->stride * l->in_channels,
        .taps = (size_t)l->kernel_width * l->in_channels,
        .pictures = pass_memory(pass, l->saved_offset),
    };
}

/* Channels of one line of one sample, from planes to pixels. */
NN_INLINE void interleave(const size_t channels, size_t width, const float *from, size_t plane,
                          float *to)
{
    for (size_t x = 0; x < width; x++)
        for (size_t c = 0; c < channels; c++)
            to[x * channels + c] = from[c * plane + x];
}

static void pad_pictures(const struct layer *l, const struct pass *pass)
{
    const struct geometry g = geometry_of(l, pass);
    const size_t channels = l->in_channels;
    const size_t plane = (size_t)l->in_height * l->in_width;
    const size_t border = l->padding * g.line;
    memset(g.pictures, 0, border * sizeof(float));
    memset(g.pictures + (l->padding + l->in_height) * g.line, 0, border * sizeof(float));
    for (size_t y = 0; y < l->in_height; y++)
        for (size_t n = 0; n < pass->n; n++) {
            const float *from = pass->picture + n * channels * plane + y * l->in_width;
            float *to = g.pictures + (y + l->padding) * g.line + n * g.sample;
            const size_t side = l->padding * channels;
            memset(to, 0, side * sizeof *to);
            memset(to + g.sample - side, 0, side * sizeof *to);
            if (channels == 3)
                interleave(3, l->in_width, from, plane, to + side);
            else if (channels == 1)
                interleave(1, l->in_width, from, plane, to + side);
            else
                interleave(channels, l->in_width, from, plane, to + side);
        }
}

static struct block output_line(const struct layer *l, const struct pass *pass, float *at, size_t y)
{
    struct block b = output_block(l, pass, at);
    b.rows = l->out_width * (size_t)pass->n;
    b.at += y * b.rows * b.stride;
    return b;
}

void picture_convolution_forward(const struct layer *l, const struct pass *pass)
{
    if (l->winograd) {
        strided_picture_forward(l, pass);
        return;
    }
    const struct geometry g = geometry_of(l, pass);
    const size_t filter = l->kernel_height * g.taps;
    const float *bias = l->bias >= 0 ? pass_weights(pass, l->bias) : NULL;
    pad_pictures(l, pass);
    for (size_t y = 0; y < l->out_height; y++) {
        const struct block out = output_line(l, pass, pass_values(pass, l->output), y);
        for (size_t panel = 0; panel < out.columns; panel += WEIGHT_PANEL) {
            const size_t width = smaller(out.columns - panel, WEIGHT_PANEL);
            for (size_t x = 0; x < l->out_width; x++)
                product_run(pass, &(struct product){
                                      .rows = pass->n,
                                      .columns = width,
                                      .segments = l->kernel_height,
                                      .depth = g.taps,
                                      .a = g.pictures + y * l->stride * g.line + x * g.step,
                                      .a_row = (ptrdiff_t)g.sample,
                                      .a_column = 1,
                                      .a_segment = (ptrdiff_t)g.line,
                                      .b = pass_weights(pass, l->weight) + panel * filter,
                                      .b_row = (ptrdiff_t)width,
                                      .b_segment = (ptrdiff_t)(g.taps * width),
                                      .c = out.at + x * pass->n * out.stride + panel,
                                      .c_row = (ptrdiff_t)out.stride,
                                      .scale = 1,
                                      .rectify = l->relu,
                                      .bias = bias != NULL ? bias + panel : NULL,
                                  });
        }
    }
}

/* Adds what line y of the output says about the weights; the positions of the line are the
 * segments of the sum. */
static void line_gradient(const struct layer *l, const struct pass *pass, size_t y)
{
    const struct geometry g = geometry_of(l, pass);
    const struct block dy = output_line(l, pass, pass_gradient(pass, l->output), y);
    for (size_t panel = 0; panel < dy.columns; panel += WEIGHT_PANEL) {
        const size_t width = smaller(dy.columns - panel, WEIGHT_PANEL);
        float *target = pass_target(pass, l->weight) + panel * l->kernel_height * g.taps;
        for (size_t r = 0; r < l->kernel_height; r++)
            product_run(pass, &(struct product){
                                  .rows = g.taps,
                                  .columns = width,
                                  .segments = l->out_width,
                                  .depth = pass->n,
                                  .a = g.pictures + (y * l->stride + r) * g.line,
                                  .a_row = 1,
                                  .a_column = (ptrdiff_t)g.sample,
                                  .a_segment = (ptrdiff_t)g.step,
                                  .b = dy.at + panel,
                                  .b_row = (ptrdiff_t)dy.stride,
                                  .b_segment = (ptrdiff_t)(pass->n * dy.stride),
                                  .c = target + r * g.taps * width,
                                  .c_row = (ptrdiff_t)width,
                                  .scale = pass->scale,
                                  .add = pass->add || y > 0,
                              });
    }
}

void picture_convolution_backward(const struct layer *l, const struct pass *pass)
{
    const struct block dy = output_block(l, pass, pass_gradient(pass, l->output));
    if (l->relu)
        mask_rectified(dy, pass_values(pass, l->output) + l->out_first);
    if (l->winograd)
        strided_picture_backward(l, pass);
    for (size_t y = 0; y < l->out_height && !l->winograd; y++)
        line_gradient(l, pass, y);
    if (l->bias >= 0)
        bias_gradient(pass, l->bias, dy);
}
