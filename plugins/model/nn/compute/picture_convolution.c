/* picture_convolution.c - the first convolution, from pictures with few channels.
 *
 * One channel or three are too few for a matrix product for each filter tap, so one line of
 * output at a time the patches are laid out as the rows of a matrix ("im2col").  Pictures are
 * kept as [sample][y][x][channel] with their padding, so a line of a patch is contiguous.  There
 * is no gradient by the picture. */
#include <string.h>

#include "arithmetic.h"

struct geometry {
    size_t padded_height;
    size_t padded_width;
    size_t patch; /* values of a patch: kernel_height * kernel_width * channels */
};

static struct geometry geometry_of(const struct layer *l)
{
    return (struct geometry){
        .padded_height = l->in_height + 2 * (size_t)l->padding,
        .padded_width = l->in_width + 2 * (size_t)l->padding,
        .patch = (size_t)l->kernel_height * l->kernel_width * l->in_channels,
    };
}

static float *padded_pictures(const struct layer *l, const struct pass *pass)
{
    return pass_memory(pass, l->saved_offset);
}

static void pad_pictures(const struct layer *l, const struct pass *pass)
{
    const struct geometry g = geometry_of(l);
    const size_t channels = l->in_channels;
    const size_t plane = (size_t)l->in_height * l->in_width;
    float *padded = padded_pictures(l, pass);
    memset(padded, 0, pass->n * g.padded_height * g.padded_width * channels * sizeof *padded);
    for (size_t n = 0; n < pass->n; n++)
        for (size_t y = 0; y < l->in_height; y++) {
            const float *from = pass->picture + n * channels * plane + y * l->in_width;
            float *to =
                padded +
                ((n * g.padded_height + y + l->padding) * g.padded_width + l->padding) * channels;
            for (size_t x = 0; x < l->in_width; x++)
                for (size_t c = 0; c < channels; c++)
                    to[x * channels + c] = from[c * plane + x];
        }
}

/* The patches of output line y: rows (x, sample), each [kernel y][kernel x][channel]. */
static const float *gather_patches(const struct layer *l, const struct pass *pass, size_t y)
{
    const struct geometry g = geometry_of(l);
    const size_t line = (size_t)l->kernel_width * l->in_channels;
    float *patches = pass_scratch(pass);
    float *to = patches;
    for (size_t x = 0; x < l->out_width; x++)
        for (size_t n = 0; n < pass->n; n++) {
            const float *from =
                padded_pictures(l, pass) +
                ((n * g.padded_height + y * l->stride) * g.padded_width + x * l->stride) *
                    l->in_channels;
            for (size_t r = 0; r < l->kernel_height; r++, to += line)
                for (size_t i = 0; i < line; i++)
                    to[i] = from[r * g.padded_width * l->in_channels + i];
        }
    return patches;
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
    const size_t patch = geometry_of(l).patch;
    pad_pictures(l, pass);
    for (size_t y = 0; y < l->out_height; y++) {
        const struct matrix patches = {gather_patches(l, pass, y), patch, false};
        const struct matrix w = {pass_weights(pass, l->weight), l->out_channels, false};
        const struct block out = output_line(l, pass, pass_values(pass, l->output), y);
        matrix_product(out.rows, out.columns, patch, 1, patches, w, out.at, out.stride, false);
        add_bias_and_rectify(out, l->bias >= 0 ? pass_weights(pass, l->bias) : NULL, l->relu);
    }
}

void picture_convolution_backward(const struct layer *l, const struct pass *pass)
{
    const size_t patch = geometry_of(l).patch;
    const struct block dy = output_block(l, pass, pass_gradient(pass, l->output));
    if (l->relu)
        mask_rectified(dy, pass_values(pass, l->output) + l->out_first);
    for (size_t y = 0; y < l->out_height; y++) {
        const struct matrix patches = {gather_patches(l, pass, y), patch, true};
        const struct block line = output_line(l, pass, pass_gradient(pass, l->output), y);
        matrix_product(patch, line.columns, line.rows, pass->scale, patches,
                       (struct matrix){line.at, line.stride, false}, pass_target(pass, l->weight),
                       l->out_channels, pass->add || y > 0);
    }
    if (l->bias >= 0)
        bias_gradient(pass, l->bias, dy);
}
