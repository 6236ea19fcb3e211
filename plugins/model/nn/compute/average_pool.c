/* average_pool.c - mean over windows; cells over the border count as zeros. */
#include <string.h>

#include "arithmetic.h"

/* Cells of the window at line y and column x that lie inside the input. */
struct window {
    size_t top, bottom, left, right; /* ends excluded */
};

static struct window window_at(const struct layer *l, size_t y, size_t x)
{
    const size_t line = y * l->stride;
    const size_t column = x * l->stride;
    return (struct window){
        .top = line > l->padding ? line - l->padding : 0,
        .bottom = smaller(line + l->kernel_height - l->padding, l->in_height),
        .left = column > l->padding ? column - l->padding : 0,
        .right = smaller(column + l->kernel_width - l->padding, l->in_width),
    };
}

void average_pool_forward(const struct layer *l, const struct pass *pass)
{
    const size_t row = (size_t)pass->n * l->in_channels;
    const float share = 1.0f / (float)(l->kernel_height * l->kernel_width);
    const float *x = pass_values(pass, l->input);
    float *y = pass_values(pass, l->output);
    for (size_t p = 0; p < (size_t)l->out_height * l->out_width; p++, y += row) {
        const struct window w = window_at(l, p / l->out_width, p % l->out_width);
        memset(y, 0, row * sizeof *y);
        for (size_t v = w.top; v < w.bottom; v++)
            for (size_t u = w.left; u < w.right; u++)
                for (size_t i = 0; i < row; i++)
                    y[i] += share * x[(v * l->in_width + u) * row + i];
    }
}

void average_pool_backward(const struct layer *l, const struct pass *pass)
{
    const size_t row = (size_t)pass->n * l->in_channels;
    const float share = 1.0f / (float)(l->kernel_height * l->kernel_width);
    const float *dy = pass_gradient(pass, l->output);
    float *dx = pass_gradient(pass, l->input);
    if (!l->adds_input_gradient)
        memset(dx, 0, (size_t)l->in_height * l->in_width * row * sizeof *dx);
    for (size_t p = 0; p < (size_t)l->out_height * l->out_width; p++, dy += row) {
        const struct window w = window_at(l, p / l->out_width, p % l->out_width);
        for (size_t v = w.top; v < w.bottom; v++)
            for (size_t u = w.left; u < w.right; u++)
                for (size_t i = 0; i < row; i++)
                    dx[(v * l->in_width + u) * row + i] += share * dy[i];
    }
}
