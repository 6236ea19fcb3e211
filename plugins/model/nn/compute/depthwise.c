/* depthwise.c - convolutions of each channel on its own (groups = channels), to one channel or
 * several: result o comes from channel o / multiple.  Weights lie as [panel][tap][out].
 *
 * With one channel from each, vectors of channels are walked through: a result is gathered from the
 * taps that meet it, and so is a gradient of an input. */
#include <string.h>

#include "taps.h"
#include "vector.h"

/* ---- one result for each channel ---- */

/* Which pixels make one of another map, and by which taps: rows x columns of them. */
struct walk {
    const float *from; /* the first pixel */
    size_t rows;
    size_t columns;
    ptrdiff_t from_row; /* floats to the next one */
    ptrdiff_t from_column;
    size_t tap; /* the first one */
    size_t tap_row;
    size_t tap_column;
};

/* What all pixels have in common. */
struct map {
    size_t n;
    size_t channels;
    size_t taps;
    const float *w;
};

/* Vectors of channels that are gathered side by side. */
enum { ABREAST = 4 };

/* Adds all taps times their pixels to some channels of a sample. */
NN_INLINE void gather_vectors(const struct walk *k, const size_t vectors, const float *from,
                              const float *w, size_t width, float *to)
{
    vec sum[ABREAST];
    NN_UNROLL
    for (size_t a = 0; a < vectors; a++)
        sum[a] = vec_load(to + a * LANES);
    for (size_t i = 0; i < k->rows; i++)
        for (size_t j = 0; j < k->columns; j++) {
            const float *x = from + (ptrdiff_t)i * k->from_row + (ptrdiff_t)j * k->from_column;
            const float *tap = w + (i * k->tap_row + j * k->tap_column) * width;
            NN_UNROLL
            for (size_t a = 0; a < vectors; a++)
                sum[a] += vec_load(x + a * LANES) * vec_load(tap + a * LANES);
        }
    NN_UNROLL
    for (size_t a = 0; a < vectors; a++)
        vec_store(to + a * LANES, sum[a]);
}

NN_INLINE float gather_value(const struct walk *k, const float *from, const float *w, size_t width,
                             float sum)
{
    for (size_t i = 0; i < k->rows; i++)
        for (size_t j = 0; j < k->columns; j++)
            sum += from[(ptrdiff_t)i * k->from_row + (ptrdiff_t)j * k->from_column] *
                   w[(i * k->tap_row + j * k->tap_column) * width];
    return sum;
}

/* Adds to a pixel of all samples. */
static void gather_pixel(const struct map *m, const struct walk *k, float *to)
{
    for (size_t n = 0; n < m->n; n++, to += m->channels) {
        const float *from = k->from + n * m->channels;
        for (size_t panel = 0; panel < m->channels; panel += WEIGHT_PANEL) {
            const size_t width = smaller(m->channels - panel, WEIGHT_PANEL);
            const float *x = from + panel;
            const float *w = m->w + panel * m->taps + k->tap * width;
            float *y = to + panel;
            size_t c = 0;
            for (; c + ABREAST * LANES <= width; c += ABREAST * LANES)
                gather_vectors(k, ABREAST, x + c, w + c, width, y + c);
            for (; c + LANES <= width; c += LANES)
                gather_vectors(k, 1, x + c, w + c, width, y + c);
            for (; c < width; c++)
                y[c] = gather_value(k, x + c, w + c, width, y[c]);
        }
    }
}

static struct map map_of(const struct layer *l, const struct pass *pass)
{
    return (struct map){.n = pass->n,
                        .channels = l->in_channels,
                        .taps = (size_t)l->kernel_height * l->kernel_width,
                        .w = pass_weights(pass, l->weight)};
}

/* The pixels of x that output pixel (v, u) reads. */
static struct walk read_by(const struct layer *l, const struct map *m, const float *x, size_t v,
                           size_t u)
{
    const size_t line = m->n * m->channels;
    const struct span r = taps_at(v, l->kernel_height, l->stride, l->padding_y, l->in_height);
    const struct span q = taps_at(u, l->kernel_width, l->stride, l->padding, l->in_width);
    if (r.begin == r.end || q.begin == q.end)
        return (struct walk){.from = x};
    const size_t y = v * l->stride + r.begin - l->padding_y;
    return (struct walk){
        .from = x + (y * l->in_width + u * l->stride + q.begin - l->padding) * line,
        .rows = r.end - r.begin,
        .columns = q.end - q.begin,
        .from_row = (ptrdiff_t)(l->in_width * line),
        .from_column = (ptrdiff_t)line,
        .tap = r.begin * l->kernel_width + q.begin,
        .tap_row = l->kernel_width,
        .tap_column = 1,
    };
}

/* Along one axis: the taps first, first + stride, ... of n by which input position i is read, the
 * first one from output position `from`, each further one from the position before. */
struct readers {
    size_t first;
    size_t n;
    size_t from;
};

static struct readers readers_of(size_t i, size_t taps, size_t stride, size_t padding,
                                 size_t positions)
{
    const size_t at = i + padding; /* = output position * stride + tap */
    const size_t last = smaller(at / stride, positions - 1);
    struct readers r = {.first = at - last * stride, .from = last};
    if (r.first < taps)
        r.n = smaller((taps - 1 - r.first) / stride + 1, last + 1);
    return r;
}

/* The pixels of dy that read input pixel (v, u). */
static struct walk readers_at(const struct layer *l, const struct map *m, const float *dy, size_t v,
                              size_t u)
{
    const size_t line = m->n * m->channels;
    const struct readers r =
        readers_of(v, l->kernel_height, l->stride, l->padding_y, l->out_height);
    const struct readers q = readers_of(u, l->kernel_width, l->stride, l->padding, l->out_width);
    return (struct walk){
        .from = dy + (r.from * l->out_width + q.from) * line,
        .rows = r.n,
        .columns = q.n,
        .from_row = -(ptrdiff_t)(l->out_width * line),
        .from_column = -(ptrdiff_t)line,
        .tap = r.first * l->kernel_width + q.first,
        .tap_row = l->stride * l->kernel_width,
        .tap_column = l->stride,
    };
}

/* sum += dy x of some channels of all samples, by n taps side by side. */
NN_INLINE void weigh(const struct map *m, const float *dy, const float *x, ptrdiff_t next_x,
                     const size_t taps, double *sum, size_t width)
{
    vec part[3] = {{0}};
    for (size_t n = 0; n < m->n; n++) {
        const vec d = vec_load(dy + n * m->channels);
        for (size_t j = 0; j < taps; j++)
            part[j] += d * vec_load(x + n * m->channels + (ptrdiff_t)j * next_x);
    }
    for (size_t j = 0; j < taps; j++)
        for (size_t i = 0; i < LANES; i++)
            sum[j * width + i] += (double)part[j][i];
}

static void weigh_value(const struct map *m, const float *dy, const float *x, double *sum)
{
    float part = 0;
    for (size_t n = 0; n < m->n; n++)
        part += dy[n * m->channels] * x[n * m->channels];
    *sum += (double)part;
}

/* A line of taps and `width` channels from `panel` on. */
static void weigh_line(const struct map *m, const struct walk *k, const float *dy, const float *x,
                       double *sum, size_t width)
{
    size_t c = 0;
    for (; c + LANES <= width; c += LANES) {
        size_t j = 0;
        for (; j + 3 <= k->columns; j += 3)
            weigh(m, dy + c, x + c + (ptrdiff_t)j * k->from_column, k->from_column, 3,
                  sum + j * width + c, width);
        for (; j < k->columns; j++)
            weigh(m, dy + c, x + c + (ptrdiff_t)j * k->from_column, 0, 1, sum + j * width + c,
                  width);
    }
    for (; c < width; c++)
        for (size_t j = 0; j < k->columns; j++)
            weigh_value(m, dy + c, x + c + (ptrdiff_t)j * k->from_column, sum + j * width + c);
}

/* What an output pixel adds to the gradient of the weights. */
static void weigh_pixel(const struct map *m, const struct walk *k, const float *dy, double *sum)
{
    for (size_t panel = 0; panel < m->channels; panel += WEIGHT_PANEL) {
        const size_t width = smaller(m->channels - panel, WEIGHT_PANEL);
        for (size_t i = 0; i < k->rows; i++)
            weigh_line(m, k, dy + panel, k->from + panel + (ptrdiff_t)i * k->from_row,
                       sum + panel * m->taps + (k->tap + i * k->tap_row) * width, width);
    }
}

static void run_forward(const struct layer *l, const struct pass *pass, const float *x, float *y)
{
    const struct map m = map_of(l, pass);
    for (size_t v = 0; v < l->out_height; v++)
        for (size_t u = 0; u < l->out_width; u++, y += m.n * m.channels) {
            const struct walk k = read_by(l, &m, x, v, u);
            gather_pixel(&m, &k, y);
        }
}

static void run_backward(const struct layer *l, const struct pass *pass, const float *x, float *dx,
                         const float *dy, double *sum)
{
    const struct map m = map_of(l, pass);
    const size_t line = m.n * m.channels;
    for (size_t v = 0; v < l->in_height; v++)
        for (size_t u = 0; u < l->in_width; u++, dx += line) {
            const struct walk k = readers_at(l, &m, dy, v, u);
            gather_pixel(&m, &k, dx);
        }
    for (size_t v = 0; v < l->out_height; v++)
        for (size_t u = 0; u < l->out_width; u++, dy += line) {
            const struct walk k = read_by(l, &m, x, v, u);
            weigh_pixel(&m, &k, dy, sum);
        }
}

/* ---- several results for each channel ---- */

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
NN_INLINE void run_tap(const struct tap *t, const enum mode mode, float *x, float *y, double *sum)
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
                float *restrict xj = &xn[(panel + j) / t->multiple];
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
                    run_tap(&t, mode, xp, yp, sum);
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
    if (l->out_channels == l->in_channels)
        run_forward(l, pass, pass_values(pass, l->input), out.at);
    else
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
    memset(sum, 0, weights * sizeof *sum);
    if (l->out_channels == l->in_channels) {
        run_backward(l, pass, x, dx, dy, sum);
    } else {
        run_taps(l, pass, MODE_INPUT, dx, dy, NULL);
        run_taps(l, pass, MODE_WEIGHT, x, dy, sum);
    }
    for (size_t i = 0; i < weights; i++)
        store_gradient(pass, &pass_target(pass, l->weight)[i], sum[i]);
    if (l->bias >= 0)
        bias_gradient(pass, l->bias, output_block(l, pass, dy));
}
