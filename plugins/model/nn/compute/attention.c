/* attention.c - torch.nn.MultiheadAttention of a sequence with itself (Vaswani et al., 2017):
 *     P = softmax(Q K^T / sqrt(d)), the results P V of all heads side by side, then a projection.
 * Queries, keys and values lie as [step][sample][3 * channels], P as [sample][head][step][step]. */
#include <math.h>
#include <string.h>

#include "dense.h"
#include "exponential.h"

struct attention {
    size_t n;
    size_t steps;
    size_t channels;
    size_t heads;
    size_t size;    /* of a head */
    size_t row;     /* floats from one step to the next, of queries, keys and values */
    size_t out_row; /* the same, of results */
    float scale;
    float *qkv; /* saved */
    float *out; /* results of the heads */
    float *p;
    float *dqkv; /* scratch */
    float *dout;
    float *first; /* weights, transposed */
    float *second;
    float *turned; /* keys or values of a head, transposed */
    float *dp;     /* gradient of a head's P */
};

static struct attention attention_of(const struct layer *l, const struct pass *pass)
{
    struct attention a = {.n = pass->n,
                          .steps = l->in_width,
                          .channels = l->in_channels,
                          .heads = l->groups,
                          .size = l->in_channels / l->groups,
                          .qkv = pass_memory(pass, l->saved_offset),
                          .dqkv = pass_scratch(pass),
                          .first = pass_scratch_fixed(pass)};
    const size_t values = a.steps * a.n * a.channels;
    a.row = 3 * a.channels * a.n;
    a.out_row = a.channels * a.n;
    a.scale = 1 / sqrtf((float)a.size);
    a.out = a.qkv + 3 * values;
    a.p = a.out + values;
    a.dout = a.dqkv + 3 * values;
    a.second = a.first + 3 * a.channels * a.channels;
    a.turned = a.second + a.channels * a.channels;
    a.dp = a.turned + a.steps * a.size;
    return a;
}

/* c = scale * x y, or x^T y, all over steps or values of a head. */
struct factor {
    const float *at;
    size_t row;
};

static void multiply(const struct pass *pass, size_t rows, size_t columns, size_t depth,
                     struct factor x, bool transposed, struct factor y, float *c, size_t c_row,
                     float scale)
{
    product_run(pass, &(struct product){
                          .rows = rows,
                          .columns = columns,
                          .segments = 1,
                          .depth = depth,
                          .a = x.at,
                          .a_row = transposed ? 1 : (ptrdiff_t)x.row,
                          .a_column = transposed ? (ptrdiff_t)x.row : 1,
                          .b = y.at,
                          .b_row = (ptrdiff_t)y.row,
                          .c = c,
                          .c_row = (ptrdiff_t)c_row,
                          .scale = scale,
                      });
}

/* A head's vectors as columns. */
static struct factor turn(const struct attention *a, const float *from)
{
    for (size_t t = 0; t < a->steps; t++)
        for (size_t k = 0; k < a->size; k++)
            a->turned[k * a->steps + t] = from[t * a->row + k];
    return (struct factor){a->turned, a->steps};
}

/* Softmax of the first n of each row's scores; the others become 0. */
static void softmax(float *p, size_t n, size_t steps)
{
    float top = p[0];
    float sum = 0;
    for (size_t j = 1; j < n; j++)
        top = p[j] > top ? p[j] : top;
    for (size_t j = 0; j < n; j++)
        p[j] = exponential(p[j] - top);
    for (size_t j = 0; j < n; j++)
        sum += p[j];
    for (size_t j = 0; j < n; j++)
        p[j] /= sum;
    memset(p + n, 0, (steps - n) * sizeof *p);
}

void attention_forward(const struct layer *l, const struct pass *pass)
{
    const struct attention a = attention_of(l, pass);
    dense_forward(pass, l->weight, pass_weights(pass, l->bias), a.steps * a.n,
                  pass_values(pass, l->input), a.channels, a.qkv, 3 * a.channels, false);
    for (size_t i = 0; i < a.n * a.heads; i++) {
        const float *q = a.qkv + i / a.heads * 3 * a.channels + i % a.heads * a.size;
        const float *v = q + 2 * a.channels;
        float *p = a.p + i * a.steps * a.steps;
        float *out = a.out + i / a.heads * a.channels + i % a.heads * a.size;
        multiply(pass, a.steps, a.steps, a.size, (struct factor){q, a.row}, false,
                 turn(&a, q + a.channels), p, a.steps, a.scale);
        for (size_t t = 0; t < a.steps; t++)
            softmax(p + t * a.steps, l->causal ? t + 1 : a.steps, a.steps);
        multiply(pass, a.steps, a.size, a.steps, (struct factor){p, a.steps}, false,
                 (struct factor){v, a.row}, out, a.out_row, 1);
    }
    dense_forward(pass, l->second_weight, pass_weights(pass, l->second_bias), a.steps * a.n, a.out,
                  a.channels, pass_values(pass, l->output), a.channels, false);
}

/* Sample i / heads, head i % heads. */
static void head_back(const struct pass *pass, const struct attention *a, size_t i)
{
    const size_t at = i / a->heads * 3 * a->channels + i % a->heads * a->size;
    const float *q = a->qkv + at;
    const float *k = q + a->channels;
    float *dq = a->dqkv + at;
    const float *p = a->p + i * a->steps * a->steps;
    const struct factor dout = {a->dout + i / a->heads * a->channels + i % a->heads * a->size,
                                a->out_row};
    multiply(pass, a->steps, a->steps, a->size, dout, false, turn(a, q + 2 * a->channels), a->dp,
             a->steps, 1);
    multiply(pass, a->steps, a->size, a->steps, (struct factor){p, a->steps}, true, dout,
             dq + 2 * a->channels, a->row, 1);
    for (size_t t = 0; t < a->steps; t++) {
        const float *row = p + t * a->steps;
        float *d = a->dp + t * a->steps;
        float sum = 0;
        for (size_t j = 0; j < a->steps; j++)
            sum += d[j] * row[j];
        for (size_t j = 0; j < a->steps; j++)
            d[j] = row[j] * (d[j] - sum);
    }
    multiply(pass, a->steps, a->size, a->steps, (struct factor){a->dp, a->steps}, false,
             (struct factor){k, a->row}, dq, a->row, a->scale);
    multiply(pass, a->steps, a->size, a->steps, (struct factor){a->dp, a->steps}, true,
             (struct factor){q, a->row}, dq + a->channels, a->row, a->scale);
}

void attention_backward(const struct layer *l, const struct pass *pass)
{
    const struct attention a = attention_of(l, pass);
    const size_t rows = a.steps * a.n;
    float *dy = pass_gradient(pass, l->output);
    const struct block dout = {dy, rows, a.channels, a.channels};
    dense_transpose(pass, l->weight, a.first);
    dense_transpose(pass, l->second_weight, a.second);
    dense_input(pass, l->second_weight, a.second, rows, dy, a.channels, a.dout, a.channels, false);
    for (size_t i = 0; i < a.n * a.heads; i++)
        head_back(pass, &a, i);
    dense_input(pass, l->weight, a.first, rows, a.dqkv, 3 * a.channels,
                pass_gradient(pass, l->input), a.channels, l->adds_input_gradient);
    dense_weights(pass, l->second_weight, rows, a.out, a.channels, dy, a.channels);
    bias_gradient(pass, l->second_bias, dout);
    dense_weights(pass, l->weight, rows, pass_values(pass, l->input), a.channels, a.dqkv,
                  3 * a.channels);
    bias_gradient(pass, l->bias, (struct block){a.dqkv, rows, 3 * a.channels, 3 * a.channels});
}
