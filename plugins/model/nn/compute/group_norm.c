/* group_norm.c - group normalisation (Wu & He, ECCV 2018), with an optional addition and ReLU.
 *
 * For each sample and group of channels, over the m values of the group's whole map:
 *     z = (x - mean) / deviation,  deviation = sqrt(variance + eps),  y = gamma z + beta.
 * Backward, with d = dL/dy:
 *     dL/dx = (gamma d - (S1 + z S2) / m) / deviation,  S1 = sum gamma d,  S2 = sum gamma d z.
 *
 * Everything is walked through in the order in which it lies: a "row" is the values of one group of
 * one sample at one pixel, and the rows of a pixel lie one after the other.  Sums run in float over
 * at most SUM_RUN values, everything beyond that in double. */
#include <math.h>
#include <string.h>

#include "arithmetic.h"
#include "vector.h"

static const double epsilon = 1e-5;

enum { SUM_RUN = 256 };

/* What both directions need of a layer. */
struct norm {
    size_t channels;
    size_t width; /* of a row: channels of a group */
    size_t rows;  /* of a pixel: groups of all samples */
    size_t line;  /* floats from one pixel to the next */
    size_t pixels;
    bool rectify;
    const float *gamma;
    const float *beta;
    const float *x;
    float *y;
    const float *residual; /* added to y; NULL: nothing */
    float *mean;           /* of each row of a pixel; saved for the way back */
    float *inverse;        /* 1 / deviation */
    float *part_1;         /* one number or vector for each row: scratch memory */
    float *part_2;
    double *total_1;
    double *total_2;
};

/* See network_group_norm() for the memory. */
static struct norm norm_of(const struct layer *l, const struct pass *pass)
{
    struct norm m = {
        .channels = l->in_channels,
        .width = l->in_channels / l->groups,
        .rows = (size_t)pass->n * l->groups,
        .line = (size_t)pass->n * l->in_channels,
        .pixels = (size_t)l->in_height * l->in_width,
        .rectify = l->relu,
        .gamma = pass_weights(pass, l->weight),
        .beta = pass_weights(pass, l->bias),
        .x = pass_values(pass, l->input),
        .y = pass_values(pass, l->output),
        .residual = l->residual >= 0 ? pass_values(pass, l->residual) : NULL,
        .mean = pass_memory(pass, l->saved_offset),
        .total_1 = (double *)(void *)pass_scratch(pass),
    };
    m.inverse = m.mean + m.rows;
    m.total_2 = m.total_1 + m.rows;
    m.part_1 = (float *)(void *)(m.total_2 + m.rows);
    m.part_2 = m.part_1 + m.rows * LANES;
    return m;
}

/* Pixels over which a sum of float runs that each pixel adds so many values to. */
static size_t pixels_of_run(size_t values)
{
    return values < SUM_RUN ? SUM_RUN / values : 1;
}

/* A vector, or only its first n values and zeros. */
NN_INLINE vec load_some(const float *p, size_t n)
{
    if (n == LANES)
        return vec_load(p);
    vec v = {0};
    memcpy(&v, p, n * sizeof *p);
    return v;
}
NN_INLINE void store_some(float *p, vec v, size_t n)
{
    if (n == LANES)
        vec_store(p, v);
    else
        memcpy(p, &v, n * sizeof *p);
}

/* The sum of a row's values less the mean, or of their squares, for each lane. */
NN_INLINE vec row_sum(const float *x, size_t width, float mean, const bool squares)
{
    const size_t whole = width / LANES * LANES;
    vec sum = {0};
    for (size_t c = 0; c < whole; c += LANES) {
        const vec v = vec_load(x + c);
        sum += squares ? (v - mean) * (v - mean) : v;
    }
    for (size_t c = whole; c < width; c++)
        sum[c - whole] += squares ? (x[c] - mean) * (x[c] - mean) : x[c];
    return sum;
}

/* Adds the sums of each row's lanes to its total, and starts them anew. */
static void collect(size_t rows, float *part, double *total)
{
    for (size_t k = 0; k < rows; k++) {
        double lane[LANES];
        for (int i = 0; i < LANES; i++)
            lane[i] = (double)part[k * LANES + (size_t)i];
        for (int half = LANES / 2; half > 0; half /= 2)
            for (int i = 0; i < half; i++)
                lane[i] += lane[half + i];
        total[k] += lane[0];
    }
    memset(part, 0, rows * LANES * sizeof *part);
}

/* The mean of each group's values, or of their squared distances from the mean. */
NN_INLINE void moment(const struct norm *m, const bool squares)
{
    const size_t run = pixels_of_run(m->width / LANES + 1);
    memset(m->total_1, 0, m->rows * sizeof *m->total_1);
    memset(m->part_1, 0, m->rows * LANES * sizeof *m->part_1);
    for (size_t first = 0; first < m->pixels; first += run) {
        const float *x = m->x + first * m->line;
        for (size_t p = first; p < smaller(first + run, m->pixels); p++)
            for (size_t k = 0; k < m->rows; k++, x += m->width) {
                float *sum = m->part_1 + k * LANES;
                vec_store(sum,
                          vec_load(sum) + row_sum(x, m->width, squares ? m->mean[k] : 0, squares));
            }
        collect(m->rows, m->part_1, m->total_1);
    }
    for (size_t k = 0; k < m->rows; k++)
        m->total_1[k] /= (double)(m->width * m->pixels);
}

/* y = (x - mean) / deviation gamma + beta + residual: n values from float `at` on. */
NN_INLINE void normalise(const struct norm *m, size_t at, size_t channel, const size_t n,
                         float mean, float inverse)
{
    const vec a = inverse * load_some(m->gamma + channel, n);
    vec y = (load_some(m->x + at, n) - mean) * a + load_some(m->beta + channel, n);
    if (m->residual != NULL)
        y += load_some(m->residual + at, n);
    store_some(m->y + at, m->rectify ? vec_positive(y) : y, n);
}

void group_norm_forward(const struct layer *l, const struct pass *pass)
{
    const struct norm m = norm_of(l, pass);
    const size_t whole = m.width / LANES * LANES;
    /* In two passes: the difference of two large sums would lose what the variance is made of. */
    moment(&m, false);
    for (size_t k = 0; k < m.rows; k++)
        m.mean[k] = (float)m.total_1[k];
    moment(&m, true);
    for (size_t k = 0; k < m.rows; k++)
        m.inverse[k] = (float)(1 / sqrt(m.total_1[k] + epsilon));
    for (size_t p = 0, at = 0; p < m.pixels; p++)
        for (size_t k = 0; k < m.rows; k++, at += m.width) {
            const size_t channel = k % l->groups * m.width;
            for (size_t c = 0; c < whole; c += LANES)
                normalise(&m, at + c, channel + c, LANES, m.mean[k], m.inverse[k]);
            if (whole < m.width)
                normalise(&m, at + whole, channel + whole, m.width - whole, m.mean[k],
                          m.inverse[k]);
        }
}

/* Gradients of a layer's values, and sums for each channel. */
struct gradients {
    const float *dy;
    float *dx;
    float *residual; /* NULL: none */
    bool add;        /* to dx */
    bool add_residual;
    float *part_gamma;
    float *part_beta;
    double *gamma;
    double *beta;
};

static struct gradients gradients_of(const struct layer *l, const struct pass *pass)
{
    struct gradients g = {
        .dy = pass_gradient(pass, l->output),
        .dx = pass_gradient(pass, l->input),
        .residual = l->residual >= 0 ? pass_gradient(pass, l->residual) : NULL,
        .add = l->adds_input_gradient,
        .add_residual = l->adds_residual_gradient,
        .gamma = (double *)(void *)pass_scratch_fixed(pass),
    };
    g.beta = g.gamma + l->in_channels;
    g.part_gamma = (float *)(void *)(g.beta + l->in_channels);
    g.part_beta = g.part_gamma + l->in_channels;
    memset(g.gamma, 0, 2 * l->in_channels * (sizeof(double) + sizeof(float)));
    return g;
}

/* dL/dy behind the ReLU. */
NN_INLINE vec gradient_at(const struct norm *m, const struct gradients *g, size_t at,
                          const size_t n)
{
    const vec d = load_some(g->dy + at, n);
    if (!m->rectify)
        return d;
    return vec_select(vec_greater(load_some(m->y + at, n), (vec){0}), d, (vec){0});
}

/* Adds n values to the sums of their channels, and to those of their row: of gamma d and of
 * gamma d (x - mean). */
NN_INLINE void sum_gradient(const struct norm *m, const struct gradients *g, size_t at,
                            size_t channel, const size_t n, size_t k, vec sum[2])
{
    const vec gamma = load_some(m->gamma + channel, n);
    const vec d = gradient_at(m, g, at, n);
    const vec dx = d * (load_some(m->x + at, n) - m->mean[k]);
    sum[0] += gamma * d;
    sum[1] += gamma * dx;
    store_some(g->part_beta + channel, load_some(g->part_beta + channel, n) + d, n);
    store_some(g->part_gamma + channel, load_some(g->part_gamma + channel, n) + dx * m->inverse[k],
               n);
}

/* total_1 = S1, total_2 = S2 * deviation, and the gradients of gamma and beta. */
static void sum_gradients(const struct norm *m, const struct gradients *g, size_t samples)
{
    const size_t whole = m->width / LANES * LANES;
    const size_t run = pixels_of_run(samples + m->width / LANES + 1);
    memset(m->total_1, 0, 2 * m->rows * sizeof *m->total_1);
    memset(m->part_1, 0, 2 * m->rows * LANES * sizeof *m->part_1);
    for (size_t first = 0; first < m->pixels; first += run) {
        size_t at = first * m->line;
        for (size_t p = first; p < smaller(first + run, m->pixels); p++)
            for (size_t k = 0; k < m->rows; k++, at += m->width) {
                const size_t channel = at % m->channels;
                vec sum[2] = {vec_load(m->part_1 + k * LANES), vec_load(m->part_2 + k * LANES)};
                for (size_t c = 0; c < whole; c += LANES)
                    sum_gradient(m, g, at + c, channel + c, LANES, k, sum);
                if (whole < m->width)
                    sum_gradient(m, g, at + whole, channel + whole, m->width - whole, k, sum);
                vec_store(m->part_1 + k * LANES, sum[0]);
                vec_store(m->part_2 + k * LANES, sum[1]);
            }
        collect(m->rows, m->part_1, m->total_1);
        collect(m->rows, m->part_2, m->total_2);
        for (size_t c = 0; c < m->channels; c++) {
            g->gamma[c] += (double)g->part_gamma[c];
            g->beta[c] += (double)g->part_beta[c];
        }
        memset(g->part_gamma, 0, 2 * m->channels * sizeof *g->part_gamma);
    }
}

/* n values of dx, and of the gradient of what was added to y. */
NN_INLINE void input_gradient(const struct norm *m, const struct gradients *g, size_t at,
                              size_t channel, const size_t n, size_t k)
{
    const vec d = gradient_at(m, g, at, n);
    const vec a = m->inverse[k] * load_some(m->gamma + channel, n);
    vec dx = a * d - m->part_1[k] - (load_some(m->x + at, n) - m->mean[k]) * m->part_2[k];
    if (g->add)
        dx += load_some(g->dx + at, n);
    store_some(g->dx + at, dx, n);
    if (g->residual != NULL)
        store_some(g->residual + at, g->add_residual ? load_some(g->residual + at, n) + d : d, n);
}

void group_norm_backward(const struct layer *l, const struct pass *pass)
{
    const struct norm m = norm_of(l, pass);
    const struct gradients g = gradients_of(l, pass);
    const double count = (double)(m.width * m.pixels);
    const size_t whole = m.width / LANES * LANES;
    sum_gradients(&m, &g, pass->n);
    for (size_t k = 0; k < m.rows; k++) {
        const double inverse = (double)m.inverse[k];
        m.part_1[k] = (float)(inverse * m.total_1[k] / count);
        m.part_2[k] = (float)(inverse * inverse * inverse * m.total_2[k] / count);
    }
    for (size_t p = 0, at = 0; p < m.pixels; p++)
        for (size_t k = 0; k < m.rows; k++, at += m.width) {
            const size_t channel = k % l->groups * m.width;
            for (size_t c = 0; c < whole; c += LANES)
                input_gradient(&m, &g, at + c, channel + c, LANES, k);
            if (whole < m.width)
                input_gradient(&m, &g, at + whole, channel + whole, m.width - whole, k);
        }
    for (size_t c = 0; c < m.channels; c++) {
        store_gradient(pass, pass_target(pass, l->weight) + c, g.gamma[c]);
        store_gradient(pass, pass_target(pass, l->bias) + c, g.beta[c]);
    }
}
