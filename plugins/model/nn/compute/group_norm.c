/* group_norm.c - group normalisation (Wu & He, ECCV 2018), with an optional addition and ReLU.
 *
 * For each sample and group of channels, over the m values of the group's whole map:
 *     z = (x - mean) / deviation,  deviation = sqrt(variance + eps),  y = gamma z + beta.
 * Backward, with d = dL/dy:
 *     dL/dx = (gamma d - (S1 + z S2) / m) / deviation,  S1 = sum gamma d,  S2 = sum gamma d z.
 *
 * The inner loops run over "lines": the (sample, channel) values of one pixel, which are
 * contiguous; numbers of a group are spread over its channels for them.  Sums run in float over
 * at most SUM_RUN pixels, everything beyond that in double. */
#include <math.h>
#include <string.h>

#include "arithmetic.h"

static const double epsilon = 1e-5;

enum { SUM_RUN = 256 };

/* Sizes, and where the layer's numbers lie; see network_group_norm() for the memory. */
struct norm {
    size_t samples;
    size_t channels;
    size_t groups;
    size_t width; /* channels of a group */
    size_t line;
    size_t pixels;
    const float *gamma;
    const float *x;
    float *mean;     /* of each value of a line; saved for the way back */
    float *inverse;  /* 1 / deviation */
    float *part[4];  /* lines of scratch memory */
    double *total_1; /* for each sample and group; of a line's length */
    double *total_2;
    double *gamma_gradient; /* for each channel */
    double *beta_gradient;
};

static struct norm norm_of(const struct layer *l, const struct pass *pass)
{
    struct norm m = {
        .samples = pass->n,
        .channels = l->in_channels,
        .groups = l->groups,
        .width = l->in_channels / l->groups,
        .line = (size_t)pass->n * l->in_channels,
        .pixels = (size_t)l->in_height * l->in_width,
        .gamma = pass_weights(pass, l->weight),
        .x = pass_values(pass, l->input),
        .mean = pass_memory(pass, l->saved_offset),
    };
    m.inverse = m.mean + m.line;
    for (size_t i = 0; i < 4; i++)
        m.part[i] = pass_scratch(pass) + i * m.line;
    m.total_1 = (double *)(void *)(m.part[3] + m.line);
    m.total_2 = m.total_1 + m.line;
    m.gamma_gradient = m.total_2 + m.line;
    m.beta_gradient = m.gamma_gradient + m.channels;
    return m;
}

/* Sum of a[i] b[i]; b may be NULL: of a[i]. */
static double long_sum(size_t n, const float *a, const float *b)
{
    enum { WIDE = 8 };
    double sum[WIDE] = {0};
    size_t i = 0;
    for (; i + WIDE <= n; i += WIDE)
        for (size_t j = 0; j < WIDE; j++)
            sum[j] += (double)(b == NULL ? a[i + j] : a[i + j] * b[i + j]);
    for (; i < n; i++)
        sum[0] += (double)(b == NULL ? a[i] : a[i] * b[i]);
    for (size_t j = 1; j < WIDE; j++)
        sum[0] += sum[j];
    return sum[0];
}

/* Adds what a run of pixels has summed up to the totals of each sample's groups. */
static void add_groups(const struct norm *m, const float *part, const float *weight, double *total)
{
    for (size_t s = 0; s < m->samples; s++)
        for (size_t g = 0; g < m->groups; g++)
            total[s * m->groups + g] += long_sum(m->width, part + s * m->channels + g * m->width,
                                                 weight != NULL ? weight + g * m->width : NULL);
}

static void fill(float *line, size_t n, double value)
{
    for (size_t i = 0; i < n; i++)
        line[i] = (float)value;
}

static void sum_line(size_t n, const float *restrict x, float *restrict sum)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += x[i];
}

static void sum_squares_of_line(size_t n, const float *restrict x, const float *restrict mean,
                                float *restrict sum)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += (x[i] - mean[i]) * (x[i] - mean[i]);
}

/* Mean and 1/deviation.  In two passes over x: the difference of two large sums would lose what
 * the variance is made of. */
static void moments(const struct norm *m)
{
    const double count = (double)(m->width * m->pixels);
    for (int moment = 1; moment <= 2; moment++) {
        memset(m->total_1, 0, m->samples * m->groups * sizeof *m->total_1);
        for (size_t first = 0; first < m->pixels; first += SUM_RUN) {
            memset(m->part[0], 0, m->line * sizeof(float));
            for (size_t p = first; p < smaller(first + SUM_RUN, m->pixels); p++) {
                if (moment == 1)
                    sum_line(m->line, m->x + p * m->line, m->part[0]);
                else
                    sum_squares_of_line(m->line, m->x + p * m->line, m->mean, m->part[0]);
            }
            add_groups(m, m->part[0], NULL, m->total_1);
        }
        for (size_t g = 0; g < m->samples * m->groups; g++) {
            const double value = m->total_1[g] / count;
            fill((moment == 1 ? m->mean : m->inverse) + g * m->width, m->width,
                 moment == 1 ? value : 1.0 / sqrt(value + epsilon));
        }
    }
}

/* y = (x - mean) a + b + r, rectified or not; r may be NULL. */
static void normalise_line(size_t n, const float *restrict x, const float *restrict mean,
                           const float *restrict a, const float *restrict b,
                           const float *restrict r, bool rectify, float *restrict y)
{
    if (r == NULL)
        for (size_t i = 0; i < n; i++)
            y[i] = (x[i] - mean[i]) * a[i] + b[i];
    else
        for (size_t i = 0; i < n; i++)
            y[i] = (x[i] - mean[i]) * a[i] + b[i] + r[i];
    if (rectify)
        for (size_t i = 0; i < n; i++)
            y[i] = y[i] < 0 ? 0 : y[i];
}

void group_norm_forward(const struct layer *l, const struct pass *pass)
{
    const struct norm m = norm_of(l, pass);
    const float *beta = pass_weights(pass, l->bias);
    float *a = m.part[0];
    float *b = m.part[1];
    moments(&m);
    for (size_t s = 0; s < m.samples; s++)
        for (size_t c = 0; c < m.channels; c++) {
            a[s * m.channels + c] = m.inverse[s * m.channels + c] * m.gamma[c];
            b[s * m.channels + c] = beta[c];
        }
    for (size_t p = 0; p < m.pixels; p++)
        normalise_line(m.line, m.x + p * m.line, m.mean, a, b,
                       l->residual >= 0 ? pass_values(pass, l->residual) + p * m.line : NULL,
                       l->relu, pass_values(pass, l->output) + p * m.line);
}

/* d = dy where y > 0 (y NULL: everywhere), also in place; adds d and d (x - mean). */
static void sum_gradient_line(size_t n, float *restrict dy, const float *restrict y,
                              const float *restrict x, const float *restrict mean,
                              float *restrict sum_d, float *restrict sum_dx)
{
    if (y != NULL)
        for (size_t i = 0; i < n; i++)
            dy[i] = y[i] > 0 ? dy[i] : 0;
    for (size_t i = 0; i < n; i++) {
        sum_d[i] += dy[i];
        sum_dx[i] += dy[i] * (x[i] - mean[i]);
    }
}

/* Adds the sums of a run of pixels to the gradients of beta and gamma. */
static void add_channels(const struct norm *m, const float *sum_d, const float *sum_dx)
{
    double *restrict gamma = m->gamma_gradient;
    double *restrict beta = m->beta_gradient;
    for (size_t s = 0; s < m->samples; s++) {
        const float *restrict inverse = m->inverse + s * m->channels;
        const float *restrict d = sum_d + s * m->channels;
        const float *restrict dx = sum_dx + s * m->channels;
        for (size_t c = 0; c < m->channels; c++) {
            beta[c] += (double)d[c];
            gamma[c] += (double)(dx[c] * inverse[c]);
        }
    }
}

/* dx = a d - b - (x - mean) c, or added to dx. */
static void input_gradient_line(size_t n, const float *restrict d, const float *restrict x,
                                const float *restrict mean, float *const part[4], bool add,
                                float *restrict dx)
{
    const float *restrict a = part[0];
    const float *restrict b = part[1];
    const float *restrict c = part[2];
    if (add)
        for (size_t i = 0; i < n; i++)
            dx[i] += a[i] * d[i] - b[i] - (x[i] - mean[i]) * c[i];
    else
        for (size_t i = 0; i < n; i++)
            dx[i] = a[i] * d[i] - b[i] - (x[i] - mean[i]) * c[i];
}

/* Spreads the factors of input_gradient_line() from total_1 = S1 and total_2 = S2 * deviation. */
static void spread_factors(const struct norm *m)
{
    const double count = (double)(m->width * m->pixels);
    for (size_t g = 0; g < m->samples * m->groups; g++) {
        const size_t first = g * m->width;
        const double inverse = (double)m->inverse[first];
        for (size_t i = 0; i < m->width; i++)
            m->part[0][first + i] = (float)inverse * m->gamma[g % m->groups * m->width + i];
        fill(m->part[1] + first, m->width, inverse * m->total_1[g] / count);
        fill(m->part[2] + first, m->width, inverse * inverse * inverse * m->total_2[g] / count);
    }
}

static void residual_gradient(const struct layer *l, const struct pass *pass, size_t n)
{
    const float *restrict d = pass_gradient(pass, l->output);
    float *restrict to = pass_gradient(pass, l->residual);
    if (!l->adds_residual_gradient)
        memcpy(to, d, n * sizeof *to);
    for (size_t i = 0; i < n && l->adds_residual_gradient; i++)
        to[i] += d[i];
}

void group_norm_backward(const struct layer *l, const struct pass *pass)
{
    const struct norm m = norm_of(l, pass);
    float *dy = pass_gradient(pass, l->output);
    const float *y = l->relu ? pass_values(pass, l->output) : NULL;
    memset(m.total_1, 0, 2 * (m.line + m.channels) * sizeof *m.total_1);
    for (size_t first = 0; first < m.pixels; first += SUM_RUN) {
        memset(m.part[0], 0, 2 * m.line * sizeof(float));
        for (size_t p = first; p < smaller(first + SUM_RUN, m.pixels); p++)
            sum_gradient_line(m.line, dy + p * m.line, y != NULL ? y + p * m.line : NULL,
                              m.x + p * m.line, m.mean, m.part[0], m.part[1]);
        add_groups(&m, m.part[0], m.gamma, m.total_1);
        add_groups(&m, m.part[1], m.gamma, m.total_2);
        add_channels(&m, m.part[0], m.part[1]);
    }
    if (l->residual >= 0)
        residual_gradient(l, pass, m.line * m.pixels);
    spread_factors(&m);
    for (size_t p = 0; p < m.pixels; p++)
        input_gradient_line(m.line, dy + p * m.line, m.x + p * m.line, m.mean, m.part,
                            l->adds_input_gradient, pass_gradient(pass, l->input) + p * m.line);
    for (size_t c = 0; c < m.channels; c++) {
        store_gradient(pass, pass_target(pass, l->weight) + c, m.gamma_gradient[c]);
        store_gradient(pass, pass_target(pass, l->bias) + c, m.beta_gradient[c]);
    }
}
