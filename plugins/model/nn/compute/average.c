/* average.c - mean over the picture, for each channel. */
#include <string.h>

#include "arithmetic.h"

void average_forward(const struct layer *l, const struct pass *pass)
{
    const size_t row = (size_t)pass->n * l->in_channels;
    const size_t pixels = (size_t)l->in_height * l->in_width;
    const float *x = pass_values(pass, l->input);
    float *y = pass_values(pass, l->output);
    memcpy(y, x, row * sizeof *y);
    for (size_t p = 1; p < pixels; p++)
        for (size_t i = 0; i < row; i++)
            y[i] += x[p * row + i];
    for (size_t i = 0; i < row; i++)
        y[i] /= (float)pixels;
}

void average_backward(const struct layer *l, const struct pass *pass)
{
    const size_t row = (size_t)pass->n * l->in_channels;
    const size_t pixels = (size_t)l->in_height * l->in_width;
    const float *dy = pass_gradient(pass, l->output);
    float *dx = pass_gradient(pass, l->input);
    for (size_t p = 0; p < pixels; p++)
        for (size_t i = 0; i < row; i++) {
            const float d = dy[i] / (float)pixels;
            dx[p * row + i] = l->adds_input_gradient ? dx[p * row + i] + d : d;
        }
}
