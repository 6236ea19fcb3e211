/* embedding.c - vectors of tokens, and vectors of positions. */
#include <string.h>

#include "arithmetic.h"

/* Token number i of the batch. */
static size_t token_at(const struct pass *pass, size_t i)
{
    return pass->token != NULL ? (size_t)pass->token[i] : (size_t)pass->picture[i];
}

void embedding_forward(const struct layer *l, const struct pass *pass)
{
    const size_t steps = l->out_width;
    const size_t size = l->out_channels;
    const float *table = pass_weights(pass, l->weight);
    float *y = pass_values(pass, l->output);
    for (size_t t = 0; t < steps; t++)
        for (size_t n = 0; n < pass->n; n++, y += size)
            memcpy(y, table + token_at(pass, n * steps + t) * size, size * sizeof *y);
}

void embedding_backward(const struct layer *l, const struct pass *pass)
{
    const size_t steps = l->out_width;
    const size_t size = l->out_channels;
    const struct parameter *p = &pass->net->parameter[l->weight];
    float *target = pass_target(pass, l->weight);
    const float *dy = pass_gradient(pass, l->output);
    if (!pass->add)
        memset(target, 0, p->in * sizeof *target);
    for (size_t t = 0; t < steps; t++)
        for (size_t n = 0; n < pass->n; n++, dy += size) {
            float *row = target + token_at(pass, n * steps + t) * size;
            for (size_t c = 0; c < size; c++)
                row[c] += pass->scale * dy[c];
        }
}

void position_forward(const struct layer *l, const struct pass *pass)
{
    const size_t size = l->in_channels;
    const float *vector = pass_weights(pass, l->weight);
    const float *x = pass_values(pass, l->input);
    float *y = pass_values(pass, l->output);
    for (size_t t = 0; t < l->in_width; t++, vector += size)
        for (size_t n = 0; n < pass->n; n++, x += size, y += size)
            for (size_t c = 0; c < size; c++)
                y[c] = x[c] + vector[c];
}

void position_backward(const struct layer *l, const struct pass *pass)
{
    const size_t size = l->in_channels;
    float *target = pass_target(pass, l->weight);
    const float *dy = pass_gradient(pass, l->output);
    float *dx = pass_gradient(pass, l->input);
    for (size_t i = 0; i < l->in_width * size * pass->n; i++)
        dx[i] = l->adds_input_gradient ? dx[i] + dy[i] : dy[i];
    for (size_t t = 0; t < l->in_width; t++, dy += size * pass->n)
        for (size_t c = 0; c < size; c++) {
            double sum = 0;
            for (size_t n = 0; n < pass->n; n++)
                sum += (double)dy[n * size + c];
            store_gradient(pass, target + t * size + c, sum);
        }
}
