/* max_pool.c - maximum over windows; windows are clipped at the border.
 *
 * For each output value the number of the winning cell is kept for the way back.  The first of
 * equal cells wins. */
#include <string.h>

#include "arithmetic.h"
#include "vector.h"

enum { MOST_CELLS = 64 };

/* The cells of a window that lie inside the picture. */
struct window {
    size_t top, bottom, left, right; /* input lines and columns, ends excluded */
    size_t first_cell;               /* number of cell (top, left) within the kernel */
};

static struct window window_at(const struct layer *l, size_t y, size_t x)
{
    const size_t line = y * l->stride;
    const size_t column = x * l->stride;
    struct window w = {
        .top = line > l->padding ? line - l->padding : 0,
        .bottom = line + l->kernel_height - l->padding,
        .left = column > l->padding ? column - l->padding : 0,
        .right = column + l->kernel_width - l->padding,
    };
    if (w.bottom > l->in_height)
        w.bottom = l->in_height;
    if (w.right > l->in_width)
        w.right = l->in_width;
    w.first_cell = (w.top + l->padding - line) * l->kernel_width + w.left + l->padding - column;
    return w;
}

static uint8_t *winners(const struct layer *l, const struct pass *pass)
{
    return (uint8_t *)pass_memory(pass, l->saved_offset);
}

/* One output pixel: `cells` inputs of a window, in order, with their numbers in the kernel. */
struct pixel {
    size_t cells;
    const float *in[MOST_CELLS];
    uint8_t number[MOST_CELLS];
    float *out;
    uint8_t *winner; /* NULL: not wanted */
};

static void pool_pixel(const struct pixel *p, size_t row)
{
    size_t i = 0;
    for (; i + LANES <= row; i += LANES) {
        vec best = vec_load(p->in[0] + i);
        int_vec winner = (int_vec){0} + p->number[0];
        for (size_t k = 1; k < p->cells; k++) {
            const vec x = vec_load(p->in[k] + i);
            const lane_mask better = vec_greater(x, best);
            best = vec_select(better, x, best);
            winner = vec_select_int(better, p->number[k], winner);
        }
        vec_store(p->out + i, best);
        if (p->winner != NULL)
            vec_store_bytes(p->winner + i, winner);
    }
    for (; i < row; i++) {
        size_t best = 0;
        for (size_t k = 1; k < p->cells; k++)
            best = p->in[k][i] > p->in[best][i] ? k : best;
        p->out[i] = p->in[best][i];
        if (p->winner != NULL)
            p->winner[i] = p->number[best];
    }
}

void max_pool_forward(const struct layer *l, const struct pass *pass)
{
    const size_t row = (size_t)pass->n * l->in_channels;
    const float *in = pass_values(pass, l->input);
    for (size_t y = 0; y < l->out_height; y++)
        for (size_t x = 0; x < l->out_width; x++) {
            const struct window w = window_at(l, y, x);
            const size_t out = (y * l->out_width + x) * row;
            struct pixel p; /* not zeroed: most windows have few cells */
            p.cells = 0;
            p.out = pass_values(pass, l->output) + out;
            p.winner = pass->step != NULL ? winners(l, pass) + out : NULL;
            for (size_t v = w.top; v < w.bottom; v++)
                for (size_t u = w.left; u < w.right; u++, p.cells++) {
                    p.in[p.cells] = in + (v * l->in_width + u) * row;
                    p.number[p.cells] =
                        (uint8_t)(w.first_cell + (v - w.top) * l->kernel_width + u - w.left);
                }
            pool_pixel(&p, row);
        }
}

void max_pool_backward(const struct layer *l, const struct pass *pass)
{
    const size_t row = (size_t)pass->n * l->in_channels;
    if (!l->adds_input_gradient)
        memset(pass_gradient(pass, l->input), 0,
               (size_t)l->in_height * l->in_width * row * sizeof(float));
    for (size_t y = 0; y < l->out_height; y++)
        for (size_t x = 0; x < l->out_width; x++) {
            const struct window w = window_at(l, y, x);
            const size_t out = (y * l->out_width + x) * row;
            const float *dy = pass_gradient(pass, l->output) + out;
            const uint8_t *winner = winners(l, pass) + out;
            for (size_t v = w.top; v < w.bottom; v++)
                for (size_t u = w.left; u < w.right; u++) {
                    float *dx = pass_gradient(pass, l->input) + (v * l->in_width + u) * row;
                    const uint8_t cell =
                        (uint8_t)(w.first_cell + (v - w.top) * l->kernel_width + u - w.left);
                    for (size_t i = 0; i < row; i++)
                        dx[i] += winner[i] == cell ? dy[i] : 0;
                }
        }
}
