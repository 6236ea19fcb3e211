/* convolution.c - convolutions between activations.
 *
 * In the layout [y][x][sample][channel] the values that one filter tap meets along a line of
 * output positions are one contiguous matrix (stride 1), and those of the taps beside it lie one
 * pixel further.  So each line of a filter is one matrix product on the activations as they lie:
 * no copies, and no work on padding. */
#include <assert.h>
#include <string.h>

#include "arithmetic.h"
#include "correlation.h"
#include "product.h"
#include "taps.h"
#include "transpose.h"
#include "two_by_two.h"
#include "winograd.h"

/* out[y][x] = sum over taps (r, q) of in[y * stride + r - padding_y][x * stride + q - padding_x]
 * times w[r][q], for n samples. */
struct correlation {
    struct map in;
    struct map out;
    size_t kernel_height;
    size_t kernel_width;
    size_t stride;
    size_t padding_y;
    size_t padding_x;
    const float *w; /* panels of WEIGHT_PANEL output channels: [panel][tap][in][out] */
    bool add;
    bool rectify;
    const float *bias; /* of the output channels; NULL: none */
};

/* Filter line r at output line y, for the output channels of one panel: the positions of the line
 * fall into runs that meet the same taps. */
static void correlate_line(const struct pass *pass, const struct correlation *c, size_t panel,
                           size_t r, size_t y)
{
    const struct span lines = taps_at(y, c->kernel_height, c->stride, c->padding_y, c->in.height);
    const size_t columns = smaller(c->out.channels - panel, WEIGHT_PANEL);
    const size_t tap = c->in.channels * columns;
    const float *w = c->w + panel * c->in.channels * c->kernel_height * c->kernel_width +
                     r * c->kernel_width * tap;
    const float *in =
        c->in.at + (y * c->stride + r - c->padding_y) * c->in.width * pass->n * c->in.row;
    size_t end;
    for (size_t x = 0; x < c->out.width; x = end) {
        const struct span q = taps_at(x, c->kernel_width, c->stride, c->padding_x, c->in.width);
        for (end = x + 1; end < c->out.width && c->stride == 1; end++) {
            const struct span next = taps_at(end, c->kernel_width, 1, c->padding_x, c->in.width);
            if (next.begin != q.begin || next.end != q.end)
                break;
        }
        product_run(pass,
                    &(struct product){
                        .rows = (end - x) * pass->n,
                        .columns = columns,
                        .segments = q.end - q.begin,
                        .depth = c->in.channels,
                        .a = in + (x * c->stride + q.begin - c->padding_x) * pass->n * c->in.row,
                        .a_row = (ptrdiff_t)c->in.row,
                        .a_column = 1,
                        .a_segment = (ptrdiff_t)(pass->n * c->in.row),
                        .b = w + q.begin * tap,
                        .b_row = (ptrdiff_t)columns,
                        .b_segment = (ptrdiff_t)tap,
                        .c = c->out.at + (y * c->out.width + x) * pass->n * c->out.row + panel,
                        .c_row = (ptrdiff_t)c->out.row,
                        .scale = 1,
                        .add = c->add || r > lines.begin,
                        .rectify = c->rectify && r + 1 == lines.end,
                        .bias = c->bias != NULL && r + 1 == lines.end ? c->bias + panel : NULL,
                    });
    }
}

/* Each panel: whichever is larger, its weights or the input, goes through the caches once and not
 * once for each line of the picture or of the filter. */
static void correlate(const struct pass *pass, const struct correlation *c)
{
    struct correlation flat = *c;
    if (c->kernel_height == 1 && c->kernel_width == 1 && c->stride == 1) {
        flat.in.width = flat.out.width = c->in.width * c->in.height;
        flat.in.height = flat.out.height = 1;
        c = &flat;
    }
    const size_t weights = c->kernel_height * c->kernel_width * WEIGHT_PANEL;
    const size_t values = c->in.height * c->in.width * pass->n;
    const bool picture_outside = values > weights;
    const size_t outer = picture_outside ? c->out.height : c->kernel_height;
    const size_t inner = picture_outside ? c->kernel_height : c->out.height;
    for (size_t panel = 0; panel < c->out.channels; panel += WEIGHT_PANEL)
        for (size_t i = 0; i < outer; i++)
            for (size_t j = 0; j < inner; j++) {
                const size_t y = picture_outside ? i : j;
                const size_t r = picture_outside ? j : i;
                const struct span rows =
                    taps_at(y, c->kernel_height, c->stride, c->padding_y, c->in.height);
                if (r >= rows.begin && r < rows.end)
                    correlate_line(pass, c, panel, r, y);
            }
}

void convolution_forward(const struct layer *l, const struct pass *pass)
{
    if (l->two_by_two || l->winograd) {
        (l->two_by_two ? two_by_two_forward : winograd_forward)(l, pass);
        return;
    }
    correlate(pass, &(struct correlation){
                        .in = input_map(l, pass_values(pass, l->input)),
                        .out = output_map(l, pass, pass_values(pass, l->output)),
                        .kernel_height = l->kernel_height,
                        .kernel_width = l->kernel_width,
                        .stride = l->stride,
                        .padding_y = l->padding_y,
                        .padding_x = l->padding,
                        .w = pass_weights(pass, l->weight),
                        .rectify = l->relu,
                        .bias = l->bias >= 0 ? pass_weights(pass, l->bias) : NULL,
                    });
}

/* Input gradient of a convolution of stride 1: the correlation of dy with the transposed filters,
 * turned by half a turn. */
static void correlate_back(const struct layer *l, const struct pass *pass)
{
    const size_t taps = (size_t)l->kernel_height * l->kernel_width;
    const float *w = pass_weights(pass, l->weight);
    float *turned = pass_scratch_fixed(pass);
    for (size_t in = 0; in < l->in_channels; in += WEIGHT_PANEL) {
        const size_t in_panel = smaller(l->in_channels - in, WEIGHT_PANEL);
        for (size_t out = 0; out < l->out_channels; out += WEIGHT_PANEL) {
            const size_t out_panel = smaller(l->out_channels - out, WEIGHT_PANEL);
            for (size_t t = 0; t < taps; t++)
                transpose(in_panel, out_panel,
                          w + (out * taps + t * out_panel) * l->in_channels + in * out_panel,
                          out_panel,
                          turned + (in * taps + (taps - 1 - t) * in_panel) * l->out_channels +
                              out * in_panel,
                          in_panel, false);
        }
    }
    correlate(pass, &(struct correlation){
                        .in = output_map(l, pass, pass_gradient(pass, l->output)),
                        .out = input_map(l, pass_gradient(pass, l->input)),
                        .kernel_height = l->kernel_height,
                        .kernel_width = l->kernel_width,
                        .stride = 1,
                        .padding_y = l->kernel_height - 1 - l->padding_y,
                        .padding_x = l->kernel_width - 1 - l->padding,
                        .w = turned,
                        .add = l->adds_input_gradient,
                    });
}

/* Rows of a matrix whose columns are samples: padded to whole vectors. */
static size_t sample_columns(const struct pass *pass)
{
    return (pass->n + LANES - 1) / (size_t)LANES * LANES;
}

/* One tap of one panel of filters: with samples as columns, the gradient of an input pixel is the
 * filter times the gradient of each output pixel that met it. */
static void scatter_tap(const struct layer *l, const struct pass *pass, size_t panel, size_t tap,
                        const float *dy, float *dx)
{
    const size_t columns = sample_columns(pass);
    const size_t width = smaller(l->out_channels - panel, WEIGHT_PANEL);
    const size_t taps = (size_t)l->kernel_height * l->kernel_width;
    const size_t r = tap / l->kernel_width;
    const size_t q = tap % l->kernel_width;
    for (size_t y = 0; y < l->out_height; y++) {
        const struct span rs = taps_at(y, l->kernel_height, l->stride, l->padding_y, l->in_height);
        for (size_t x = 0; x < l->out_width; x++) {
            const struct span qs = taps_at(x, l->kernel_width, l->stride, l->padding, l->in_width);
            if (r < rs.begin || r >= rs.end || q < qs.begin || q >= qs.end)
                continue;
            const size_t pixel =
                (y * l->stride + r - l->padding_y) * l->in_width + x * l->stride + q - l->padding;
            product_run(pass,
                        &(struct product){
                            .rows = l->in_channels,
                            .columns = columns,
                            .segments = 1,
                            .depth = width,
                            .a = pass_weights(pass, l->weight) +
                                 (panel * taps + tap * width) * l->in_channels,
                            .a_row = (ptrdiff_t)width,
                            .a_column = 1,
                            .b = dy + ((y * l->out_width + x) * l->out_channels + panel) * columns,
                            .b_row = (ptrdiff_t)columns,
                            .c = dx + pixel * l->in_channels * columns,
                            .c_row = (ptrdiff_t)columns,
                            .scale = 1,
                            .add = true,
                        });
        }
    }
}

/* Gradient of the weights of one tap and panel: the sum over samples and positions of input times
 * output gradient.  Lines (stride 1) or positions of one line are the segments of the sum. */
static void tap_gradient(const struct layer *l, const struct pass *pass, size_t panel, size_t tap)
{
    const size_t n = pass->n;
    const size_t r = tap / l->kernel_width;
    const size_t q = tap % l->kernel_width;
    const size_t width = smaller(l->out_channels - panel, WEIGHT_PANEL);
    const size_t taps = (size_t)l->kernel_height * l->kernel_width;
    const struct span ys = positions_of(r, l->out_height, l->stride, l->padding_y, l->in_height);
    const struct span xs = positions_of(q, l->out_width, l->stride, l->padding, l->in_width);
    float *target = pass_target(pass, l->weight) + (panel * taps + tap * width) * l->in_channels;
    if (ys.begin == ys.end || xs.begin == xs.end) {
        if (!pass->add) /* meets only padding: exactly 0 */
            memset(target, 0, width * l->in_channels * sizeof *target);
        return;
    }
    const struct map in = input_map(l, pass_values(pass, l->input));
    const struct map out = output_map(l, pass, pass_gradient(pass, l->output));
    const bool whole = l->stride == 1;
    const size_t in_line = l->in_width * n * in.row;
    const size_t out_line = l->out_width * n * out.row;
    struct product p = {
        .rows = l->in_channels,
        .columns = width,
        .segments = whole ? ys.end - ys.begin : xs.end - xs.begin,
        .depth = whole ? (xs.end - xs.begin) * n : n,
        .a_row = 1,
        .a_column = (ptrdiff_t)in.row,
        .a_segment = (ptrdiff_t)(whole ? in_line : l->stride * n * in.row),
        .b_row = (ptrdiff_t)out.row,
        .b_segment = (ptrdiff_t)(whole ? out_line : n * out.row),
        .c = target,
        .c_row = (ptrdiff_t)width,
        .scale = pass->scale,
        .add = pass->add,
    };
    for (size_t y = ys.begin; y < (whole ? ys.begin + 1 : ys.end); y++, p.add = true) {
        p.a = in.at + (y * l->stride + r - l->padding_y) * in_line +
              (xs.begin * l->stride + q - l->padding) * n * in.row;
        p.b = out.at + y * out_line + xs.begin * n * out.row + panel;
        product_run(pass, &p);
    }
}

/* Both gradients for small maps and for strides: activations are transposed instead of weights.
 * Tap by tap, the input's gradient first, so that weights come from memory once. */
static void scatter_back(const struct layer *l, const struct pass *pass)
{
    const size_t columns = sample_columns(pass);
    const size_t in_pixels = (size_t)l->in_height * l->in_width;
    const size_t in_size = l->in_channels * columns;
    const size_t out_pixels = (size_t)l->out_height * l->out_width;
    const size_t out_size = l->out_channels * columns;
    const struct map from = output_map(l, pass, pass_gradient(pass, l->output));
    const struct map to = input_map(l, pass_gradient(pass, l->input));
    float *dy = pass_scratch_fixed(pass);
    float *dx = dy + out_pixels * out_size;
    for (size_t p = 0; p < out_pixels; p++)
        transpose(pass->n, l->out_channels, from.at + p * pass->n * from.row, from.row,
                  dy + p * out_size, columns, true);
    if (!l->adds_input_gradient)
        memset(dx, 0, in_pixels * in_size * sizeof *dx);
    for (size_t p = 0; p < in_pixels && l->adds_input_gradient; p++)
        transpose(pass->n, l->in_channels, to.at + p * pass->n * to.row, to.row, dx + p * in_size,
                  columns, true);
    for (size_t panel = 0; panel < l->out_channels; panel += WEIGHT_PANEL)
        for (size_t t = 0; t < (size_t)l->kernel_height * l->kernel_width; t++) {
            scatter_tap(l, pass, panel, t, dy, dx);
            tap_gradient(l, pass, panel, t);
        }
    for (size_t p = 0; p < in_pixels; p++)
        transpose(l->in_channels, pass->n, dx + p * in_size, columns, to.at + p * pass->n * to.row,
                  to.row, false);
}

static void weight_gradient(const struct layer *l, const struct pass *pass)
{
    for (size_t panel = 0; panel < l->out_channels; panel += WEIGHT_PANEL)
        for (size_t t = 0; t < (size_t)l->kernel_height * l->kernel_width; t++)
            tap_gradient(l, pass, panel, t);
}

void convolution_backward(const struct layer *l, const struct pass *pass)
{
    const struct block dy = output_block(l, pass, pass_gradient(pass, l->output));
    if (l->relu)
        mask_rectified(dy, pass_values(pass, l->output) + l->out_first);
    /* The input's gradient before the weights', which may be a step that changes the weights. */
    if (l->two_by_two) {
        two_by_two_backward(l, pass);
    } else if (l->winograd) {
        winograd_backward(l, pass);
    } else if (l->transposes_weights) {
        correlate_back(l, pass);
        weight_gradient(l, pass);
    } else {
        scatter_back(l, pass);
    }
    if (l->bias >= 0)
        bias_gradient(pass, l->bias, dy);
}
