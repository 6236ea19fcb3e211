/* two_by_two.c - 3x3 convolutions, stride 1 and padding 1, on maps of 2x2 pixels.
 *
 * On a line of two pixels, with padding, y0 = w1 x0 + w2 x1 and y1 = w0 x0 + w1 x1: four products.
 * Three will do (the product of a Toeplitz matrix of order 2 and a vector):
 *     m0 = (w0 - w1) x0,  m1 = w1 (x0 + x1),  m2 = (w2 - w1) x1;  y0 = m1 + m2,  y1 = m0 + m1.
 * Applied to lines and columns that is 9 products of matrices in place of 16, over channels and
 * samples, with additions alone before and after.  The gradients are the transposes of the same
 * steps.  Elements are numbered 3 * line + column. */
#include "two_by_two.h"

#include <string.h>

#include "correlation.h"
#include "product.h"
#include "transpose.h"

enum { ELEMENTS = 9, TAPS = 9, INPUT_BLOCK = 32 };

/* Elements lie a little more than a power of 2 apart, or they would fight for the same lines of
 * the first-level cache. */
enum { GAP = 16 };

/* Scratch memory, planned by plan_two_by_two() in layers.c. */
struct memory {
    size_t columns;    /* samples, padded to whole vectors */
    float *filters;    /* [element][input of a block][output of a panel] */
    float *inputs;     /* [element][sample][channel] */
    float *outputs;    /* likewise */
    float *dy_columns; /* [element][channel][sample] */
    float *dx_columns;
    float *dy_vectors; /* of a panel: [vector of channels][element][sample] */
};

static struct memory memory_of(const struct layer *l, const struct pass *pass)
{
    struct memory s = {.columns = (pass->n + LANES - 1) / (size_t)LANES * LANES,
                       .filters = pass_scratch_fixed(pass)};
    s.inputs = s.filters + ELEMENTS * (INPUT_BLOCK * WEIGHT_PANEL + GAP);
    s.outputs = s.inputs + ELEMENTS * (pass->n * (size_t)l->in_channels + GAP);
    s.dy_columns = s.outputs + ELEMENTS * (pass->n * (size_t)l->out_channels + GAP);
    s.dx_columns = s.dy_columns + ELEMENTS * s.columns * l->out_channels;
    s.dy_vectors = s.dx_columns + ELEMENTS * s.columns * l->in_channels;
    return s;
}

/* The four pixels of a map: rows of n samples, m->row floats apart. */
static float *pixel(const struct map *m, size_t n, size_t y, size_t x)
{
    return m->at + (y * 2 + x) * n * m->row;
}

/* Element (i, j) of a line's expansion, 0: first, 1: sum, 2: second, in both directions. */
static void expand(const struct map *m, size_t n, bool swapped, float *to)
{
    for (size_t e = 0; e < ELEMENTS; e++)
        for (size_t s = 0; s < n; s++) {
            float *out = to + e * (n * m->channels + GAP) + s * m->channels;
            bool first = true;
            for (size_t y = 0; y < 2; y++)
                for (size_t x = 0; x < 2; x++) {
                    /* swapped: 0 is the second pixel and 2 the first */
                    const size_t i = swapped ? 2 - e / 3 : e / 3;
                    const size_t j = swapped ? 2 - e % 3 : e % 3;
                    if ((i != 1 && i != 2 * y) || (j != 1 && j != 2 * x))
                        continue;
                    const float *in = pixel(m, n, y, x) + s * m->row;
                    if (first)
                        memcpy(out, in, m->channels * sizeof *out);
                    for (size_t c = 0; c < m->channels && !first; c++)
                        out[c] += in[c];
                    first = false;
                }
        }
}

/* The differences of filters from w, [input][tap][width], for `count` inputs. */
static void transform_filters(const float *w, size_t count, size_t width, float *to)
{
    const size_t element = count * width + GAP;
    for (size_t i = 0; i < count; i++)
        for (size_t o = 0; o < width; o += LANES) {
            const float *from = w + i * TAPS * width + o;
            float *out = to + i * width + o;
            vec t[TAPS];
            NN_UNROLL
            for (int r = 0; r < 3; r++) {
                const vec w0 = vec_load(from + (size_t)(3 * r) * width);
                const vec w1 = vec_load(from + (size_t)(3 * r + 1) * width);
                const vec w2 = vec_load(from + (size_t)(3 * r + 2) * width);
                t[3 * r] = w0 - w1;
                t[3 * r + 1] = w1;
                t[3 * r + 2] = w2 - w1;
            }
            NN_UNROLL
            for (int q = 0; q < 3; q++) {
                vec_store(out + (size_t)q * element, t[q] - t[3 + q]);
                vec_store(out + (size_t)(3 + q) * element, t[3 + q]);
                vec_store(out + (size_t)(6 + q) * element, t[6 + q] - t[3 + q]);
            }
        }
}

/* y of one panel from its elements m, each [sample][width]. */
static void collect_outputs(const struct layer *l, const struct pass *pass, size_t panel,
                            size_t width, const float *m)
{
    const struct map out = output_map(l, pass, pass_values(pass, l->output));
    const size_t n = pass->n;
    const size_t element = n * width;
    const float *bias = l->bias >= 0 ? pass_weights(pass, l->bias) + panel : NULL;
    for (size_t p = 0; p < 4; p++) {
        /* pixel 0 of a line takes m1 and m2, pixel 1 takes m0 and m1 */
        const float *corner = m + (3 * (1 - p / 2) + 1 - p % 2) * element;
        for (size_t s = 0; s < n; s++) {
            float *y = pixel(&out, n, p / 2, p % 2) + s * out.row + panel;
            const float *from = corner + s * width;
            for (size_t c = 0; c < width; c++)
                y[c] = from[c] + from[element + c] + from[3 * element + c] + from[4 * element + c];
        }
        add_bias_and_rectify(
            (struct block){pixel(&out, n, p / 2, p % 2) + panel, n, width, out.row}, bias, l->relu);
    }
}

/* A block of filters: inputs [first, first + count), the outputs of a panel. */
struct block_of_filters {
    size_t panel;
    size_t width;
    size_t first;
    size_t count;
};

/* Makes b the next block; false when there is none. */
static bool next_block(const struct layer *l, struct block_of_filters *b)
{
    b->first += b->count;
    if (b->first == l->in_channels) {
        b->first = 0;
        b->panel += WEIGHT_PANEL;
    }
    if (b->panel >= l->out_channels)
        return false;
    b->width = smaller(l->out_channels - b->panel, WEIGHT_PANEL);
    b->count = smaller(l->in_channels - b->first, INPUT_BLOCK);
    return true;
}

static const float *filters_at(const struct layer *l, const float *w, struct block_of_filters b)
{
    return w + (b.panel * l->in_channels + b.first * b.width) * TAPS;
}

/* Asks for one part in nine of the block that comes after b, while b's products keep the
 * arithmetic busy. */
static void prefetch_next(const struct layer *l, const float *w, struct block_of_filters b,
                          size_t part)
{
    if (!next_block(l, &b))
        return;
    const float *from = filters_at(l, w, b) + part * b.count * b.width;
    for (size_t i = 0; i < b.count * b.width; i += 16)
        __builtin_prefetch(from + i, 0, 2);
}

void two_by_two_forward(const struct layer *l, const struct pass *pass)
{
    const struct memory s = memory_of(l, pass);
    const struct map in = input_map(l, pass_values(pass, l->input));
    const float *w = pass_weights(pass, l->weight);
    const size_t n = pass->n;
    expand(&in, n, false, s.inputs);
    for (struct block_of_filters b = {0}; next_block(l, &b);) {
        transform_filters(filters_at(l, w, b), b.count, b.width, s.filters);
        for (size_t e = 0; e < ELEMENTS; e++) {
            prefetch_next(l, w, b, e);
            product_run(pass, &(struct product){
                                  .rows = n,
                                  .columns = b.width,
                                  .segments = 1,
                                  .depth = b.count,
                                  .a = s.inputs + e * (n * in.channels + GAP) + b.first,
                                  .a_row = (ptrdiff_t)in.channels,
                                  .a_column = 1,
                                  .b = s.filters + e * (b.count * b.width + GAP),
                                  .b_row = (ptrdiff_t)b.width,
                                  .c = s.outputs + e * n * b.width,
                                  .c_row = (ptrdiff_t)b.width,
                                  .scale = 1,
                                  .add = b.first > 0,
                              });
        }
        if (b.first + b.count == in.channels)
            collect_outputs(l, pass, b.panel, b.width, s.outputs);
    }
}

/* dx from its elements with samples as columns: pixel 0 of a line is d0 + d1, pixel 1 d1 + d2. */
static void collect_input_gradient(const struct layer *l, const struct pass *pass,
                                   const struct memory *s)
{
    const struct map to = input_map(l, pass_gradient(pass, l->input));
    const size_t element = to.channels * s->columns;
    for (size_t p = 0; p < 4; p++) {
        /* the sum of four elements replaces the dy elements, which are no longer needed */
        const float *corner = s->dx_columns + (3 * (p / 2) + p % 2) * element;
        float *sum = s->inputs;
        for (size_t i = 0; i < element; i++)
            sum[i] =
                corner[i] + corner[element + i] + corner[3 * element + i] + corner[4 * element + i];
        float *dx = pixel(&to, pass->n, p / 2, p % 2);
        if (!l->adds_input_gradient) {
            transpose(to.channels, pass->n, sum, s->columns, dx, to.row, false);
            continue;
        }
        float *rows = s->outputs;
        transpose(to.channels, pass->n, sum, s->columns, rows, to.channels, false);
        for (size_t i = 0; i < pass->n; i++)
            for (size_t c = 0; c < to.channels; c++)
                dx[i * to.row + c] += rows[i * to.channels + c];
    }
}

/* Gradients of the filters from `rows` inputs on to one vector of outputs: all elements are summed
 * over samples in registers, then become taps.  x: [element][sample][input], dy: [element][sample]
 * vectors,
 * target: [input][tap][width]. */
NN_INLINE void filter_gradient(const int rows, const struct pass *pass, const float *x,
                               size_t x_row, const float *dy, float *target, size_t width)
{
    const size_t n = pass->n;
    vec sum[2][ELEMENTS];
    NN_UNROLL
    for (int k = 0; k < rows * ELEMENTS; k++) {
        sum[k / ELEMENTS][k % ELEMENTS] = (vec){0};
        __builtin_prefetch(target + (size_t)(k + rows * TAPS) * width, 1);
    }
    for (size_t s = 0; s < n; s++) {
        NN_UNROLL
        for (int e = 0; e < ELEMENTS; e++) {
            const vec d = vec_load(dy + ((size_t)e * n + s) * LANES);
            const float *from = x + (size_t)e * (n * x_row + GAP) + s * x_row;
            NN_UNROLL
            for (int i = 0; i < rows; i++)
                sum[i][e] += d * vec_all(from[i]);
        }
    }
    const vec scale = vec_all(pass->scale);
    NN_UNROLL
    for (int i = 0; i < rows; i++) {
        vec t[TAPS];
        NN_UNROLL
        for (int k = 0; k < 3; k++) {
            t[3 * k] = sum[i][3 * k];
            t[3 * k + 1] = sum[i][3 * k + 1] - sum[i][3 * k] - sum[i][3 * k + 2];
            t[3 * k + 2] = sum[i][3 * k + 2];
        }
        NN_UNROLL
        for (int k = 0; k < 3; k++)
            t[3 + k] = t[3 + k] - t[k] - t[6 + k];
        NN_UNROLL
        for (int k = 0; k < TAPS; k++) {
            float *w = target + (size_t)(i * TAPS + k) * width;
            const vec g = scale * t[k];
            vec_store(w, pass->add ? vec_load(w) + g : g);
        }
    }
}

/* The panel's vectors of the output gradient's elements. */
static void gather_vectors(const struct memory *s, size_t n, size_t channels, size_t panel,
                           size_t width)
{
    float *to = s->dy_vectors;
    for (size_t o = 0; o < width; o += LANES)
        for (size_t e = 0; e < ELEMENTS; e++)
            for (size_t i = 0; i < n; i++, to += LANES)
                vec_store(
                    to, vec_load(s->outputs + e * (n * channels + GAP) + i * channels + panel + o));
}

/* Block by block, the input's gradient first, so that weights come from memory once. */
void two_by_two_backward(const struct layer *l, const struct pass *pass)
{
    enum { ROWS = VECTOR_REGISTERS == 32 ? 2 : 1 };
    const struct memory s = memory_of(l, pass);
    const struct map x = input_map(l, pass_values(pass, l->input));
    const struct map dy = output_map(l, pass, pass_gradient(pass, l->output));
    const float *w = pass_weights(pass, l->weight);
    const size_t n = pass->n;
    expand(&x, n, false, s.inputs);
    expand(&dy, n, true, s.outputs);
    for (size_t e = 0; e < ELEMENTS; e++)
        transpose(n, dy.channels, s.outputs + e * (n * dy.channels + GAP), dy.channels,
                  s.dy_columns + e * dy.channels * s.columns, s.columns, true);
    for (struct block_of_filters b = {0}; next_block(l, &b);) {
        transform_filters(filters_at(l, w, b), b.count, b.width, s.filters);
        for (size_t e = 0; e < ELEMENTS; e++) {
            prefetch_next(l, w, b, e);
            product_run(pass, &(struct product){
                                  .rows = b.count,
                                  .columns = s.columns,
                                  .segments = 1,
                                  .depth = b.width,
                                  .a = s.filters + e * (b.count * b.width + GAP),
                                  .a_row = (ptrdiff_t)b.width,
                                  .a_column = 1,
                                  .b = s.dy_columns + (e * dy.channels + b.panel) * s.columns,
                                  .b_row = (ptrdiff_t)s.columns,
                                  .c = s.dx_columns + (e * l->in_channels + b.first) * s.columns,
                                  .c_row = (ptrdiff_t)s.columns,
                                  .scale = 1,
                                  .add = b.panel > 0,
                              });
        }
        if (b.first == 0)
            gather_vectors(&s, n, dy.channels, b.panel, b.width);
        float *target = pass_target(pass, l->weight) + (filters_at(l, w, b) - w);
        for (size_t o = 0; o < b.width; o += LANES)
            for (size_t i = 0; i < b.count; i += ROWS)
                filter_gradient(ROWS, pass, s.inputs + b.first + i, x.channels,
                                s.dy_vectors + o * ELEMENTS * n, target + i * TAPS * b.width + o,
                                b.width);
    }
    collect_input_gradient(l, pass, &s);
}
