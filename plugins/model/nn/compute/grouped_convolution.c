/* grouped_convolution.c - convolutions whose channels fall into groups, or whose padding is half
 * the filter or more: for each group, filter tap and line one matrix product, as in convolution.c.
 */
#include <string.h>

#include "product.h"
#include "taps.h"

/* One group. */
struct group {
    size_t number;
    size_t in; /* channels of the group */
    size_t out;
    size_t taps;
    size_t in_pixel; /* floats */
    size_t out_pixel;
};

static struct group group_of(const struct layer *l, const struct pass *pass, size_t number)
{
    return (struct group){.number = number,
                          .in = l->in_channels / l->groups,
                          .out = l->out_channels / l->groups,
                          .taps = (size_t)l->kernel_height * l->kernel_width,
                          .in_pixel = (size_t)pass->n * l->in_channels,
                          .out_pixel = (size_t)pass->n * l->out_channels};
}

/* Offset of the group's weights and of one of its panels, in the tensor. */
static size_t panel_at(const struct group *g, size_t panel)
{
    return (g->number * g->out + panel) * g->in * g->taps;
}

static struct span lines_of(const struct layer *l, size_t r)
{
    return positions_of(r, l->out_height, l->stride, l->padding_y, l->in_height);
}

static struct span columns_of(const struct layer *l, size_t q)
{
    return positions_of(q, l->out_width, l->stride, l->padding, l->in_width);
}

/* Input pixel that tap (r, q) meets at position (y, x). */
static size_t met(const struct layer *l, size_t r, size_t q, size_t y, size_t x)
{
    return (y * l->stride + r - l->padding_y) * l->in_width + x * l->stride + q - l->padding;
}

static void add_tap(const struct layer *l, const struct pass *pass, const struct group *g,
                    size_t tap)
{
    const size_t r = tap / l->kernel_width;
    const size_t q = tap % l->kernel_width;
    const struct span ys = lines_of(l, r);
    const struct span xs = columns_of(l, q);
    const float *in = pass_values(pass, l->input) + g->number * g->in;
    float *out = pass_values(pass, l->output) + g->number * g->out;
    const size_t run = l->stride == 1 ? xs.end - xs.begin : 1; /* positions of one product */
    for (size_t panel = 0; panel < g->out; panel += WEIGHT_PANEL) {
        const size_t width = smaller(g->out - panel, WEIGHT_PANEL);
        for (size_t y = ys.begin; y < ys.end; y++)
            for (size_t x = xs.begin; x < xs.end; x += run)
                product_run(pass, &(struct product){
                                      .rows = run * pass->n,
                                      .columns = width,
                                      .segments = 1,
                                      .depth = g->in,
                                      .a = in + met(l, r, q, y, x) * g->in_pixel,
                                      .a_row = (ptrdiff_t)l->in_channels,
                                      .a_column = 1,
                                      .b = pass_weights(pass, l->weight) + panel_at(g, panel) +
                                           tap * g->in * width,
                                      .b_row = (ptrdiff_t)width,
                                      .c = out + (y * l->out_width + x) * g->out_pixel + panel,
                                      .c_row = (ptrdiff_t)l->out_channels,
                                      .scale = 1,
                                      .add = true,
                                  });
    }
}

void grouped_convolution_forward(const struct layer *l, const struct pass *pass)
{
    const struct block out = output_block(l, pass, pass_values(pass, l->output));
    const float *bias = l->bias >= 0 ? pass_weights(pass, l->bias) : NULL;
    for (size_t i = 0; i < out.rows; i++) {
        if (bias != NULL)
            memcpy(out.at + i * out.stride, bias, out.columns * sizeof *bias);
        else
            memset(out.at + i * out.stride, 0, out.columns * sizeof *out.at);
    }
    for (size_t number = 0; number < l->groups; number++) {
        const struct group g = group_of(l, pass, number);
        for (size_t tap = 0; tap < g.taps; tap++)
            add_tap(l, pass, &g, tap);
    }
}

/* The group's weights as [tap][out][in]. */
static void transpose_group(const struct layer *l, const struct pass *pass, const struct group *g,
                            float *to)
{
    for (size_t panel = 0; panel < g->out; panel += WEIGHT_PANEL) {
        const size_t width = smaller(g->out - panel, WEIGHT_PANEL);
        const float *w = pass_weights(pass, l->weight) + panel_at(g, panel);
        for (size_t tap = 0; tap < g->taps; tap++)
            for (size_t i = 0; i < g->in; i++)
                for (size_t o = 0; o < width; o++)
                    to[(tap * g->out + panel + o) * g->in + i] = w[(tap * g->in + i) * width + o];
    }
}

static void input_gradient(const struct layer *l, const struct pass *pass, const struct group *g,
                           size_t tap)
{
    const size_t r = tap / l->kernel_width;
    const size_t q = tap % l->kernel_width;
    const struct span ys = lines_of(l, r);
    const struct span xs = columns_of(l, q);
    const float *dy = pass_gradient(pass, l->output) + g->number * g->out;
    float *dx = pass_gradient(pass, l->input) + g->number * g->in;
    const size_t run = l->stride == 1 ? xs.end - xs.begin : 1;
    for (size_t y = ys.begin; y < ys.end; y++)
        for (size_t x = xs.begin; x < xs.end; x += run)
            product_run(pass, &(struct product){
                                  .rows = run * pass->n,
                                  .columns = g->in,
                                  .segments = 1,
                                  .depth = g->out,
                                  .a = dy + (y * l->out_width + x) * g->out_pixel,
                                  .a_row = (ptrdiff_t)l->out_channels,
                                  .a_column = 1,
                                  .b = pass_scratch_fixed(pass) + tap * g->out * g->in,
                                  .b_row = (ptrdiff_t)g->in,
                                  .c = dx + met(l, r, q, y, x) * g->in_pixel,
                                  .c_row = (ptrdiff_t)l->in_channels,
                                  .scale = 1,
                                  .add = true,
                              });
}

/* One tap of one panel, whose weights' gradient is at `target`. */
static void weight_gradient(const struct layer *l, const struct pass *pass, const struct group *g,
                            size_t tap, size_t panel)
{
    const size_t r = tap / l->kernel_width;
    const size_t q = tap % l->kernel_width;
    const struct span ys = lines_of(l, r);
    const struct span xs = columns_of(l, q);
    const size_t width = smaller(g->out - panel, WEIGHT_PANEL);
    float *target = pass_target(pass, l->weight) + panel_at(g, panel) + tap * g->in * width;
    if (!pass->add)
        memset(target, 0, g->in * width * sizeof *target);
    for (size_t y = ys.begin; y < ys.end && xs.begin < xs.end; y++)
        product_run(pass, &(struct product){
                              .rows = g->in,
                              .columns = width,
                              .segments = xs.end - xs.begin,
                              .depth = pass->n,
                              .a = pass_values(pass, l->input) +
                                   met(l, r, q, y, xs.begin) * g->in_pixel + g->number * g->in,
                              .a_row = 1,
                              .a_column = (ptrdiff_t)l->in_channels,
                              .a_segment = (ptrdiff_t)(l->stride * g->in_pixel),
                              .b = pass_gradient(pass, l->output) +
                                   (y * l->out_width + xs.begin) * g->out_pixel +
                                   g->number * g->out + panel,
                              .b_row = (ptrdiff_t)l->out_channels,
                              .b_segment = (ptrdiff_t)g->out_pixel,
                              .c = target,
                              .c_row = (ptrdiff_t)width,
                              .scale = pass->scale,
                              .add = true,
                          });
}

void grouped_convolution_backward(const struct layer *l, const struct pass *pass)
{
    float *dx = pass_gradient(pass, l->input);
    if (!l->adds_input_gradient)
        memset(dx, 0, (size_t)l->in_height * l->in_width * pass->n * l->in_channels * sizeof *dx);
    for (size_t number = 0; number < l->groups; number++) {
        const struct group g = group_of(l, pass, number);
        transpose_group(l, pass, &g, pass_scratch_fixed(pass)); /* before steps change weights */
        for (size_t tap = 0; tap < g.taps; tap++)
            input_gradient(l, pass, &g, tap);
        for (size_t panel = 0; panel < g.out; panel += WEIGHT_PANEL)
            for (size_t tap = 0; tap < g.taps; tap++)
                weight_gradient(l, pass, &g, tap, panel);
    }
    if (l->bias >= 0)
        bias_gradient(pass, l->bias, output_block(l, pass, pass_gradient(pass, l->output)));
}
