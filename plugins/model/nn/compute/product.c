/* product.c - matrix products without packing.
 *
 * A tile of c stays in registers while the kernel runs over the depth; a is read one number at a
 * time and spread over a vector, b is read in vectors along its rows. */
#include "product.h"

#include <assert.h>
#include <cblas.h>

#include "vector.h"

/* A strip of b of this depth, 64 columns wide, stays in the nearest caches. */
enum { DEPTH_BLOCK = 256 };

/* Widest tile in vectors, and the most rows of a tile of 1, 2, 3 or 4 vectors: as many sums as
 * registers hold beside the operands. */
#if VECTOR_REGISTERS == 32
enum { TILE_VECTORS = 4 };
static const size_t most_rows[] = {0, 8, 8, 8, 6};
#else
enum { TILE_VECTORS = 2 };
static const size_t most_rows[] = {0, 8, 6};
#endif

/* What one tile works on. */
struct part {
    const float *a;
    const float *b;
    ptrdiff_t b_row;
    ptrdiff_t b_segment;
    float *c;
    ptrdiff_t c_row;
    size_t segments;
    size_t depth;
    bool add;
    bool rectify;
    const float *bias; /* at c's first column; NULL: none */
    const float *ahead;
    size_t ahead_floats;
};

/* sum += a b over the depth. */
NN_INLINE void add_segment(const int rows, const int vectors, const struct product *p,
                           const struct part *t, const float *a, const float *b, vec *sum)
{
    const ptrdiff_t a_row = p->a_row;
    const ptrdiff_t a_column = p->a_column;
    const ptrdiff_t b_row = t->b_row;
    for (size_t k = t->depth; k > 0; k--, a += a_column, b += b_row) {
        vec bv[TILE_VECTORS];
        NN_UNROLL
        for (int v = 0; v < vectors; v++)
            bv[v] = vec_load(b + LANES * v);
        NN_UNROLL
        for (int i = 0; i < rows; i++) {
            const vec av = vec_all(a[i * a_row]);
            NN_UNROLL
            for (int v = 0; v < vectors; v++)
                sum[i * vectors + v] += av * bv[v];
        }
    }
}

/* c = factor * sum, or added to c.  factor_is_1: multiplications take the place of those of the
 * next tile. */
NN_INLINE void store_tile(const int rows, const int vectors, float factor, const bool factor_is_1,
                          const struct part *t, const vec *sum, const bool add)
{
    const vec scale = vec_all(factor);
    float *c = t->c;
    const ptrdiff_t c_row = t->c_row;
    NN_UNROLL
    for (int i = 0; i < rows; i++, c += c_row) {
        NN_UNROLL
        for (int v = 0; v < vectors; v++) {
            vec x = sum[i * vectors + v];
            if (!factor_is_1) /* rounded before it is added, whatever the instruction set */
                x = vec_in_register(scale * x);
            vec_store(c + LANES * v, add ? vec_load(c + LANES * v) + x : x);
        }
    }
}

/* The same with bias and rectification, which no factor comes with. */
NN_INLINE void finish_tile(const int rows, const int vectors, const struct part *t, const vec *sum)
{
    const struct part part = *t;
    NN_UNROLL
    for (int i = 0; i < rows; i++) {
        NN_UNROLL
        for (int v = 0; v < vectors; v++) {
            float *to = part.c + i * part.c_row + LANES * v;
            vec x = sum[i * vectors + v];
            if (part.add)
                x += vec_load(to);
            if (part.bias != NULL)
                x += vec_load(part.bias + LANES * v);
            vec_store(to, part.rectify ? vec_positive(x) : x);
        }
    }
}

NN_INLINE void tile(const int rows, const int vectors, const struct product *p,
                    const struct part *t)
{
    vec sum[24];
    NN_UNROLL
    for (int i = 0; i < rows * vectors; i++)
        sum[i] = (vec){0};
    if (t->segments == 1)
        add_segment(rows, vectors, p, t, t->a, t->b, sum);
    else
        for (size_t s = 0; s < t->segments; s++)
            add_segment(rows, vectors, p, t, t->a + (ptrdiff_t)s * p->a_segment,
                        t->b + (ptrdiff_t)s * t->b_segment, sum);
    /* Loops without a branch take less time than one that asks for each vector. */
    if (t->bias != NULL || t->rectify)
        finish_tile(rows, vectors, t, sum);
    else if (p->scale != 1)
        store_tile(rows, vectors, p->scale, false, t, sum, t->add);
    else if (t->add)
        store_tile(rows, vectors, 1, true, t, sum, true);
    else
        store_tile(rows, vectors, 1, true, t, sum, false);
}

typedef void tile_function(const struct product *p, const struct part *t);

#define DEFINE_TILE(rows, vectors)                                                                 \
    static void tile_##rows##_##vectors(const struct product *p, const struct part *t)             \
    {                                                                                              \
        tile(rows, vectors, p, t);                                                                 \
    }
#define DEFINE_TILES(vectors)                                                                      \
    DEFINE_TILE(1, vectors)                                                                        \
    DEFINE_TILE(2, vectors)                                                                        \
    DEFINE_TILE(3, vectors)                                                                        \
    DEFINE_TILE(4, vectors)                                                                        \
    DEFINE_TILE(5, vectors)                                                                        \
    DEFINE_TILE(6, vectors)
#define LIST_TILES(vectors)                                                                        \
    NULL, tile_1_##vectors, tile_2_##vectors, tile_3_##vectors, tile_4_##vectors,                  \
        tile_5_##vectors, tile_6_##vectors

DEFINE_TILES(1)
DEFINE_TILE(7, 1)
DEFINE_TILE(8, 1)
DEFINE_TILES(2)
#if VECTOR_REGISTERS == 32
DEFINE_TILE(7, 2)
DEFINE_TILE(8, 2)
DEFINE_TILES(3)
DEFINE_TILE(7, 3)
DEFINE_TILE(8, 3)
DEFINE_TILES(4)
#endif

/* tiles[vectors][rows] */
static tile_function *const tiles[TILE_VECTORS + 1][9] = {
    {NULL},
    {LIST_TILES(1), tile_7_1, tile_8_1},
#if VECTOR_REGISTERS == 32
    {LIST_TILES(2), tile_7_2, tile_8_2},
    {LIST_TILES(3), tile_7_3, tile_8_3},
    {LIST_TILES(4)},
#else
    {LIST_TILES(2)},
#endif
};

/* Asks for one part in n of what is needed next. */
static void ask_ahead(struct part *t, size_t n)
{
    enum { LINE = 16 };
    const size_t count = t->ahead_floats / n;
    for (size_t i = 0; i < count; i += LINE)
        __builtin_prefetch(t->ahead + i, 0, 2);
    t->ahead += count;
    t->ahead_floats -= count;
}

/* All rows of a strip of c that is `vectors` wide, in tiles of about equal height. */
static void strip(size_t vectors, const struct product *p, struct part t)
{
    size_t left = p->rows;
    for (size_t n = (left + most_rows[vectors] - 1) / most_rows[vectors]; n > 0; n--) {
        const size_t rows = (left + n - 1) / n;
        ask_ahead(&t, n);
        tiles[vectors][rows](p, &t);
        t.a += (ptrdiff_t)rows * p->a_row;
        t.c += (ptrdiff_t)rows * t.c_row;
        left -= rows;
    }
}

/* The columns that fill no vector: b is copied with zeros behind it, the result copied back. */
static void narrow_strip(size_t columns, const struct product *p, struct part t)
{
    enum { ROWS = 8 };
    float b[DEPTH_BLOCK * LANES] __attribute__((aligned(64)));
    float c[ROWS * LANES] __attribute__((aligned(64)));
    const struct part whole = t;
    const lane_mask mask = vec_first(columns);
    const vec bias = t.bias != NULL ? vec_load_some(t.bias, mask) : (vec){0};
    float *copy = b;
    for (size_t s = 0; s < t.segments; s++) {
        const float *from = t.b + (ptrdiff_t)s * t.b_segment;
        for (size_t k = 0; k < t.depth; k++, from += whole.b_row, copy += LANES)
            vec_store(copy, vec_load_some(from, mask));
    }
    t.b = b;
    t.b_row = LANES;
    t.b_segment = (ptrdiff_t)t.depth * LANES;
    t.c = c;
    t.c_row = LANES;
    t.add = false;
    t.rectify = false;
    t.bias = NULL;
    for (size_t first = 0; first < p->rows; first += ROWS) {
        const size_t rows = p->rows - first < ROWS ? p->rows - first : ROWS;
        tiles[1][rows](p, &t);
        for (size_t i = 0; i < rows; i++) {
            float *to = whole.c + (ptrdiff_t)(first + i) * whole.c_row;
            vec x = vec_load(c + i * LANES);
            x = (whole.add ? vec_load_some(to, mask) + x : x) + bias;
            vec_store_some(to, mask, whole.rectify ? vec_positive(x) : x);
        }
        t.a += ROWS * p->a_row;
    }
}

/* All columns of c for a stretch of the depth. */
static void stretch(const struct product *p, struct part t)
{
    const float *b = t.b;
    const float *bias = t.bias;
    size_t j = 0;
    for (size_t vectors = TILE_VECTORS; vectors > 0; vectors--)
        for (; p->columns - j >= vectors * LANES; j += vectors * LANES) {
            t.b = b + j;
            t.c = p->c + j;
            t.bias = bias != NULL ? bias + j : NULL;
            strip(vectors, p, t);
            t.ahead_floats = 0;
        }
    t.b = b + j;
    t.c = p->c + j;
    t.bias = bias != NULL ? bias + j : NULL;
    if (j < p->columns)
        narrow_strip(p->columns - j, p, t);
}

/* The last stretch of the depth also does what comes after the sums. */
static void finish(const struct product *p, struct part *t)
{
    t->bias = p->bias;
    t->rectify = p->rectify;
}

static void product_by_openblas(const struct product *p)
{
    const bool transposed = p->a_column != 1;
    for (size_t s = 0; s < p->segments; s++)
        cblas_sgemm(
            CblasRowMajor, transposed ? CblasTrans : CblasNoTrans, CblasNoTrans, (blasint)p->rows,
            (blasint)p->columns, (blasint)p->depth, p->scale, p->a + (ptrdiff_t)s * p->a_segment,
            (blasint)(transposed ? p->a_column : p->a_row), p->b + (ptrdiff_t)s * p->b_segment,
            (blasint)p->b_row, p->add || s > 0 ? 1.0f : 0.0f, p->c, (blasint)p->c_row);
    add_bias_and_rectify((struct block){p->c, p->rows, p->columns, (size_t)p->c_row}, p->bias,
                         p->rectify);
}

void product_run(const struct pass *pass, const struct product *p)
{
    assert(p->scale == 1 || (p->bias == NULL && !p->rectify));
    if (pass->net->options.openblas) {
        product_by_openblas(p);
        return;
    }
    struct part t = {.a = p->a,
                     .b = p->b,
                     .b_row = p->b_row,
                     .b_segment = p->b_segment,
                     .c_row = p->c_row,
                     .segments = p->segments,
                     .depth = p->depth,
                     .add = p->add,
                     .ahead = p->ahead,
                     .ahead_floats = p->ahead_floats};
    if (p->depth <= DEPTH_BLOCK) {
        const size_t at_once = DEPTH_BLOCK / p->depth;
        for (size_t s = 0; s < p->segments; s += t.segments, t.add = true) {
            t.segments = p->segments - s < at_once ? p->segments - s : at_once;
            t.a = p->a + (ptrdiff_t)s * p->a_segment;
            t.b = p->b + (ptrdiff_t)s * p->b_segment;
            if (s + t.segments == p->segments)
                finish(p, &t);
            stretch(p, t);
            t.ahead_floats = 0;
        }
        return;
    }
    t.segments = 1;
    for (size_t s = 0; s < p->segments; s++)
        for (size_t k = 0; k < p->depth; k += t.depth, t.add = true) {
            t.depth = p->depth - k < DEPTH_BLOCK ? p->depth - k : DEPTH_BLOCK;
            t.a = p->a + (ptrdiff_t)s * p->a_segment + (ptrdiff_t)k * p->a_column;
            t.b = p->b + (ptrdiff_t)s * p->b_segment + (ptrdiff_t)k * p->b_row;
            if (s + 1 == p->segments && k + t.depth == p->depth)
                finish(p, &t);
            stretch(p, t);
            t.ahead_floats = 0;
        }
}
