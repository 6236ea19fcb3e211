/* narrow_norm.c - group normalisation (group_norm.c has the equations) by sums for each channel.
 *
 * Every channel of every sample has a sum of its own, which runs over the pixels, and a group adds
 * up those of its channels: all loops go along a "line", the channels of all samples at one pixel,
 * so that groups may be of any width. Sums run in float over at most SUM_RUN pixels, everything
 * beyond that in double. */
#include <math.h>
#include <string.h>

#include "arithmetic.h"
#include "vector.h"

static const double epsilon = 1e-5;

enum { SUM_RUN = 256 };

/* What both directions need of a layer. */
struct norm {
    size_t samples;
    size_t channels;
    size_t groups;
    size_t width; /* channels of a group */
    size_t line;  /* channels of all samples */
    size_t pixels;
    bool rectify;
    const float *gamma;
    const float *beta;
    const float *x;
    float *y;
    const float *residual; /* added to y; NULL: nothing */
    float *mean;           /* of each group of each sample; saved for the way back */
    float *inverse;        /* 1 / deviation */
    double *sum_1;         /* a line each, of scratch memory */
    double *sum_2;
    float *part_1;
    float *part_2;
    float *wide_1;
    float *wide_2;
};

/* See network_narrow_norm() for the memory. */
static struct norm norm_of(const struct layer *l, const struct pass *pass)
{
    struct norm m = {
        .samples = pass->n,
        .channels = l->in_channels,
        .groups = l->groups,
        .width = l->in_channels / l->groups,
        .line = (size_t)pass->n * l->in_channels,
        .pixels = (size_t)l->in_height * l->in_width,
        .rectify = l->relu,
        .gamma = pass_weights(pass, l->weight),
        .beta = pass_weights(pass, l->bias),
        .x = pass_values(pass, l->input),
        .y = pass_values(pass, l->output),
        .residual = l->residual >= 0 ? pass_values(pass, l->residual) : NULL,
        .mean = pass_memory(pass, l->saved_offset),
        .sum_1 = (double *)(void *)pass_scratch(pass),
    };
    m.inverse = m.mean + (size_t)pass->n * l->groups;
    m.sum_2 = m.sum_1 + m.line;
    m.part_1 = (float *)(void *)(m.sum_2 + m.line);
    m.part_2 = m.part_1 + m.line;
    m.wide_1 = m.part_2 + m.line;
    m.wide_2 = m.wide_1 + m.line;
    return m;
}

/* Ends a run: adds the parts to the sums and starts them anew. */
static void collect(size_t line, float *restrict part, double *restrict sum)
{
    for (size_t i = 0; i < line; i++)
        sum[i] += (double)part[i];
    memset(part, 0, line * sizeof *part);
}

/* sum_1: of each channel's values, or of their squared distances from wide_1. */
NN_INLINE void sum_channels(const struct norm *m, const bool squares)
{
    const float *restrict mean = m->wide_1;
    float *restrict part = m->part_1;
    memset(m->sum_1, 0, m->line * sizeof *m->sum_1);
    memset(part, 0, m->line * sizeof *part);
    for (size_t p = 0; p < m->pixels; p++) {
        const float *restrict x = m->x + p * m->line;
        for (size_t i = 0; i < m->line; i++) {
            const float v = squares ? x[i] - mean[i] : x[i];
            part[i] += squares ? v * v : v;
        }
        if ((p + 1) % SUM_RUN == 0)
            collect(m->line, part, m->sum_1);
    }
    collect(m->line, part, m->sum_1);
}

/* The mean over group k of what sum_1 is the sum of. */
static double group_mean(const struct norm *m, size_t k)
{
    double sum = 0;
    for (size_t c = k * m->width; c < (k + 1) * m->width; c++)
        sum += m->sum_1[c];
    return sum / (double)(m->width * m->pixels);
}

/* A number of each group to its channels. */
static void widen(const struct norm *m, const float *group, float *wide)
{
    for (size_t k = 0; k < m->samples * m->groups; k++)
        for (size_t c = 0; c < m->width; c++)
            wide[k * m->width + c] = group[k];
}

/* wide[i] times the channel's gamma. */
static void times_gamma(const struct norm *m, float *wide)
{
    for (size_t n = 0; n < m->samples; n++)
        for (size_t c = 0; c < m->channels; c++)
            wide[n * m->channels + c] *= m->gamma[c];
}

/* y = (x - mean) gamma / deviation + beta + residual, of one pixel of one sample. */
NN_INLINE void normalise(const struct norm *m, size_t at, size_t first, const bool add)
{
    const float *restrict x = m->x + at;
    const float *restrict mean = m->wide_1 + first;
    const float *restrict a = m->wide_2 + first;
    const float *restrict beta = m->beta;
    const float *restrict other = m->residual + (add ? at : 0);
    float *restrict y = m->y + at;
    for (size_t c = 0; c < m->channels; c++)
        y[c] = (x[c] - mean[c]) * a[c] + beta[c] + (add ? other[c] : 0);
    for (size_t c = 0; m->rectify && c < m->channels; c++)
        y[c] = y[c] < 0 ? 0 : y[c];
}

void narrow_norm_forward(const struct layer *l, const struct pass *pass)
{
    const struct norm m = norm_of(l, pass);
    const size_t rows = m.samples * m.groups;
    /* In two passes: the difference of two large sums would lose what the variance is made of. */
    sum_channels(&m, false);
    for (size_t k = 0; k < rows; k++)
        m.mean[k] = (float)group_mean(&m, k);
    widen(&m, m.mean, m.wide_1);
    sum_channels(&m, true);
    for (size_t k = 0; k < rows; k++)
        m.inverse[k] = (float)(1 / sqrt(group_mean(&m, k) + epsilon));
    widen(&m, m.inverse, m.wide_2);
    times_gamma(&m, m.wide_2);
    for (size_t p = 0; p < m.pixels; p++)
        for (size_t n = 0; n < m.samples; n++) {
            const size_t first = n * m.channels;
            if (m.residual != NULL)
                normalise(&m, p * m.line + first, first, true);
            else
                normalise(&m, p * m.line + first, first, false);
        }
}

/* dL/dy behind the ReLU, in the place of dL/dy. */
static void rectify(const struct norm *m, float *restrict dy)
{
    const float *restrict y = m->y;
    for (size_t i = 0; m->rectify && i < m->pixels * m->line; i++)
        dy[i] = y[i] > 0 ? dy[i] : 0;
}

/* For each channel, sum_1 = sum d and sum_2 = sum d (x - mean); wide_1 is the mean. */
static void sum_gradients(const struct norm *m, const float *gradient)
{
    const float *restrict mean = m->wide_1;
    float *restrict part_1 = m->part_1;
    float *restrict part_2 = m->part_2;
    memset(m->sum_1, 0, 2 * m->line * sizeof *m->sum_1);
    memset(m->part_1, 0, 2 * m->line * sizeof *m->part_1);
    for (size_t p = 0; p < m->pixels; p++) {
        const float *restrict x = m->x + p * m->line;
        const float *restrict d = gradient + p * m->line;
        for (size_t i = 0; i < m->line; i++) {
            part_1[i] += d[i];
            part_2[i] += d[i] * (x[i] - mean[i]);
        }
        if ((p + 1) % SUM_RUN == 0) {
            collect(m->line, part_1, m->sum_1);
            collect(m->line, part_2, m->sum_2);
        }
    }
    collect(m->line, part_1, m->sum_1);
    collect(m->line, part_2, m->sum_2);
}

/* part_1 = S1 / (m deviation) and part_2 = S2 / (m deviation^2), to the channels of each group;
 * sum_2 becomes sum d z. */
static void share_gradients(const struct norm *m)
{
    const double count = (double)(m->width * m->pixels);
    for (size_t k = 0; k < m->samples * m->groups; k++) {
        const double inverse = (double)m->inverse[k];
        const float *gamma = m->gamma + k % m->groups * m->width;
        const size_t first = k * m->width;
        double s1 = 0;
        double s2 = 0;
        for (size_t c = 0; c < m->width; c++) {
            s1 += (double)gamma[c] * m->sum_1[first + c];
            s2 += (double)gamma[c] * m->sum_2[first + c];
        }
        const float share_1 = (float)(inverse * s1 / count);
        const float share_2 = (float)(inverse * inverse * inverse * s2 / count);
        for (size_t i = first; i < first + m->width; i++) {
            m->part_1[i] = share_1;
            m->part_2[i] = share_2;
            m->sum_2[i] *= inverse;
        }
    }
}

static void store_weights(const struct layer *l, const struct pass *pass, const struct norm *m)
{
    for (size_t n = 1; n < m->samples; n++)
        for (size_t c = 0; c < m->channels; c++) {
            m->sum_1[c] += m->sum_1[n * m->channels + c];
            m->sum_2[c] += m->sum_2[n * m->channels + c];
        }
    for (size_t c = 0; c < m->channels; c++) {
        store_gradient(pass, pass_target(pass, l->weight) + c, m->sum_2[c]);
        store_gradient(pass, pass_target(pass, l->bias) + c, m->sum_1[c]);
    }
}

/* dx, or what is added to it, of a line: gamma d / deviation - part_1 - (x - mean) part_2. */
NN_INLINE void input_gradient(const struct norm *m, const float *restrict d,
                              const float *restrict x, float *restrict dx, const bool add)
{
    const float *restrict mean = m->wide_1;
    const float *restrict a = m->wide_2;
    const float *restrict s1 = m->part_1;
    const float *restrict s2 = m->part_2;
    for (size_t i = 0; i < m->line; i++) {
        const float v = a[i] * d[i] - s1[i] - (x[i] - mean[i]) * s2[i];
        dx[i] = add ? dx[i] + v : v;
    }
}

void narrow_norm_backward(const struct layer *l, const struct pass *pass)
{
    const struct norm m = norm_of(l, pass);
    float *dy = pass_gradient(pass, l->output);
    float *dx = pass_gradient(pass, l->input);
    float *other = l->residual >= 0 ? pass_gradient(pass, l->residual) : NULL;
    rectify(&m, dy);
    widen(&m, m.mean, m.wide_1);
    widen(&m, m.inverse, m.wide_2);
    times_gamma(&m, m.wide_2);
    sum_gradients(&m, dy);
    share_gradients(&m);
    store_weights(l, pass, &m);
    for (size_t at = 0; at < m.pixels * m.line; at += m.line) {
        if (l->adds_input_gradient)
            input_gradient(&m, dy + at, m.x + at, dx + at, true);
        else
            input_gradient(&m, dy + at, m.x + at, dx + at, false);
        for (size_t i = at; other != NULL && i < at + m.line; i++)
            other[i] = l->adds_residual_gradient ? other[i] + dy[i] : dy[i];
    }
}
