/* pooled_picture.c - the first convolution, 3x3, fused with the 2x2 max-pool behind it.
 *
 * The results of the convolution, four times as many as those of the pool, never exist in memory.
 * Forward by minimal filtering (winograd_lines.h): with few input channels its element products
 * are short sums, so each tile of 4x4 results is made, pooled to 2x2 and stored out of registers.
 * Backward, only the winner of each window has a gradient. */
#include <string.h>

#include "arithmetic.h"
#include "transpose.h"
#include "winograd_lines.h"

/* Pictures are kept as [channel][y][x][sample] with a border of zeros: a pixel before, and enough
 * behind for the last tile and window. */
struct geometry {
    size_t n;
    size_t channels; /* of the picture */
    size_t outputs;
    size_t tiles_across;
    size_t tiles_down;
    size_t width;
    size_t height;
    float *pictures;
    uint8_t *winners; /* which cell of its window each result was */
};

static struct geometry geometry_of(const struct layer *l, const struct pass *pass)
{
    struct geometry g = {.n = pass->n,
                         .channels = l->in_channels,
                         .outputs = l->out_channels,
                         .tiles_across = ((size_t)l->out_width + 1) / 2,
                         .tiles_down = ((size_t)l->out_height + 1) / 2};
    g.width = g.tiles_across * TILE + 2;
    g.height = g.tiles_down * TILE + 2;
    g.pictures = pass_memory(pass, l->saved_offset);
    /* Vectors of samples are loaded whole; what lies behind the last one is never used. */
    g.winners = (uint8_t *)(g.pictures + g.channels * g.height * g.width * g.n + LANES);
    return g;
}

static float *picture_at(const struct geometry *g, size_t channel, size_t y, size_t x)
{
    return g->pictures + ((channel * g->height + y) * g->width + x) * g->n;
}

static void border_pictures(const struct layer *l, const struct pass *pass,
                            const struct geometry *g)
{
    const size_t picture = (size_t)l->in_channels * l->in_height * l->in_width;
    const size_t lines = smaller(l->in_height, g->height - 1);
    const size_t pixels = smaller(l->in_width, g->width - 1);
    memset(g->pictures, 0, g->channels * g->height * g->width * g->n * sizeof(float));
    for (size_t c = 0; c < g->channels; c++)
        for (size_t y = 0; y < lines; y++)
            transpose(g->n, pixels, pass->picture + (c * l->in_height + y) * l->in_width, picture,
                      picture_at(g, c, y + 1, 1), g->n, false);
}

/* B' d B of the patch at (y, x) for all samples: to[channel][element][sample]. */
static void transform_patches(const struct geometry *g, size_t y, size_t x, float *to)
{
    const size_t columns = (g->n + LANES - 1) / (size_t)LANES * LANES;
    for (size_t c = 0; c < g->channels; c++)
        for (size_t s = 0; s < g->n; s += LANES) {
            vec t[ELEMENTS];
            NN_UNROLL
            for (int i = 0; i < PATCH; i++) {
                vec d[PATCH];
                NN_UNROLL
                for (int j = 0; j < PATCH; j++)
                    d[j] = vec_load(picture_at(g, c, y + (size_t)i, x + (size_t)j) + s);
                patch_line(d, t + i * PATCH, 1);
            }
            NN_UNROLL
            for (int j = 0; j < PATCH; j++) {
                vec d[PATCH];
                vec r[PATCH];
                NN_UNROLL
                for (int i = 0; i < PATCH; i++)
                    d[i] = t[i * PATCH + j];
                patch_line(d, r, 1);
                NN_UNROLL
                for (int i = 0; i < PATCH; i++)
                    vec_store(to + (c * ELEMENTS + (size_t)(i * PATCH + j)) * columns + s, r[i]);
            }
        }
}

/* Tap t of channel c for output channels o ...: panels are [tap][in][out of the panel]. */
static size_t filter_at(const struct geometry *g, size_t t, size_t c, size_t o)
{
    const size_t panel = o / WEIGHT_PANEL * WEIGHT_PANEL;
    const size_t width = smaller(g->outputs - panel, WEIGHT_PANEL);
    return panel * TAPS * g->channels + (t * g->channels + c) * width + o - panel;
}

/* G g G' of all filters: u[vector of outputs][element column][channel][element line]. */
static void transform_filters(const struct geometry *g, const float *w, float *u)
{
    for (size_t o = 0; o < g->outputs; o += LANES)
        for (size_t c = 0; c < g->channels; c++) {
            vec t[3 * PATCH];
            for (size_t i = 0; i < 3; i++) {
                const vec tap[3] = {vec_load(w + filter_at(g, 3 * i, c, o)),
                                    vec_load(w + filter_at(g, 3 * i + 1, c, o)),
                                    vec_load(w + filter_at(g, 3 * i + 2, c, o))};
                filter_line(tap, t + i * PATCH, 1);
            }
            for (size_t j = 0; j < PATCH; j++) {
                const vec tap[3] = {t[j], t[PATCH + j], t[2 * PATCH + j]};
                vec r[PATCH];
                filter_line(tap, r, 1);
                for (size_t i = 0; i < PATCH; i++)
                    vec_store(u + ((o / LANES * PATCH + j) * g->channels + c) * PATCH * LANES +
                                  i * LANES,
                              r[i]);
            }
        }
}

/* The 4x4 results of one sample and one vector of outputs. */
NN_INLINE void filter_tile(size_t channels, const float *u, const float *patch, size_t columns,
                           vec result[TILE * TILE])
{
    vec t[TILE * PATCH];
    NN_UNROLL
    for (int j = 0; j < PATCH; j++) {
        vec m[PATCH];
        NN_UNROLL
        for (int i = 0; i < PATCH; i++)
            m[i] = (vec){0};
        for (size_t c = 0; c < channels; c++, u += PATCH * LANES) {
            NN_UNROLL
            for (int i = 0; i < PATCH; i++)
                m[i] += vec_load(u + i * LANES) *
                        vec_all(patch[(c * ELEMENTS + (size_t)(i * PATCH + j)) * columns]);
        }
        output_line(m, t + j, PATCH);
    }
    NN_UNROLL
    for (int i = 0; i < TILE; i++)
        output_line(t + i * PATCH, result + i * TILE, 1);
}

/* Where the results of a tile go: 2x2 outputs, of which those inside the map are stored. */
struct destination {
    const struct geometry *g;
    size_t y; /* of the first of the 2x2 */
    size_t x;
    size_t height;
    size_t width;
    float *values;
    const float *bias; /* or NULL */
    bool rectify;
};

NN_INLINE void pool_tile(const struct destination *d, const vec result[TILE * TILE], size_t sample,
                         size_t output)
{
    const vec bias = d->bias != NULL ? vec_load(d->bias + output) : (vec){0};
    NN_UNROLL
    for (int i = 0; i < 2; i++) {
        NN_UNROLL
        for (int j = 0; j < 2; j++) {
            if (d->y + (size_t)i >= d->height || d->x + (size_t)j >= d->width)
                continue;
            const vec *cell = result + 2 * (i * TILE + j);
            lane_mask better = vec_greater(cell[1], cell[0]);
            vec best = vec_select(better, cell[1], cell[0]);
            int_vec winner = vec_select_int(better, 1, (int_vec){0});
            better = vec_greater(cell[TILE], best);
            best = vec_select(better, cell[TILE], best);
            winner = vec_select_int(better, 2, winner);
            better = vec_greater(cell[TILE + 1], best);
            best = vec_select(better, cell[TILE + 1], best) + bias;
            winner = vec_select_int(better, 3, winner);
            const size_t pixel = (d->y + (size_t)i) * d->width + d->x + (size_t)j;
            const size_t at = (pixel * d->g->n + sample) * d->g->outputs + output;
            __builtin_prefetch(d->values + at + 4 * d->g->outputs, 1);
            vec_store(d->values + at, d->rectify ? vec_positive(best) : best);
            vec_store_bytes(d->g->winners + at, winner);
        }
    }
}

NN_INLINE void run_tile(const struct destination *d, size_t channels, const float *filters,
                        const float *patches)
{
    const size_t n = d->g->n;
    const size_t columns = (n + LANES - 1) / (size_t)LANES * LANES;
    for (size_t o = 0; o < d->g->outputs; o += LANES)
        for (size_t s = 0; s < n; s++) {
            vec result[TILE * TILE];
            filter_tile(channels, filters + o * ELEMENTS * channels, patches + s, columns, result);
            pool_tile(d, result, s, o);
        }
}

void pooled_picture_forward(const struct layer *l, const struct pass *pass)
{
    const struct geometry g = geometry_of(l, pass);
    float *scratch = pass_scratch_fixed(pass);
    float *filters = pass_filters(l, pass, scratch);
    float *patches = scratch + l->filters_floats;
    struct destination d = {.g = &g,
                            .height = l->out_height,
                            .width = l->out_width,
                            .values = pass_values(pass, l->output),
                            .bias = l->bias >= 0 ? pass_weights(pass, l->bias) : NULL,
                            .rectify = l->relu};
    border_pictures(l, pass, &g);
    if (!pass->filters_ready)
        transform_filters(&g, pass_weights(pass, l->weight), filters);
    for (size_t y = 0; y < g.tiles_down; y++)
        for (size_t x = 0; x < g.tiles_across; x++) {
            transform_patches(&g, y * TILE, x * TILE, patches);
            d.y = 2 * y;
            d.x = 2 * x;
            if (g.channels == 3)
                run_tile(&d, 3, filters, patches);
            else if (g.channels == 1)
                run_tile(&d, 1, filters, patches);
            else
                run_tile(&d, g.channels, filters, patches);
        }
}

/* A window of 2x2 results has seen 4x4 pixels: tap (r, q) of winner (i, j) met pixel (i + r,
 * j + q).  They are laid out for some windows and channels at a time, with zeros behind them. */
enum { WINDOWS = 32, SEEN = 32, MOST_CHANNELS = VECTOR_REGISTERS == 32 ? 3 : 1 };

struct seen {
    float pixel[WINDOWS][MOST_CHANNELS][SEEN];
};

/* Windows are numbered [y][x][sample]. */
static void lay_out(const struct layer *l, const struct geometry *g, size_t first, size_t windows,
                    size_t channel, size_t channels, struct seen *seen)
{
    for (size_t i = 0; i < windows; i++) {
        const size_t y = (first + i) / g->n / l->out_width;
        const size_t x = (first + i) / g->n % l->out_width;
        for (size_t c = 0; c < channels; c++)
            for (size_t k = 0; k < 16; k++)
                seen->pixel[i][c][k] =
                    picture_at(g, channel + c, 2 * y + k / 4, 2 * x + k % 4)[(first + i) % g->n];
    }
}

/* Adds what the winners at output channels o ... met with each tap to sum[tap][channel]. */
NN_INLINE void add_met(int channels, const struct geometry *g, const struct seen *seen,
                       size_t windows, const float *dy, const uint8_t *winner, vec *sum)
{
    for (size_t i = 0; i < windows; i++) {
        const vec d = vec_load(dy + i * g->outputs);
        const int_vec w = vec_load_bytes(winner + i * g->outputs);
#if LANES >= 8
        const int_vec at = w + (w & 2); /* number of the pixel that tap (0, 0) met */
#else
        vec part[4];
        NN_UNROLL
        for (int k = 0; k < 4; k++)
            part[k] = (vec)((int_vec)d & (w == k));
#endif
        NN_UNROLL
        for (int c = 0; c < channels; c++) {
            NN_UNROLL
            for (int t = 0; t < TAPS; t++) {
                const float *met = seen->pixel[i][c] + t / 3 * 4 + t % 3;
#if LANES >= 8
                sum[t * channels + c] += vec_look_up(met, at) * d;
#else
                sum[t * channels + c] +=
                    part[0] * met[0] + part[1] * met[1] + part[2] * met[4] + part[3] * met[5];
#endif
            }
        }
    }
}

NN_INLINE void add_windows(int channels, const struct geometry *g, const struct seen *seen,
                           size_t first, size_t windows, size_t channel, const float *dy,
                           float *gradient)
{
    for (size_t o = 0; o < g->outputs; o += LANES) {
        vec sum[TAPS * MOST_CHANNELS];
        NN_UNROLL
        for (int k = 0; k < TAPS * channels; k++)
            sum[k] = vec_load(gradient + filter_at(g, (size_t)(k / channels),
                                                   channel + (size_t)(k % channels), o));
        add_met(channels, g, seen, windows, dy + first * g->outputs + o,
                g->winners + first * g->outputs + o, sum);
        NN_UNROLL
        for (int k = 0; k < TAPS * channels; k++)
            vec_store(gradient +
                          filter_at(g, (size_t)(k / channels), channel + (size_t)(k % channels), o),
                      sum[k]);
    }
}

void pooled_picture_backward(const struct layer *l, const struct pass *pass)
{
    const struct geometry g = geometry_of(l, pass);
    const struct block dy = output_block(l, pass, pass_gradient(pass, l->output));
    const size_t weights = TAPS * g.channels * g.outputs;
    float *gradient = pass_scratch_fixed(pass);
    struct seen seen;
    memset(&seen, 0, sizeof seen);
    memset(gradient, 0, weights * sizeof *gradient);
    if (l->relu)
        mask_rectified(dy, pass_values(pass, l->output));
    for (size_t first = 0; first < dy.rows; first += WINDOWS) {
        const size_t windows = smaller(dy.rows - first, WINDOWS);
        size_t channels;
        for (size_t c = 0; c < g.channels; c += channels) {
            channels = smaller(g.channels - c, MOST_CHANNELS);
            lay_out(l, &g, first, windows, c, channels, &seen);
            if (channels == 1)
                add_windows(1, &g, &seen, first, windows, c, dy.at, gradient);
#if VECTOR_REGISTERS == 32
            else if (channels == 2)
                add_windows(2, &g, &seen, first, windows, c, dy.at, gradient);
            else
                add_windows(3, &g, &seen, first, windows, c, dy.at, gradient);
#endif
        }
    }
    for (size_t i = 0; i < weights; i++)
        store_gradient(pass, pass_target(pass, l->weight) + i, (double)gradient[i]);
    if (l->bias >= 0)
        bias_gradient(pass, l->bias, dy);
}
