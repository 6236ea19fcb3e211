/* depthwise.c - convolutions of each channel on its own (groups = channels), to one channel or
 * several: result o comes from channel o / multiple.  Weights lie as [panel][tap][out]. */
#include <string.h>

#include "taps.h"
#include "vector.h"

/* One tap of one output pixel: rows of all samples. */
struct tap {
    size_t n;
    size_t in; /* channels */
    size_t out;
    size_t multiple; /* out / in */
    size_t taps;
    size_t number;
    const float *w;
};

/* What happens to each triple (x, w, y). */
enum mode { MODE_FORWARD, MODE_INPUT, MODE_WEIGHT };

/* y += x w, or x += y w, or sum += x y; sum lies as the weights. */
NN_INLINE void run_tap(const struct tap *t, const size_t multiple, const enum mode mode, float *x,
                       float *y, double *sum)
{
    for (size_t panel = 0; panel < t->out; panel += WEIGHT_PANEL) {
        const size_t width = smaller(t->out - panel, WEIGHT_PANEL);
        const size_t at = panel * t->taps + t->number * width;
        const float *w = t->w + at;
        float part[WEIGHT_PANEL] = {0};
        for (size_t n = 0; n < t->n; n++) {
            float *restrict yn = y + n * t->out + panel;
            float *restrict xn = x + n * t->in;
            for (size_t j = 0; j < width; j++) {
                float *restrict xj = &xn[multiple == 1 ? panel + j : (panel + j) / multiple];
                if (mode == MODE_FORWARD)
                    yn[j] += *xj * w[j];
                else if (mode == MODE_INPUT)
                    *xj += yn[j] * w[j];
                else
                    part[j] += *xj * yn[j];
            }
        }
        for (size_t j = 0; mode == MODE_WEIGHT && j < width; j++)
            sum[at + j] += (double)part[j];
    }
}

/* All taps at all positions. */
NN_INLINE void run_taps(const struct layer *l, const struct pass *pass, const enum mode mode,
                        float *x, float *y, double *sum)
{
    struct tap t = {.n = pass->n,
                    .in = l->in_channels,
                    .out = l->out_channels,
                    .multiple = l->out_channels / l->in_channels,
                    .taps = (size_t)l->kernel_height * l->kernel_width,
                    .w = pass_weights(pass, l->weight)};
    for (size_t v = 0; v < l->out_height; v++) {
        const struct span rs = taps_at(v, l->kernel_height, l->stride, l->padding_y, l->in_height);
        for (size_t u = 0; u < l->out_width; u++) {
            const struct span qs = taps_at(u, l->kernel_width, l->stride, l->padding, l->in_width);
            for (size_t r = rs.begin; r < rs.end; r++)
                for (size_t q = qs.begin; q < qs.end; q++) {
                    const size_t pixel = (v * l->stride + r - l->padding_y) * l->in_width +
                                         u * l->stride + q - l->padding;
                    float *xp = x + pixel * t.n * t.in;
                    float *yp = y + (v * l->out_width + u) * t.n * t.out;
                    t.number = r * l->kernel_width + q;
                    if (t.multiple == 1)
                        run_tap(&t, 1, mode, xp, yp, sum);
                    else
                        run_tap(&t, t.multiple, mode, xp, yp, sum);
                }
        }
    }
}

void depthwise_forward(const struct layer *l, const struct pass *pass)
{
    const struct block out = output_block(l, pass, pass_values(pass, l->output));
    for (size_t i = 0; i < out.rows; i++) {
        if (l->bias >= 0)
            memcpy(out.at + i * out.stride, pass_weights(pass, l->bias),
                   out.columns * sizeof *out.at);
        else
            memset(out.at + i * out.stride, 0, out.columns * sizeof *out.at);
    }
    run_taps(l, pass, MODE_FORWARD, pass_values(pass, l->input), out.at, NULL);
}

void depthwise_backward(const struct layer *l, const struct pass *pass)
{
    float *x = pass_values(pass, l->input);
    float *dx = pass_gradient(pass, l->input);
    float *dy = pass_gradient(pass, l->output);
    double *sum = (double *)(void *)pass_scratch_fixed(pass);
    const size_t weights = (size_t)l->kernel_height * l->kernel_width * l->out_channels;
    if (!l->adds_input_gradient)
        memset(dx, 0, (size_t)l->in_height * l->in_width * pass->n * l->in_channels * sizeof *dx);
    run_taps(l, pass, MODE_INPUT, dx, dy, NULL);
    memset(sum, 0, weights * sizeof *sum);
    run_taps(l, pass, MODE_WEIGHT, x, dy, sum);
    for (size_t i = 0; i < weights; i++)
        store_gradient(pass, &pass_target(pass, l->weight)[i], sum[i]);
    if (l->bias >= 0)
        bias_gradient(pass, l->bias, output_block(l, pass, dy));
}
