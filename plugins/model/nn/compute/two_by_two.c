/* two_by_two.c - 3x3 convolutions, stride 1 and padding 1, on maps of 2x2 pixels.
 *
 * On a line of two pixels, with padding, y0 = w1 x0 + w2 x1 and y1 = w0 x0 + w1 x1: four products.
 * Three will do (the product of a Toeplitz matrix of order 2 and a vector):
 *     m0 = (w0 - w1) x0,  m1 = w1 (x0 + x1),  m2 = (w2 - w1) x1;  y0 = m1 + m2,  y1 = m0 + m1.
 * Applied to lines and columns that is 9 products of matrices in place of 16, over channels and
 * samples, with additions alone before and after.  The gradients are the transposes of the same
 * steps.  Elements are numbered 3 * line + column.
 *
 * Maps are so small that time goes by the weights: what is made of them is used at once, from
 * registers or the nearest cache, and they are asked for long before their turn comes. */
#include "two_by_two.h"

#include <string.h>

#include "correlation.h"
#include "transpose.h"

enum { ELEMENTS = 9, TAPS = 9, PIXELS = 4, INPUT_BLOCK = 8 };

/* Samples of a tile of results, whose sums stay in registers, and what columns of samples are
 * padded to. */
enum { SAMPLES = VECTOR_REGISTERS == 32 ? 16 : 8, PADDING = 16 };

/* Elements lie a little more than a power of 2 apart, or they would fight for the same lines of
 * the first-level cache. */
enum { GAP = 16, FILTERS = INPUT_BLOCK * WEIGHT_PANEL + GAP };

/* Scratch memory, planned by plan_two_by_two() in layers.c. */
struct memory {
    size_t columns;    /* samples, padded */
    float *filters;    /* [element][input of a block][output of a panel] */
    float *tile;       /* [element][sample of a tile] vectors of outputs */
    float *x_rows;     /* [vector of inputs][sample][element] */
    float *dy_rows;    /* [vector of outputs][sample][element] */
    float *pixels;     /* [pixel][channel][sample] */
    float *x_columns;  /* [element][input][sample]; backward: of the input's gradient */
    float *dy_columns; /* [element][output][sample] */
};

static struct memory memory_of(const struct layer *l, const struct pass *pass)
{
    const size_t n = pass->n;
    struct memory s = {.columns = (n + PADDING - 1) / PADDING * PADDING,
                       .filters = pass_scratch_fixed(pass)};
    s.tile = s.filters + ELEMENTS * FILTERS;
    s.x_rows = s.tile + ELEMENTS * SAMPLES * LANES;
    s.dy_rows = s.x_rows + ELEMENTS * n * l->in_channels;
    s.pixels = s.dy_rows + ELEMENTS * n * l->out_channels;
    s.x_columns = s.pixels + PIXELS * s.columns * (l->in_channels + (size_t)l->out_channels);
    s.dy_columns = s.x_columns + ELEMENTS * s.columns * l->in_channels;
    return s;
}

/* The four pixels of a map: rows of n samples, m->row floats apart. */
static float *pixel(const struct map *m, size_t n, size_t p)
{
    return m->at + p * n * m->row;
}

/* The nine elements of four pixels: first, sum and second of the lines and columns. */
NN_INLINE void expand(const vec p[PIXELS], vec e[ELEMENTS])
{
    e[0] = p[0];
    e[1] = p[0] + p[1];
    e[2] = p[1];
    e[6] = p[2];
    e[7] = p[2] + p[3];
    e[8] = p[3];
    NN_UNROLL
    for (int j = 0; j < 3; j++)
        e[3 + j] = e[j] + e[6 + j];
}

/* to[vector of channels][sample][element]; turned: elements in the opposite order. */
static void expand_rows(const struct map *m, size_t n, bool turned, float *to)
{
    for (size_t c = 0; c < m->channels; c += LANES)
        for (size_t s = 0; s < n; s++, to += ELEMENTS * LANES) {
            vec p[PIXELS];
            vec e[ELEMENTS];
            NN_UNROLL
            for (int k = 0; k < PIXELS; k++)
                p[k] = vec_load(pixel(m, n, (size_t)k) + s * m->row + c);
            expand(p, e);
            NN_UNROLL
            for (int k = 0; k < ELEMENTS; k++)
                vec_store(to + (turned ? ELEMENTS - 1 - k : k) * LANES, e[k]);
        }
}

/* to[element][channel][sample] */
static void expand_columns(const struct map *m, const struct memory *s, size_t n, bool turned,
                           float *to)
{
    const size_t size = m->channels * s->columns;
    for (size_t p = 0; p < PIXELS; p++)
        transpose(n, m->channels, pixel(m, n, p), m->row, s->pixels + p * size, s->columns, true);
    for (size_t i = 0; i < size; i += LANES) {
        vec p[PIXELS];
        vec e[ELEMENTS];
        NN_UNROLL
        for (int k = 0; k < PIXELS; k++)
            p[k] = vec_load(s->pixels + (size_t)k * size + i);
        expand(p, e);
        NN_UNROLL
        for (int k = 0; k < ELEMENTS; k++)
            vec_store(to + (size_t)(turned ? ELEMENTS - 1 - k : k) * size + i, e[k]);
    }
}

/* Element (line, column) of the transformed filters, in a vector of outputs: the lines are
 * differences of filter lines, and so are the columns.  w: [tap][width]. */
NN_INLINE vec filter_element(const int line, const int column, const float *w, size_t width)
{
    vec of_line[3];
    NN_UNROLL
    for (int r = 0; r < 3; r++) {
        if (r != line && r != 1)
            continue;
        of_line[r] = vec_load(w + (size_t)(3 * r + column) * width);
        if (column != 1)
            of_line[r] -= vec_load(w + (size_t)(3 * r + 1) * width);
    }
    return line == 1 ? of_line[1] : of_line[line] - of_line[1];
}

/* One element of a tile of outputs, a vector of outputs for each sample: the sum over `count`
 * inputs.  w: [input][tap][width], x: [input][sample]; one tap of each filter at `ahead`, which
 * lies as w does, is asked for. */
NN_INLINE void tile_element(const int element, const float *w, size_t width, size_t count,
                            const float *x, size_t x_row, const float *ahead, float *to)
{
    vec sum[SAMPLES];
    NN_UNROLL
    for (int i = 0; i < SAMPLES; i++)
        sum[i] = (vec){0};
    ahead += (size_t)element * width;
    for (size_t k = 0; k < count; k++, x += x_row, w += TAPS * width, ahead += TAPS * width) {
        __builtin_prefetch(ahead, 0, 2);
        const vec f = filter_element(element / 3, element % 3, w, width);
        NN_UNROLL
        for (int i = 0; i < SAMPLES; i++)
            sum[i] += f * vec_all(x[i]);
    }
    NN_UNROLL
    for (int i = 0; i < SAMPLES; i++)
        vec_store(to + i * LANES, sum[i]);
}

#define TILE_ELEMENT(e)                                                                            \
    static void tile_element_##e(const float *w, size_t width, size_t count, const float *x,       \
                                 size_t x_row, const float *ahead, float *to)                      \
    {                                                                                              \
        tile_element(e, w, width, count, x, x_row, ahead, to);                                     \
    }
TILE_ELEMENT(0)
TILE_ELEMENT(1)
TILE_ELEMENT(2)
TILE_ELEMENT(3)
TILE_ELEMENT(4)
TILE_ELEMENT(5)
TILE_ELEMENT(6)
TILE_ELEMENT(7)
TILE_ELEMENT(8)

typedef void tile_element_function(const float *w, size_t width, size_t count, const float *x,
                                   size_t x_row, const float *ahead, float *to);
static tile_element_function *const tile_elements[ELEMENTS] = {
    tile_element_0, tile_element_1, tile_element_2, tile_element_3, tile_element_4,
    tile_element_5, tile_element_6, tile_element_7, tile_element_8};

/* The four pixels of a tile of outputs from its elements: samples [first, first + count). */
static void collect_tile(const struct layer *l, const struct pass *pass, size_t channel,
                         size_t first, size_t count, const float *tile)
{
    const struct map y = output_map(l, pass, pass_values(pass, l->output));
    const vec bias = l->bias >= 0 ? vec_load(pass_weights(pass, l->bias) + channel) : (vec){0};
    for (size_t p = 0; p < PIXELS; p++) {
        /* pixel 0 of a line takes m1 and m2, pixel 1 takes m0 and m1 */
        const float *m = tile + (3 * (1 - p / 2) + 1 - p % 2) * SAMPLES * LANES;
        float *to = pixel(&y, pass->n, p) + first * y.row + channel;
        for (size_t i = 0; i < count; i++, m += LANES, to += y.row) {
            const vec upper = vec_load(m) + vec_load(m + SAMPLES * LANES);
            const vec lower = vec_load(m + 3 * SAMPLES * LANES) + vec_load(m + 4 * SAMPLES * LANES);
            const vec value = upper + lower + bias;
            vec_store(to, l->relu ? vec_positive(value) : value);
        }
    }
}

/* Outputs of a panel; the last may be narrower. */
static size_t panel_width(const struct layer *l, size_t panel)
{
    return smaller(l->out_channels - panel, WEIGHT_PANEL);
}

/* The filters from input i on to output o and those beside it. */
static const float *filters_at(const struct layer *l, const float *w, size_t i, size_t o)
{
    const size_t panel = o / WEIGHT_PANEL * WEIGHT_PANEL;
    return w + (panel * l->in_channels + i * panel_width(l, panel)) * TAPS + o - panel;
}

/* A vector of outputs at a time, over all inputs: sums never leave registers, and the transformed
 * filters none either. */
void two_by_two_forward(const struct layer *l, const struct pass *pass)
{
    const struct memory s = memory_of(l, pass);
    const struct map x = input_map(l, pass_values(pass, l->input));
    const float *w = pass_weights(pass, l->weight);
    expand_columns(&x, &s, pass->n, false, s.x_columns);
    for (size_t o = 0; o < l->out_channels; o += LANES) {
        const size_t width = panel_width(l, o / WEIGHT_PANEL * WEIGHT_PANEL);
        const size_t next = o + LANES < l->out_channels ? o + LANES : 0;
        for (size_t first = 0; first < pass->n; first += SAMPLES) {
            for (size_t e = 0; e < ELEMENTS; e++)
                tile_elements[e](filters_at(l, w, 0, o), width, x.channels,
                                 s.x_columns + e * x.channels * s.columns + first, s.columns,
                                 filters_at(l, w, 0, next), s.tile + e * SAMPLES * LANES);
            collect_tile(l, pass, o, first, smaller(pass->n - first, SAMPLES), s.tile);
        }
    }
}

/* The transformed filters of INPUT_BLOCK inputs and a panel: to[element][input][output]. */
static void transform_filters(const float *w, size_t width, float *to)
{
    for (size_t i = 0; i < INPUT_BLOCK; i++)
        for (size_t o = 0; o < width; o += LANES) {
            const float *from = w + i * TAPS * width + o;
            NN_UNROLL
            for (int e = 0; e < ELEMENTS; e++)
                vec_store(to + e * FILTERS + i * WEIGHT_PANEL + o,
                          filter_element(e / 3, e % 3, from, width));
        }
}

/* dx[element][input of the block] += filters' times dy, over the outputs of a panel. */
static void add_input_gradient(const struct memory *s, size_t width, const float *dy,
                               size_t dy_channels, float *dx, size_t dx_channels)
{
    for (size_t e = 0; e < ELEMENTS; e++)
        for (size_t first = 0; first < s->columns; first += LANES) {
            const float *f = s->filters + e * FILTERS;
            const float *from = dy + e * dy_channels * s->columns + first;
            float *to = dx + e * dx_channels * s->columns + first;
            vec sum[INPUT_BLOCK];
            NN_UNROLL
            for (int i = 0; i < INPUT_BLOCK; i++)
                sum[i] = vec_load(to + (size_t)i * s->columns);
            for (size_t o = 0; o < width; o++, f++, from += s->columns) {
                const vec d = vec_load(from);
                NN_UNROLL
                for (int i = 0; i < INPUT_BLOCK; i++)
                    sum[i] += d * vec_all(f[i * WEIGHT_PANEL]);
            }
            NN_UNROLL
            for (int i = 0; i < INPUT_BLOCK; i++)
                vec_store(to + (size_t)i * s->columns, sum[i]);
        }
}

/* dx from its elements with samples as columns: pixel 0 of a line is d0 + d1, pixel 1 d1 + d2. */
static void collect_input_gradient(const struct layer *l, const struct pass *pass,
                                   const struct memory *s)
{
    const struct map to = input_map(l, pass_gradient(pass, l->input));
    const size_t element = to.channels * s->columns;
    float *sum = s->pixels;
    float *rows = sum + element;
    for (size_t p = 0; p < PIXELS; p++) {
        const float *corner = s->x_columns + (3 * (p / 2) + p % 2) * element;
        for (size_t i = 0; i < element; i++)
            sum[i] =
                corner[i] + corner[element + i] + corner[3 * element + i] + corner[4 * element + i];
        float *dx = pixel(&to, pass->n, p);
        if (!l->adds_input_gradient) {
            transpose(to.channels, pass->n, sum, s->columns, dx, to.row, false);
            continue;
        }
        transpose(to.channels, pass->n, sum, s->columns, rows, to.channels, false);
        for (size_t i = 0; i < pass->n; i++)
            for (size_t c = 0; c < to.channels; c++)
                dx[i * to.row + c] += rows[i * to.channels + c];
    }
}

/* Gradients of the filters from `inputs` inputs to one vector of outputs: all elements are summed
 * over samples in registers, then become taps.  x and dy: [sample][element] vectors; target:
 * [input][tap][width]; filters at `ahead`, which lies as target does, are asked for. */
NN_INLINE void filter_gradient(const int inputs, const struct pass *pass, const float *x,
                               const float *dy, float *target, size_t width, const float *ahead)
{
    enum { MOST_INPUTS = 3, AT_ONCE = 2 };
    vec sum[MOST_INPUTS * ELEMENTS];
    NN_UNROLL
    for (int k = 0; k < inputs * ELEMENTS; k++)
        sum[k] = (vec){0};
    for (size_t s = 0; s < pass->n; s++, x += ELEMENTS * LANES, dy += ELEMENTS * LANES) {
        const size_t tap = AT_ONCE * s;
        for (size_t k = tap; k < tap + AT_ONCE && k < (size_t)inputs * TAPS; k++)
            __builtin_prefetch(ahead + k * width, 0, 2);
        NN_UNROLL
        for (int e = 0; e < ELEMENTS; e++) {
            const vec d = vec_in_register(vec_load(dy + e * LANES));
            NN_UNROLL
            for (int i = 0; i < inputs; i++)
                sum[i * ELEMENTS + e] += d * vec_all(x[e * LANES + i]);
        }
    }
    const vec scale = vec_all(pass->scale);
    NN_UNROLL
    for (int i = 0; i < inputs; i++) {
        const vec *m = sum + i * ELEMENTS;
        vec t[TAPS];
        NN_UNROLL
        for (int k = 0; k < 3; k++) {
            t[3 * k] = m[3 * k];
            t[3 * k + 1] = m[3 * k + 1] - m[3 * k] - m[3 * k + 2];
            t[3 * k + 2] = m[3 * k + 2];
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

/* The same for all filters of INPUT_BLOCK inputs and a panel; x begins at the block's first. */
static void block_gradient(const struct pass *pass, const float *x, const float *dy, float *target,
                           size_t width, const float *ahead)
{
    enum { AT_ONCE = VECTOR_REGISTERS == 32 ? 3 : 1 };
    const size_t vector = pass->n * ELEMENTS * LANES;
    for (size_t o = 0; o < width; o += LANES, dy += vector)
        for (size_t i = 0, count; i < INPUT_BLOCK; i += count) {
            const float *from = x + i / LANES * vector + i % LANES;
            float *to = target + i * TAPS * width + o;
            const float *next = ahead + i * TAPS * width + o;
            /* inputs of one vector */
            count = smaller(AT_ONCE, smaller(INPUT_BLOCK - i, LANES - i % LANES));
            if (count == 3)
                filter_gradient(3, pass, from, dy, to, width, next);
            else if (count == 2)
                filter_gradient(2, pass, from, dy, to, width, next);
            else
                filter_gradient(1, pass, from, dy, to, width, next);
        }
}

/* Block by block, the input's gradient first, so that weights come from memory once. */
void two_by_two_backward(const struct layer *l, const struct pass *pass)
{
    const struct memory s = memory_of(l, pass);
    const struct map x = input_map(l, pass_values(pass, l->input));
    const struct map dy = output_map(l, pass, pass_gradient(pass, l->output));
    const float *w = pass_weights(pass, l->weight);
    const size_t sample = ELEMENTS * pass->n;
    expand_rows(&x, pass->n, false, s.x_rows);
    expand_rows(&dy, pass->n, true, s.dy_rows);
    expand_columns(&dy, &s, pass->n, true, s.dy_columns);
    memset(s.x_columns, 0, ELEMENTS * x.channels * s.columns * sizeof(float));
    for (size_t o = 0; o < dy.channels; o += WEIGHT_PANEL)
        for (size_t i = 0; i < x.channels; i += INPUT_BLOCK) {
            const size_t width = panel_width(l, o);
            const float *filters = filters_at(l, w, i, o);
            const bool last = i + INPUT_BLOCK == x.channels && o + width == dy.channels;
            transform_filters(filters, width, s.filters);
            add_input_gradient(&s, width, s.dy_columns + o * s.columns, dy.channels,
                               s.x_columns + i * s.columns, x.channels);
            /* the blocks of a panel, and the panels, lie one after the other */
            block_gradient(pass, s.x_rows + i / LANES * LANES * sample + i % LANES,
                           s.dy_rows + o * sample, pass_target(pass, l->weight) + (filters - w),
                           width, last ? filters : filters + INPUT_BLOCK * TAPS * width);
        }
    collect_input_gradient(l, pass, &s);
}
