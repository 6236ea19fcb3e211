/* group_norm.c - group normalisation (Wu & He, ECCV 2018), with an optional addition and ReLU.
 *
 * For each sample and group of channels, over the m values of the group's whole map:
 *     z = (x - mean) / deviation,  deviation = sqrt(variance + eps),  y = gamma z + beta.
 * Backward, with d = dL/dy:
 *     dL/dx = (gamma d - (S1 + z S2) / m) / deviation,  S1 = sum gamma d,  S2 = sum gamma d z.
 * Sums run first over a channel, then over the channels of a group, so that the inner loops are
 * over contiguous channels whatever the number of groups. */
#include <math.h>
#include <string.h>

#include "arithmetic.h"

static const double epsilon = 1e-5;

/* One sample's values: pixel p's channels start at at + p * stride. */
struct map {
    const float *at;
    size_t pixels;
    size_t channels;
    size_t stride;
};

static struct map sample_map(const struct layer *l, const struct pass *pass, const float *at,
                             size_t sample)
{
    return (struct map){.at = at + sample * l->in_channels,
                        .pixels = (size_t)l->in_height * l->in_width,
                        .channels = l->in_channels,
                        .stride = (size_t)pass->n * l->in_channels};
}

/* Sum over a group of what is summed for each channel. */
static double group_sum(const float *channel, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)channel[i];
    return sum;
}

/* Mean and 1/deviation of each group, spread over its channels.  Two passes: the difference of
 * two large sums would lose what the variance is made of. */
static void moments(struct map x, size_t groups, float *mean, float *inverse, float *sum)
{
    const size_t width = x.channels / groups;
    const double m = (double)(width * x.pixels);
    memset(sum, 0, x.channels * sizeof *sum);
    for (size_t p = 0; p < x.pixels; p++)
        for (size_t c = 0; c < x.channels; c++)
            sum[c] += x.at[p * x.stride + c];
    for (size_t g = 0; g < groups; g++) {
        const float value = (float)(group_sum(sum + g * width, width) / m);
        for (size_t c = g * width; c < (g + 1) * width; c++)
            mean[c] = value;
    }
    memset(sum, 0, x.channels * sizeof *sum);
    for (size_t p = 0; p < x.pixels; p++)
        for (size_t c = 0; c < x.channels; c++) {
            const float d = x.at[p * x.stride + c] - mean[c];
            sum[c] += d * d;
        }
    for (size_t g = 0; g < groups; g++) {
        const double variance = group_sum(sum + g * width, width) / m;
        const float value = (float)(1.0 / sqrt(variance + epsilon));
        for (size_t c = g * width; c < (g + 1) * width; c++)
            inverse[c] = value;
    }
}

/* Where a sample's mean and 1/deviation stay for the way back: one pair for each channel. */
static float *saved_moments(const struct layer *l, const struct pass *pass, size_t sample)
{
    return pass_memory(pass, l->saved_offset) + sample * 2 * l->in_channels;
}

void group_norm_forward(const struct layer *l, const struct pass *pass)
{
    const size_t channels = l->in_channels;
    const float *gamma = pass_weights(pass, l->weight);
    const float *beta = pass_weights(pass, l->bias);
    const float *residual = l->residual >= 0 ? pass_values(pass, l->residual) : NULL;
    for (size_t n = 0; n < pass->n; n++) {
        const struct map x = sample_map(l, pass, pass_values(pass, l->input), n);
        float *mean = saved_moments(l, pass, n);
        float *inverse = mean + channels;
        moments(x, l->groups, mean, inverse, pass_scratch_fixed(pass));
        for (size_t p = 0; p < x.pixels; p++) {
            const float *in = x.at + p * x.stride;
            const size_t at = p * x.stride + n * channels;
            float *y = pass_values(pass, l->output) + at;
            for (size_t c = 0; c < channels; c++) {
                float v = (in[c] - mean[c]) * inverse[c] * gamma[c] + beta[c];
                if (residual != NULL)
                    v += residual[at + c];
                y[c] = l->relu && v < 0 ? 0 : v;
            }
        }
    }
}

/* Adds sum d and sum d z of one sample, for each channel. */
static void gradient_sums(struct map dy, const float *x, const float *mean, const float *inverse,
                          float *sum_d, float *sum_dz)
{
    memset(sum_d, 0, dy.channels * sizeof *sum_d);
    memset(sum_dz, 0, dy.channels * sizeof *sum_dz);
    for (size_t p = 0; p < dy.pixels; p++)
        for (size_t c = 0; c < dy.channels; c++) {
            const float d = dy.at[p * dy.stride + c];
            sum_d[c] += d;
            sum_dz[c] += d * (x[p * dy.stride + c] - mean[c]) * inverse[c];
        }
}

/* dL/dx of one sample from the sums of one group. */
static void input_gradient(const struct layer *l, struct map dy, const float *x, const float *mean,
                           const float *inverse, const float *gamma, const float *sum_d,
                           const float *sum_dz, float *dx)
{
    const size_t width = dy.channels / l->groups;
    const double m = (double)(width * dy.pixels);
    for (size_t g = 0; g < l->groups; g++) {
        double s1 = 0;
        double s2 = 0;
        for (size_t c = g * width; c < (g + 1) * width; c++) {
            s1 += (double)(gamma[c] * sum_d[c]);
            s2 += (double)(gamma[c] * sum_dz[c]);
        }
        const float mean_1 = (float)(s1 / m);
        const float mean_2 = (float)(s2 / m);
        for (size_t p = 0; p < dy.pixels; p++)
            for (size_t c = g * width; c < (g + 1) * width; c++) {
                const size_t i = p * dy.stride + c;
                const float z = (x[i] - mean[c]) * inverse[c];
                const float v = (gamma[c] * dy.at[i] - mean_1 - z * mean_2) * inverse[c];
                dx[i] = l->adds_input_gradient ? dx[i] + v : v;
            }
    }
}

void group_norm_backward(const struct layer *l, const struct pass *pass)
{
    const size_t channels = l->in_channels;
    const size_t values = (size_t)l->in_height * l->in_width * channels * pass->n;
    const struct block gradient = output_block(l, pass, pass_gradient(pass, l->output));
    if (l->relu)
        mask_rectified(gradient, pass_values(pass, l->output));
    if (l->residual >= 0) {
        float *to = pass_gradient(pass, l->residual);
        for (size_t i = 0; i < values; i++)
            to[i] = l->adds_residual_gradient ? to[i] + gradient.at[i] : gradient.at[i];
    }
    float *sum_d = pass_scratch_fixed(pass);
    float *sum_dz = sum_d + channels;
    double *total_d = (double *)(void *)(sum_dz + channels);
    double *total_dz = total_d + channels;
    memset(total_d, 0, 2 * channels * sizeof *total_d);
    for (size_t n = 0; n < pass->n; n++) {
        const struct map dy = sample_map(l, pass, gradient.at, n);
        const float *x = pass_values(pass, l->input) + n * channels;
        const float *mean = saved_moments(l, pass, n);
        const float *inverse = mean + channels;
        gradient_sums(dy, x, mean, inverse, sum_d, sum_dz);
        for (size_t c = 0; c < channels; c++) {
            total_d[c] += (double)sum_d[c];
            total_dz[c] += (double)sum_dz[c];
        }
        input_gradient(l, dy, x, mean, inverse, pass_weights(pass, l->weight), sum_d, sum_dz,
                       pass_gradient(pass, l->input) + n * channels);
    }
    for (size_t c = 0; c < channels; c++) {
        store_gradient(pass, pass_target(pass, l->weight) + c, total_dz[c]);
        store_gradient(pass, pass_target(pass, l->bias) + c, total_d[c]);
    }
}
