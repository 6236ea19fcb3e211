/* strided_picture.c - the first convolution of 7x7 taps and stride 2, by minimal filtering along
 * lines.
 *
 * Seen from outputs that lie two pixels apart, the even and the odd pixels of a line are channels
 * of their own, each met by up to 4 taps.  F(4, 4) finds 4 outputs next to each other with 7
 * products instead of 16 (Toom-Cook with the points 0, 1, -1, 2, -2, 1/2 and infinity; Lavin &
 * Gray, CVPR 2016):
 *     y = A' [(G g) . (B' d)]        ("." elementwise, summed over channels and filter lines)
 * with d 7 pixels of one parity, g the taps that meet them and y the outputs.  The gradient of the
 * taps is G' [(B' d) . (A dy)] summed over the picture.  In the other direction, filter lines are
 * plain segments of a product.
 *
 * Pictures are kept as [y][x][channel][sample], so that the pixels that one tap of a pair meets for
 * all channels and samples are contiguous, and so is what is made of them. */
#include "strided_picture.h"

#include <string.h>

#include "product.h"
#include "transpose.h"

enum { TILE = 4, POINTS = 7, PAIRS = 4, LINES = 7, TAPS = 7 };

static const float transform_of_pixels[POINTS][POINTS] = {
    /* B' */
    {-2, 4, 2.5f, -5, -0.5f, 1, 0}, {0, 2, -2, -4.5f, 0.5f, 1, 0}, {0, -2, 6, -3.5f, -1.5f, 1, 0},
    {0, 1, -1.5f, -2, 1.5f, 1, 0},  {0, -1, 2.5f, 0, -2.5f, 1, 0}, {0, 4, 0, -5, 0, 1, 0},
    {0, -2, 4, 2.5f, -5, -0.5f, 1},
};
/* Rows of G are multiplied, and those of A divided, by the power of 2 that keeps the sum of the
 * latter's factors at or below 1: gradients near the largest float stay finite. */
static const float transform_of_taps[POINTS][PAIRS] = {
    /* G */
    {-1.0f / 2, 0, 0, 0},
    {-4.0f / 3, -4.0f / 3, -4.0f / 3, -4.0f / 3},
    {4.0f / 9, -4.0f / 9, 4.0f / 9, -4.0f / 9},
    {16.0f / 36, 16.0f / 18, 16.0f / 9, 32.0f / 9},
    {-16.0f / 60, 16.0f / 30, -16.0f / 15, 32.0f / 15},
    {64.0f / 45, 32.0f / 45, 16.0f / 45, 8.0f / 45},
    {0, 0, 0, 1},
};
static const float transform_of_outputs[POINTS][TILE] = {
    /* A */
    {1, 0, 0, 0},
    {1.0f / 4, 1.0f / 4, 1.0f / 4, 1.0f / 4},
    {1.0f / 4, -1.0f / 4, 1.0f / 4, -1.0f / 4},
    {1.0f / 16, 1.0f / 8, 1.0f / 4, 1.0f / 2},
    {1.0f / 16, -1.0f / 8, 1.0f / 4, -1.0f / 2},
    {1.0f / 2, 1.0f / 4, 1.0f / 8, 1.0f / 16},
    {0, 0, 0, 1},
};

/* The sum of factor[i] x[i]; for constant factors those that are 0 cost nothing. */
NN_INLINE vec weighted(const int n, const float *factor, const int step, const vec *x)
{
    vec sum = {0};
    NN_UNROLL
    for (int i = 0; i < n; i++)
        if (factor[i * step] != 0)
            sum += factor[i * step] * x[i];
    return sum;
}

/* Sizes in floats, and where numbers lie. */
struct strided {
    size_t samples;
    size_t channels;
    size_t tiles;   /* of 4 outputs of a line */
    size_t pair;    /* an even and an odd pixel: all channels and samples */
    size_t line;    /* of a bordered picture */
    size_t plane;   /* one point of all transformed pictures */
    float *pixels;  /* [point][line][parity][channel][tile][sample]; live until backward */
    float *picture; /* bordered */
    float *tile;    /* of a line of outputs: [point][tile][sample][output of a panel] */
    float *filters; /* [panel][point][line][parity][channel][output of the panel] */
};

/* A vector may reach over the end of a line, and be overwritten by what comes next: behind the last
 * one there is room for it.  See plan_strided_picture() in layers.c for the memory. */
enum { ROOM = 16 };

static struct strided strided_of(const struct layer *l, const struct pass *pass)
{
    struct strided s = {.samples = pass->n,
                        .channels = l->in_channels,
                        .tiles = (l->out_width + (size_t)TILE - 1) / TILE,
                        .pixels = pass_memory(pass, l->saved_offset)};
    const size_t lines = l->in_height + 2 * (size_t)l->padding;
    s.pair = 2 * s.channels * s.samples;
    s.line = (TILE * s.tiles + PAIRS - 1) * s.pair;
    s.plane = lines * s.tiles * s.pair + ROOM;
    s.filters = pass_scratch_fixed(pass);
    s.picture = s.filters + (size_t)POINTS * LINES * 2 * s.channels * l->out_channels;
    s.tile = s.picture + lines * s.line + ROOM;
    return s;
}

/* Borders of zeros around the pictures. */
static void border_pictures(const struct layer *l, const struct pass *pass, const struct strided *s)
{
    const size_t plane = (size_t)l->in_height * l->in_width;
    const size_t pixel = s->channels * s->samples;
    memset(s->picture, 0, (l->in_height + 2 * (size_t)l->padding) * s->line * sizeof(float));
    for (size_t y = 0; y < l->in_height; y++)
        for (size_t c = 0; c < s->channels; c++)
            transpose(s->samples, l->in_width, pass->picture + c * plane + y * l->in_width,
                      s->channels * plane,
                      s->picture + (y + l->padding) * s->line + l->padding * pixel + c * s->samples,
                      pixel, false);
}

/* B' d for all pixels. */
static void transform_pictures(const struct layer *l, const struct strided *s)
{
    const size_t lines = l->in_height + 2 * (size_t)l->padding;
    float *to = s->pixels;
    for (size_t i = 0; i < lines * 2 * s->channels * s->tiles; i++, to += s->samples) {
        const size_t tile = i % s->tiles;
        const size_t channel = i / s->tiles % (2 * s->channels); /* of a pair */
        const size_t y = i / s->tiles / (2 * s->channels);
        const float *from = s->picture + y * s->line + tile * TILE * s->pair + channel * s->samples;
        for (size_t n = 0; n < s->samples; n += LANES) {
            vec d[POINTS];
            NN_UNROLL
            for (int k = 0; k < POINTS; k++)
                d[k] = vec_load(from + (size_t)k * s->pair + n);
            NN_UNROLL
            for (int k = 0; k < POINTS; k++)
                vec_store(to + (size_t)k * s->plane + n,
                          weighted(POINTS, transform_of_pixels[k], 1, d));
        }
    }
}

/* The outputs of a panel of filters, and where its numbers begin. */
struct panel {
    size_t first;
    size_t width;
    size_t weights; /* in the parameter */
    size_t filters; /* in the transformed filters */
    size_t line;    /* one line of transformed filters */
};

static struct panel panel_at(const struct layer *l, const struct strided *s, size_t first)
{
    const size_t width = smaller(l->out_channels - first, WEIGHT_PANEL);
    return (struct panel){.first = first,
                          .width = width,
                          .weights = first * LINES * TAPS * s->channels,
                          .filters = first * POINTS * LINES * 2 * s->channels,
                          .line = 2 * s->channels * width};
}

/* The taps of one line, parity, channel and vector of outputs, 2 apart; there is no eighth tap. */
NN_INLINE size_t tap_at(const struct strided *s, const struct panel *p, size_t line, size_t parity,
                        size_t pair, size_t channel)
{
    return p->weights + ((line * TAPS + 2 * pair + parity) * s->channels + channel) * p->width;
}

static void transform_filters(const struct strided *s, const struct panel *p, const float *w,
                              float *u)
{
    for (size_t r = 0; r < LINES; r++)
        for (size_t k = 0; k < 2 * s->channels; k++)
            for (size_t o = 0; o < p->width; o += LANES) {
                const size_t parity = k / s->channels;
                vec g[PAIRS] = {{0}};
                for (size_t m = 0; m < PAIRS - parity; m++)
                    g[m] = vec_load(w + tap_at(s, p, r, parity, m, k % s->channels) + o);
                NN_UNROLL
                for (int j = 0; j < POINTS; j++)
                    vec_store(u + p->filters + ((size_t)j * LINES + r) * p->line + k * p->width + o,
                              weighted(PAIRS, transform_of_taps[j], 1, g));
            }
}

/* A' m for a line of outputs. */
static void store_line(const struct layer *l, const struct pass *pass, const struct strided *s,
                       const struct panel *p, size_t y)
{
    const struct block out = output_block(l, pass, pass_values(pass, l->output));
    const size_t point = s->tiles * s->samples * p->width;
    for (size_t i = 0; i < s->tiles * s->samples; i++)
        for (size_t o = 0; o < p->width; o += LANES) {
            const size_t x = i / s->samples * TILE;
            float *to = out.at +
                        ((y * l->out_width + x) * s->samples + i % s->samples) * out.stride +
                        p->first + o;
            const vec bias =
                l->bias >= 0 ? vec_load(pass_weights(pass, l->bias) + p->first + o) : (vec){0};
            vec m[POINTS];
            NN_UNROLL
            for (int j = 0; j < POINTS; j++)
                m[j] = vec_load(s->tile + (size_t)j * point + i * p->width + o);
            NN_UNROLL
            for (int k = 0; k < TILE; k++) {
                if (x + (size_t)k >= l->out_width)
                    break;
                const vec value = weighted(POINTS, &transform_of_outputs[0][k], TILE, m) + bias;
                vec_store(to + (size_t)k * s->samples * out.stride,
                          l->relu ? vec_positive(value) : value);
            }
        }
}

void strided_picture_forward(const struct layer *l, const struct pass *pass)
{
    const struct strided s = strided_of(l, pass);
    float *filters = pass_filters(l, pass, s.filters);
    border_pictures(l, pass, &s);
    transform_pictures(l, &s);
    for (size_t first = 0; first < l->out_channels; first += WEIGHT_PANEL) {
        const struct panel p = panel_at(l, &s, first);
        if (!pass->filters_ready)
            transform_filters(&s, &p, pass_weights(pass, l->weight), filters);
        for (size_t y = 0; y < l->out_height; y++) {
            for (size_t j = 0; j < POINTS; j++)
                product_run(pass,
                            &(struct product){
                                .rows = s.tiles * s.samples,
                                .columns = p.width,
                                .segments = LINES,
                                .depth = 2 * s.channels,
                                .a = s.pixels + j * s.plane + y * l->stride * s.tiles * s.pair,
                                .a_row = 1,
                                .a_column = (ptrdiff_t)(s.tiles * s.samples),
                                .a_segment = (ptrdiff_t)(s.tiles * s.pair),
                                .b = filters + p.filters + j * LINES * p.line,
                                .b_row = (ptrdiff_t)p.width,
                                .b_segment = (ptrdiff_t)p.line,
                                .c = s.tile + j * s.tiles * s.samples * p.width,
                                .c_row = (ptrdiff_t)p.width,
                                .scale = 1,
                            });
            store_line(l, pass, &s, &p, y);
        }
    }
}

/* A dy for a line of outputs. */
static void transform_line(const struct layer *l, const struct pass *pass, const struct strided *s,
                           const struct panel *p, size_t y)
{
    const struct block dy = output_block(l, pass, pass_gradient(pass, l->output));
    const size_t point = s->tiles * s->samples * p->width;
    for (size_t i = 0; i < s->tiles * s->samples; i++)
        for (size_t o = 0; o < p->width; o += LANES) {
            const size_t x = i / s->samples * TILE;
            const float *from = dy.at +
                                ((y * l->out_width + x) * s->samples + i % s->samples) * dy.stride +
                                p->first + o;
            vec d[TILE] = {{0}};
            NN_UNROLL
            for (int k = 0; k < TILE; k++)
                if (x + (size_t)k < l->out_width)
                    d[k] = vec_load(from + (size_t)k * s->samples * dy.stride);
            NN_UNROLL
            for (int j = 0; j < POINTS; j++)
                vec_store(s->tile + (size_t)j * point + i * p->width + o,
                          weighted(TILE, transform_of_outputs[j], 1, d));
        }
}

/* G' du, to where the pass wants it. */
static void store_filters(const struct pass *pass, const struct strided *s, const struct panel *p,
                          float *target)
{
    const vec scale = vec_all(pass->scale);
    for (size_t r = 0; r < LINES; r++)
        for (size_t k = 0; k < 2 * s->channels; k++)
            for (size_t o = 0; o < p->width; o += LANES) {
                const size_t parity = k / s->channels;
                vec u[POINTS];
                NN_UNROLL
                for (int j = 0; j < POINTS; j++)
                    u[j] = vec_load(s->filters + p->filters + ((size_t)j * LINES + r) * p->line +
                                    k * p->width + o);
                NN_UNROLL
                for (int m = 0; m < PAIRS; m++) {
                    if ((size_t)m == PAIRS - parity)
                        break;
                    float *to = target + tap_at(s, p, r, parity, (size_t)m, k % s->channels) + o;
                    const vec g = scale * weighted(POINTS, &transform_of_taps[0][m], PAIRS, u);
                    vec_store(to, pass->add ? vec_load(to) + g : g);
                }
            }
}

void strided_picture_backward(const struct layer *l, const struct pass *pass)
{
    const struct strided s = strided_of(l, pass);
    for (size_t first = 0; first < l->out_channels; first += WEIGHT_PANEL) {
        const struct panel p = panel_at(l, &s, first);
        for (size_t y = 0; y < l->out_height; y++) {
            transform_line(l, pass, &s, &p, y);
            for (size_t i = 0; i < POINTS * LINES; i++)
                product_run(pass, &(struct product){
                                      .rows = 2 * s.channels,
                                      .columns = p.width,
                                      .segments = 1,
                                      .depth = s.tiles * s.samples,
                                      .a = s.pixels + i / LINES * s.plane +
                                           (y * l->stride + i % LINES) * s.tiles * s.pair,
                                      .a_row = (ptrdiff_t)(s.tiles * s.samples),
                                      .a_column = 1,
                                      .b = s.tile + i / LINES * s.tiles * s.samples * p.width,
                                      .b_row = (ptrdiff_t)p.width,
                                      .c = s.filters + p.filters + i * p.line,
                                      .c_row = (ptrdiff_t)p.width,
                                      .scale = 1,
                                      .add = y > 0,
                                  });
        }
        store_filters(pass, &s, &p, pass_target(pass, l->weight));
    }
}
