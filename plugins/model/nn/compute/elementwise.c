/* elementwise.c - layers that treat every value on its own: activations, sums, copies, and the
 * samples as an activation. */
#include <string.h>

#include "arithmetic.h"
#include "exponential.h"

static size_t count(const struct layer *l, const struct pass *pass)
{
    return (size_t)l->out_height * l->out_width * l->out_channels * pass->n;
}

/* to = from, or to += from. */
static void hand_on(float *to, const float *from, size_t n, bool add)
{
    if (!add)
        memcpy(to, from, n * sizeof *to);
    for (size_t i = 0; add && i < n; i++)
        to[i] += from[i];
}

void picture_forward(const struct layer *l, const struct pass *pass)
{
    const size_t plane = (size_t)l->out_height * l->out_width;
    const size_t channels = l->out_channels;
    float *y = pass_values(pass, l->output);
    for (size_t n = 0; n < pass->n; n++)
        for (size_t c = 0; c < channels; c++)
            for (size_t p = 0; p < plane; p++)
                y[(p * pass->n + n) * channels + c] = pass->picture[(n * channels + c) * plane + p];
}

void picture_backward(const struct layer *l, const struct pass *pass)
{
    (void)l; /* samples have no gradient */
    (void)pass;
}

void nonlinearity_forward(const struct layer *l, const struct pass *pass)
{
    const size_t n = count(l, pass);
    const float *x = pass_values(pass, l->input);
    float *y = pass_values(pass, l->output);
    switch (l->nonlinearity) {
    case NONLINEARITY_RELU:
        for (size_t i = 0; i < n; i++)
            y[i] = x[i] < 0 ? 0 : x[i];
        break;
    case NONLINEARITY_RELU6:
        for (size_t i = 0; i < n; i++)
            y[i] = x[i] < 0 ? 0 : x[i] > 6 ? 6 : x[i];
        break;
    case NONLINEARITY_GELU:
        for (size_t i = 0; i < n; i++)
            y[i] = x[i] * normal_share(x[i], exponential(-0.5f * x[i] * x[i]));
        break;
    case NONLINEARITY_TANH:
        for (size_t i = 0; i < n; i++)
            y[i] = hyperbolic_tangent(x[i]);
        break;
    case NONLINEARITY_SIGMOID:
        for (size_t i = 0; i < n; i++)
            y[i] = logistic_sigmoid(x[i]);
        break;
    case NONLINEARITY_NONE:
        break;
    }
}

/* The gradient by x, in the place of dy. */
static void differentiate(const struct layer *l, const float *x, const float *y, float *dy,
                          size_t n)
{
    switch (l->nonlinearity) {
    case NONLINEARITY_RELU:
        for (size_t i = 0; i < n; i++)
            dy[i] = y[i] > 0 ? dy[i] : 0;
        break;
    case NONLINEARITY_RELU6:
        for (size_t i = 0; i < n; i++)
            dy[i] = y[i] > 0 && y[i] < 6 ? dy[i] : 0;
        break;
    case NONLINEARITY_GELU:
        for (size_t i = 0; i < n; i++) {
            const float bell = exponential(-0.5f * x[i] * x[i]);
            dy[i] *= normal_share(x[i], bell) + x[i] * bell * 0.398942280f; /* 1/sqrt(2 pi) */
        }
        break;
    case NONLINEARITY_TANH:
        for (size_t i = 0; i < n; i++)
            dy[i] *= 1 - y[i] * y[i];
        break;
    case NONLINEARITY_SIGMOID:
        for (size_t i = 0; i < n; i++)
            dy[i] *= y[i] * (1 - y[i]);
        break;
    case NONLINEARITY_NONE:
        break;
    }
}

void nonlinearity_backward(const struct layer *l, const struct pass *pass)
{
    const size_t n = count(l, pass);
    float *dy = pass_gradient(pass, l->output);
    differentiate(l, pass_values(pass, l->input), pass_values(pass, l->output), dy, n);
    hand_on(pass_gradient(pass, l->input), dy, n, l->adds_input_gradient);
}

void addition_forward(const struct layer *l, const struct pass *pass)
{
    const size_t n = count(l, pass);
    const float *a = pass_values(pass, l->input);
    const float *b = pass_values(pass, l->residual);
    float *y = pass_values(pass, l->output);
    for (size_t i = 0; i < n; i++) {
        const float sum = a[i] + b[i];
        y[i] = l->relu && sum < 0 ? 0 : sum;
    }
}

void addition_backward(const struct layer *l, const struct pass *pass)
{
    const size_t n = count(l, pass);
    const float *y = pass_values(pass, l->output);
    float *dy = pass_gradient(pass, l->output);
    for (size_t i = 0; l->relu && i < n; i++)
        dy[i] = y[i] > 0 ? dy[i] : 0;
    hand_on(pass_gradient(pass, l->residual), dy, n, l->adds_residual_gradient);
    hand_on(pass_gradient(pass, l->input), dy, n, l->adds_input_gradient);
}

void copy_forward(const struct layer *l, const struct pass *pass)
{
    const struct block out = output_block(l, pass, pass_values(pass, l->output));
    const float *x = pass_values(pass, l->input);
    for (size_t i = 0; i < out.rows; i++)
        memcpy(out.at + i * out.stride, x + i * out.columns, out.columns * sizeof *x);
}

void copy_backward(const struct layer *l, const struct pass *pass)
{
    const struct block dy = output_block(l, pass, pass_gradient(pass, l->output));
    float *dx = pass_gradient(pass, l->input);
    for (size_t i = 0; i < dy.rows; i++)
        hand_on(dx + i * dy.columns, dy.at + i * dy.stride, dy.columns, l->adds_input_gradient);
}
