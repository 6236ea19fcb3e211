/* winograd.c - 3x3 convolutions of stride 1 and padding 1 by minimal filtering, F(4x4, 3x3).
 *
 * Each of the 36 elements of a transformed patch (winograd_lines.h) is a matrix product of its own
 * between patches and filters.  For the input's gradient the filters are transposed and turned by
 * half a turn; the filter's gradient is G' [(B' d B) . (A dy A')] G summed over patches.
 *
 * A "row" is one sample of one tile of 4x4 outputs.  Rows are worked on in groups, channels in
 * blocks, so that what one group needs stays in the second-level cache. */
#include "winograd.h"

#include "correlation.h"
#include "product.h"
#include "transpose.h"
#include "winograd_lines.h"

enum { BLOCK = WEIGHT_PANEL };

/* Elements lie a little more than a power of 2 apart, or they would fight for the same lines of
 * the first-level cache. */
enum { GAP = 16 };

/* Rows [first, first + count) of a map's (tile, sample) pairs, tile by tile. */
struct group {
    size_t first;
    size_t count;
};

/* Where the pixels of a patch or tile lie for one sample: pixels outside the map are zeros. */
struct pixels {
    const float *at[ELEMENTS];
    ptrdiff_t next[ELEMENTS]; /* to the next sample */
};

static const float zeros[BLOCK];

/* First output of a tile. */
static ptrdiff_t tile_y(const struct map *m, size_t tile)
{
    return (ptrdiff_t)(tile / ((m->width + TILE - 1) / TILE) * TILE);
}
static ptrdiff_t tile_x(const struct map *m, size_t tile)
{
    return (ptrdiff_t)(tile % ((m->width + TILE - 1) / TILE) * TILE);
}

static bool inside(const struct map *m, ptrdiff_t y, ptrdiff_t x)
{
    return y >= 0 && x >= 0 && y < (ptrdiff_t)m->height && x < (ptrdiff_t)m->width;
}

/* A square of size x size pixels from (y, x) on, at a sample and a channel. */
static void find_pixels(const struct map *m, size_t n, ptrdiff_t y, ptrdiff_t x, int size,
                        size_t sample, size_t channel, struct pixels *p)
{
    for (int k = 0; k < size * size; k++) {
        const ptrdiff_t v = y + k / size;
        const ptrdiff_t u = x + k % size;
        const bool in = inside(m, v, u);
        p->at[k] =
            in ? m->at + ((size_t)(v * (ptrdiff_t)m->width + u) * n + sample) * m->row + channel
               : zeros;
        p->next[k] = in ? (ptrdiff_t)m->row : 0;
    }
}

/* B' d B of a patch, c channels further. */
NN_INLINE void transform_patch(const struct pixels *p, size_t c, float *to, size_t element)
{
    vec t[ELEMENTS];
    NN_UNROLL
    for (int i = 0; i < PATCH; i++) {
        vec d[PATCH];
        NN_UNROLL
        for (int j = 0; j < PATCH; j++) {
            d[j] = vec_load(p->at[i * PATCH + j] + c);
            __builtin_prefetch(p->at[i * PATCH + j] + p->next[i * PATCH + j] + c);
        }
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
            vec_store(to + (size_t)(i * PATCH + j) * element, r[i]);
    }
}

/* A dy A' of a tile likewise. */
NN_INLINE void transform_gradient(const struct pixels *p, size_t c, float *to, size_t element)
{
    vec t[TILE * PATCH];
    NN_UNROLL
    for (int i = 0; i < TILE; i++) {
        vec d[TILE];
        NN_UNROLL
        for (int j = 0; j < TILE; j++)
            d[j] = vec_load(p->at[i * TILE + j] + c);
        gradient_line(d, t + i * PATCH, 1);
    }
    NN_UNROLL
    for (int j = 0; j < PATCH; j++) {
        vec d[TILE];
        vec r[PATCH];
        NN_UNROLL
        for (int i = 0; i < TILE; i++)
            d[i] = t[i * PATCH + j];
        gradient_line(d, r, 1);
        NN_UNROLL
        for (int i = 0; i < PATCH; i++)
            vec_store(to + (size_t)(i * PATCH + j) * element, r[i]);
    }
}

enum transform { PATCHES, GRADIENTS };

/* All rows of a group and channels [first, first + count): v[element][row][channel]. */
NN_INLINE void transform_rows(const enum transform what, const struct map *m, size_t n,
                              struct group g, size_t first, size_t count, float *v, size_t element)
{
    struct pixels p;
    const size_t pixels = what == PATCHES ? PATCH * PATCH : TILE * TILE;
    for (size_t i = 0; i < g.count; i++) {
        const size_t tile = (g.first + i) / n;
        const size_t sample = (g.first + i) % n;
        if ((i == 0 || sample == 0) && what == PATCHES)
            find_pixels(m, n, tile_y(m, tile) - 1, tile_x(m, tile) - 1, PATCH, sample, first, &p);
        else if (i == 0 || sample == 0)
            find_pixels(m, n, tile_y(m, tile), tile_x(m, tile), TILE, sample, first, &p);
        for (size_t c = 0; c < count; c += LANES) {
            if (what == PATCHES)
                transform_patch(&p, c, v + i * count + c, element);
            else
                transform_gradient(&p, c, v + i * count + c, element);
        }
        for (size_t k = 0; k < pixels; k++)
            p.at[k] += p.next[k];
    }
}

static void transform_patches(const struct map *m, size_t n, struct group g, size_t first,
                              size_t count, float *v, size_t element)
{
    transform_rows(PATCHES, m, n, g, first, count, v, element);
}

static void transform_gradients(const struct map *m, size_t n, struct group g, size_t first,
                                size_t count, float *v, size_t element)
{
    transform_rows(GRADIENTS, m, n, g, first, count, v, element);
}

/* What happens to outputs. */
struct finish {
    const float *bias; /* of the map's channels, or NULL */
    bool rectify;
    bool add;
};

/* A' m A of one row and one vector of channels; base: the tile's first pixel. */
NN_INLINE void store_tile(const struct map *m, size_t n, float *base, ptrdiff_t y, ptrdiff_t x,
                          const float *from, size_t element, const struct finish *f, size_t channel)
{
    vec t[TILE * PATCH];
    NN_UNROLL
    for (int j = 0; j < PATCH; j++) {
        vec d[PATCH];
        NN_UNROLL
        for (int i = 0; i < PATCH; i++)
            d[i] = vec_load(from + (size_t)(i * PATCH + j) * element);
        output_line(d, t + j, PATCH);
    }
    const vec bias = f->bias != NULL ? vec_load(f->bias + channel) : (vec){0};
    NN_UNROLL
    for (int i = 0; i < TILE; i++) {
        if (y + i >= (ptrdiff_t)m->height)
            break;
        vec r[TILE];
        output_line(t + i * PATCH, r, 1);
        NN_UNROLL
        for (int j = 0; j < TILE; j++) {
            if (x + j >= (ptrdiff_t)m->width)
                break;
            float *to = base + ((size_t)i * m->width + (size_t)j) * n * m->row;
            vec value = r[j] + bias;
            if (f->add)
                value += vec_load(to);
            if (f->rectify)
                value = vec_positive(value);
            vec_store(to, value);
        }
    }
}

static void store_rows(const struct map *m, size_t n, struct group g, size_t first, size_t count,
                       const float *from, size_t element, const struct finish *f)
{
    for (size_t i = 0; i < g.count; i++) {
        const ptrdiff_t y = tile_y(m, (g.first + i) / n);
        const ptrdiff_t x = tile_x(m, (g.first + i) / n);
        const size_t pixel = (size_t)(y * (ptrdiff_t)m->width + x);
        float *base = m->at + (pixel * n + (g.first + i) % n) * m->row + first;
        for (size_t c = 0; c < count; c += LANES)
            store_tile(m, n, base + c, y, x, from + i * count + c, element, f, first + c);
    }
}

/* G g G' of 9 taps. */
NN_INLINE void transform_filter(const vec tap[TAPS], float *u, size_t element)
{
    vec t[3 * PATCH];
    NN_UNROLL
    for (int i = 0; i < 3; i++)
        filter_line(tap + 3 * i, t + i * PATCH, 1);
    NN_UNROLL
    for (int j = 0; j < PATCH; j++) {
        const vec d[3] = {t[j], t[PATCH + j], t[2 * PATCH + j]};
        vec r[PATCH];
        filter_line(d, r, 1);
        NN_UNROLL
        for (int i = 0; i < PATCH; i++)
            vec_store(u + (size_t)(i * PATCH + j) * element, r[i]);
    }
}

/* A block of filters: input channels [in, in + n_in), output channels [out, out + n_out). */
struct filters {
    const float *w; /* all panels */
    size_t inputs;  /* of the layer */
    size_t outputs;
    size_t in;
    size_t n_in;
    size_t out;
    size_t n_out;
};

/* Tap t of the filter from input channel i to output channel o, which is within one panel. */
NN_INLINE size_t filter_at(const struct filters *f, size_t t, size_t i, size_t o)
{
    const size_t panel = o / WEIGHT_PANEL * WEIGHT_PANEL;
    const size_t width = smaller(f->outputs - panel, WEIGHT_PANEL);
    return panel * TAPS * f->inputs + (i * TAPS + t) * width + o - panel;
}

/* u[element][input][output] */
static void transform_filters(const struct filters *f, float *u)
{
    const size_t element = f->n_in * f->n_out + GAP;
    for (size_t i = 0; i < f->n_in; i++) {
        const float *next = f->w + filter_at(f, 0, f->in + i + 4, f->out);
        for (size_t k = 0; k < TAPS * f->n_out; k += 16)
            __builtin_prefetch(next + k);
        for (size_t o = 0; o < f->n_out; o += LANES) {
            vec tap[TAPS];
            NN_UNROLL
            for (int t = 0; t < TAPS; t++)
                tap[t] = vec_load(f->w + filter_at(f, (size_t)t, f->in + i, f->out + o));
            transform_filter(tap, u + i * f->n_out + o, element);
        }
    }
}

/* u[element][output][input] of the filters turned by half a turn. */
static void transform_turned_filters(const struct filters *f, float *u)
{
    const size_t element = f->n_in * f->n_out + GAP;
    for (size_t i = 0; i < f->n_in; i += LANES)
        for (size_t o = 0; o < f->n_out; o += LANES) {
            vec square[TAPS][LANES];
            for (size_t t = 0; t < TAPS; t++) {
                NN_UNROLL
                for (int k = 0; k < LANES; k++)
                    square[t][k] = vec_load(
                        f->w + filter_at(f, TAPS - 1 - t, f->in + i + (size_t)k, f->out + o));
                transpose_square(square[t]);
            }
            for (size_t k = 0; k < LANES; k++) {
                vec tap[TAPS];
                NN_UNROLL
                for (int t = 0; t < TAPS; t++)
                    tap[t] = square[t][k];
                transform_filter(tap, u + (o + k) * f->n_in + i, element);
            }
        }
}

/* Scratch memory in blocks of channels of a group of rows, planned in layers.c. */
struct memory {
    float *v;  /* patches, one block */
    float *v2; /* and gradients */
    float *m;  /* as many blocks as the wider side of the layer has */
    float *x;  /* as many as the input has */
    float *du; /* one block of filters */
    float *u;  /* all of them */
};

enum { ROW_BLOCK = ELEMENTS * (WINOGRAD_ROWS * BLOCK + GAP) };
enum { FILTER_BLOCK = ELEMENTS * (BLOCK * BLOCK + GAP) };

static size_t blocks_of(size_t channels)
{
    return (channels + BLOCK - 1) / BLOCK;
}

static struct memory memory_of(const struct layer *l, const struct pass *pass)
{
    const size_t in = blocks_of(l->in_channels);
    const size_t out = blocks_of(l->out_channels);
    struct memory s = {.v = pass_scratch_fixed(pass)};
    s.v2 = s.v + ROW_BLOCK;
    s.m = s.v2 + ROW_BLOCK;
    s.x = s.m + (in > out ? in : out) * ROW_BLOCK;
    s.du = s.x + in * ROW_BLOCK;
    s.u = s.du + FILTER_BLOCK;
    return s;
}

/* (tile, sample) pairs of a map. */
static size_t rows_of(const struct map *m, size_t n)
{
    return (m->height + TILE - 1) / TILE * ((m->width + TILE - 1) / TILE) * n;
}

/* m (+)= v u for each element: [rows][depth] times [depth][width].  next: the filters after these,
 * NULL: none or not needed. */
static void multiply(const struct pass *pass, size_t rows, size_t depth, size_t width,
                     const float *v, const float *u, float *m, bool add, const float *next)
{
    const size_t ahead = next != NULL ? depth * width * TAPS / ELEMENTS : 0;
    for (size_t q = 0; q < ELEMENTS; q++)
        product_run(pass, &(struct product){.rows = rows,
                                            .columns = width,
                                            .segments = 1,
                                            .depth = depth,
                                            .a = v + q * (rows * depth + GAP),
                                            .a_row = (ptrdiff_t)depth,
                                            .a_column = 1,
                                            .b = u + q * (depth * width + GAP),
                                            .b_row = (ptrdiff_t)width,
                                            .c = m + q * (rows * width + GAP),
                                            .c_row = (ptrdiff_t)width,
                                            .scale = 1,
                                            .add = add,
                                            .ahead = ahead > 0 ? next + q * ahead : NULL,
                                            .ahead_floats = ahead});
}

/* du (+)= v' m for each element: [rows][in] transposed times [rows][out]. */
static void multiply_transposed(const struct pass *pass, size_t rows, const struct filters *f,
                                const float *v, const float *m, float *du, bool add)
{
    for (size_t q = 0; q < ELEMENTS; q++)
        product_run(pass, &(struct product){.rows = f->n_in,
                                            .columns = f->n_out,
                                            .segments = 1,
                                            .depth = rows,
                                            .a = v + q * (rows * f->n_in + GAP),
                                            .a_row = 1,
                                            .a_column = (ptrdiff_t)f->n_in,
                                            .b = m + q * (rows * f->n_out + GAP),
                                            .b_row = (ptrdiff_t)f->n_out,
                                            .c = du + q * (f->n_in * f->n_out + GAP),
                                            .c_row = (ptrdiff_t)f->n_out,
                                            .scale = 1,
                                            .add = add});
}

/* The filters between the blocks of channels that begin at in and out. */
static struct filters filters_between(const struct layer *l, const struct pass *pass, size_t in,
                                      size_t out)
{
    return (struct filters){.w = pass_weights(pass, l->weight),
                            .inputs = l->in_channels,
                            .outputs = l->out_channels,
                            .in = in,
                            .n_in = smaller(l->in_channels - in, BLOCK),
                            .out = out,
                            .n_out = smaller(l->out_channels - out, BLOCK)};
}

/* Where a block of filters begins; NULL: there is no such block. */
static const float *block_at(const struct layer *l, const struct pass *pass, size_t in, size_t out)
{
    if (in >= l->in_channels || out >= l->out_channels)
        return NULL;
    const struct filters f = filters_between(l, pass, in, out);
    return f.w + filter_at(&f, 0, in, out);
}

/* Both directions: out = in correlated with the layer's filters, or with the turned ones. */
static void correlate(const struct layer *l, const struct pass *pass, bool turned, struct map in,
                      struct map out, const struct finish *finish)
{
    const struct memory s = memory_of(l, pass);
    const size_t n = pass->n;
    const size_t rows = rows_of(&in, n);
    /* Transformed filters that only one group needs may overwrite each other: in the cache. */
    const size_t next_block = rows > WINOGRAD_ROWS || pass->filters != NULL ? FILTER_BLOCK : 0;
    for (struct group g = {0}; g.first < rows; g.first += g.count) {
        g.count = smaller(rows - g.first, WINOGRAD_ROWS);
        float *u = pass_filters(l, pass, s.u);
        for (size_t i = 0; i < in.channels; i += BLOCK) {
            const size_t depth = smaller(in.channels - i, BLOCK);
            transform_patches(&in, n, g, i, depth, s.v, g.count * depth + GAP);
            for (size_t o = 0; o < out.channels; o += BLOCK, u += next_block) {
                const struct filters f =
                    turned ? filters_between(l, pass, o, i) : filters_between(l, pass, i, o);
                if (g.first == 0 && turned)
                    transform_turned_filters(&f, u);
                else if (g.first == 0 && !pass->filters_ready)
                    transform_filters(&f, u);
                const bool last = o + BLOCK >= out.channels;
                const size_t next_i = last ? i + BLOCK : i;
                const size_t next_o = last ? 0 : o + BLOCK;
                const float *next =
                    turned ? block_at(l, pass, next_o, next_i) : block_at(l, pass, next_i, next_o);
                multiply(pass, g.count, depth, smaller(out.channels - o, BLOCK), s.v, u,
                         s.m + o / BLOCK * ROW_BLOCK, i > 0,
                         g.first == 0 && !pass->filters_ready ? next : NULL);
            }
        }
        for (size_t o = 0; o < out.channels; o += BLOCK) {
            const size_t width = smaller(out.channels - o, BLOCK);
            store_rows(&out, n, g, o, width, s.m + o / BLOCK * ROW_BLOCK, g.count * width + GAP,
                       finish);
        }
    }
}

void winograd_forward(const struct layer *l, const struct pass *pass)
{
    correlate(l, pass, false, input_map(l, pass_values(pass, l->input)),
              output_map(l, pass, pass_values(pass, l->output)),
              &(struct finish){.bias = l->bias >= 0 ? pass_weights(pass, l->bias) : NULL,
                               .rectify = l->relu});
}

/* G' du G of a block of filters, to where the pass wants it. */
static void store_filters(const struct pass *pass, const struct filters *f, const float *du,
                          float *target)
{
    const size_t element = f->n_in * f->n_out + GAP;
    const vec scale = vec_all(pass->scale);
    for (size_t i = 0; i < f->n_in; i++)
        for (size_t o = 0; o < f->n_out; o += LANES) {
            vec t[3 * PATCH];
            vec tap[TAPS];
            NN_UNROLL
            for (int j = 0; j < PATCH; j++) {
                vec d[PATCH];
                NN_UNROLL
                for (int k = 0; k < PATCH; k++)
                    d[k] = vec_load(du + (size_t)(k * PATCH + j) * element + i * f->n_out + o);
                filter_gradient_line(d, t + j, PATCH);
            }
            NN_UNROLL
            for (int k = 0; k < 3; k++)
                filter_gradient_line(t + k * PATCH, tap + 3 * k, 1);
            NN_UNROLL
            for (int k = 0; k < TAPS; k++) {
                float *to = target + filter_at(f, (size_t)k, f->in + i, f->out + o);
                vec_store(to, pass->add ? vec_load(to) + scale * tap[k] : scale * tap[k]);
            }
        }
}

/* Weight gradient of any number of rows. */
static void weight_gradient(const struct layer *l, const struct pass *pass, struct map x,
                            struct map dy)
{
    const struct memory s = memory_of(l, pass);
    const size_t n = pass->n;
    const size_t rows = rows_of(&x, n);
    for (size_t o = 0; o < dy.channels; o += BLOCK)
        for (size_t i = 0; i < x.channels; i += BLOCK) {
            const struct filters f = filters_between(l, pass, i, o);
            for (struct group g = {0}; g.first < rows; g.first += g.count) {
                g.count = smaller(rows - g.first, WINOGRAD_ROWS);
                transform_patches(&x, n, g, i, f.n_in, s.v, g.count * f.n_in + GAP);
                transform_gradients(&dy, n, g, o, f.n_out, s.v2, g.count * f.n_out + GAP);
                multiply_transposed(pass, g.count, &f, s.v, s.v2, s.du, g.first > 0);
            }
            store_filters(pass, &f, s.du, pass_target(pass, l->weight));
        }
}

/* Both gradients where all rows are one group: with so few rows, time goes by the weights, so
 * they come from memory once. */
static void backward_by_blocks(const struct layer *l, const struct pass *pass, struct map x,
                               struct map dy)
{
    const struct memory s = memory_of(l, pass);
    const size_t n = pass->n;
    const struct map dx = input_map(l, pass_gradient(pass, l->input));
    const struct group g = {.count = rows_of(&x, n)};
    const struct finish finish = {.add = l->adds_input_gradient};
    for (size_t i = 0; i < x.channels; i += BLOCK) {
        const size_t width = smaller(x.channels - i, BLOCK);
        transform_patches(&x, n, g, i, width, s.x + i / BLOCK * ROW_BLOCK, g.count * width + GAP);
    }
    for (size_t o = 0; o < dy.channels; o += BLOCK) {
        const size_t depth = smaller(dy.channels - o, BLOCK);
        transform_patches(&dy, n, g, o, depth, s.v, g.count * depth + GAP);
        transform_gradients(&dy, n, g, o, depth, s.v2, g.count * depth + GAP);
        for (size_t i = 0; i < x.channels; i += BLOCK) {
            const struct filters f = filters_between(l, pass, i, o);
            transform_turned_filters(&f, s.u);
            const float *next = i + BLOCK < x.channels ? block_at(l, pass, i + BLOCK, o)
                                                       : block_at(l, pass, 0, o + BLOCK);
            multiply(pass, g.count, depth, f.n_in, s.v, s.u, s.m + i / BLOCK * ROW_BLOCK, o > 0,
                     next);
            multiply_transposed(pass, g.count, &f, s.x + i / BLOCK * ROW_BLOCK, s.v2, s.du, false);
            store_filters(pass, &f, s.du, pass_target(pass, l->weight));
        }
    }
    for (size_t i = 0; i < x.channels; i += BLOCK) {
        const size_t width = smaller(x.channels - i, BLOCK);
        store_rows(&dx, n, g, i, width, s.m + i / BLOCK * ROW_BLOCK, g.count * width + GAP,
                   &finish);
    }
}

void winograd_backward(const struct layer *l, const struct pass *pass)
{
    const struct map x = input_map(l, pass_values(pass, l->input));
    const struct map dy = output_map(l, pass, pass_gradient(pass, l->output));
    if (rows_of(&x, pass->n) <= WINOGRAD_ROWS) {
        backward_by_blocks(l, pass, x, dy);
        return;
    }
    correlate(l, pass, true, dy, input_map(l, pass_gradient(pass, l->input)),
              &(struct finish){.add = l->adds_input_gradient});
    weight_gradient(l, pass, x, dy);
}
