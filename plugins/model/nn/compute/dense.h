/* dense.h - products of rows of values with a matrix of weights, out x in, in its panels. */
#ifndef OSAFL_NN_DENSE_H
#define OSAFL_NN_DENSE_H

#include "product.h"

/* y = x W^T + bias, or y += x W^T; x: rows of `in` values, y: rows of `out`. */
static inline void dense_forward(const struct pass *pass, int weight, const float *bias,
                                 size_t rows, const float *x, size_t x_row, float *y, size_t y_row,
                                 bool add)
{
    const struct parameter *p = &pass->net->parameter[weight];
    for (size_t panel = 0; panel < p->out; panel += WEIGHT_PANEL) {
        const size_t width = smaller(p->out - panel, WEIGHT_PANEL);
        product_run(pass, &(struct product){
                              .rows = rows,
                              .columns = width,
                              .segments = 1,
                              .depth = p->in,
                              .a = x,
                              .a_row = (ptrdiff_t)x_row,
                              .a_column = 1,
                              .b = pass_weights(pass, weight) + panel * p->in,
                              .b_row = (ptrdiff_t)width,
                              .c = y + panel,
                              .c_row = (ptrdiff_t)y_row,
                              .scale = 1,
                              .add = add,
                              .bias = bias != NULL ? bias + panel : NULL,
                          });
    }
}

/* W as out rows of `in` values. */
static inline void dense_transpose(const struct pass *pass, int weight, float *to)
{
    const struct parameter *p = &pass->net->parameter[weight];
    const float *w = pass_weights(pass, weight);
    for (size_t panel = 0; panel < p->out; panel += WEIGHT_PANEL) {
        const size_t width = smaller(p->out - panel, WEIGHT_PANEL);
        for (size_t o = 0; o < width; o++)
            for (size_t i = 0; i < p->in; i++)
                to[(panel + o) * p->in + i] = w[panel * p->in + i * width + o];
    }
}

/* dx = dy W, or dx += dy W; transposed: W as dense_transpose() has it. */
static inline void dense_input(const struct pass *pass, int weight, const float *transposed,
                               size_t rows, const float *dy, size_t dy_row, float *dx,
                               size_t dx_row, bool add)
{
    const struct parameter *p = &pass->net->parameter[weight];
    product_run(pass, &(struct product){
                          .rows = rows,
                          .columns = p->in,
                          .segments = 1,
                          .depth = p->out,
                          .a = dy,
                          .a_row = (ptrdiff_t)dy_row,
                          .a_column = 1,
                          .b = transposed,
                          .b_row = (ptrdiff_t)p->in,
                          .c = dx,
                          .c_row = (ptrdiff_t)dx_row,
                          .scale = 1,
                          .add = add,
                      });
}

/* The gradient of W, dy^T x, to where the pass wants it. */
static inline void dense_weights(const struct pass *pass, int weight, size_t rows, const float *x,
                                 size_t x_row, const float *dy, size_t dy_row)
{
    const struct parameter *p = &pass->net->parameter[weight];
    for (size_t panel = 0; panel < p->out; panel += WEIGHT_PANEL) {
        const size_t width = smaller(p->out - panel, WEIGHT_PANEL);
        float *target = pass_target(pass, weight) + panel * p->in;
        if (rows == 0 && !pass->add)
            memset(target, 0, p->in * width * sizeof *target);
        if (rows > 0)
            product_run(pass, &(struct product){
                                  .rows = p->in,
                                  .columns = width,
                                  .segments = 1,
                                  .depth = rows,
                                  .a = x,
                                  .a_row = 1,
                                  .a_column = (ptrdiff_t)x_row,
                                  .b = dy + panel,
                                  .b_row = (ptrdiff_t)dy_row,
                                  .c = target,
                                  .c_row = (ptrdiff_t)width,
                                  .scale = pass->scale,
                                  .add = pass->add,
                              });
    }
}

#endif
