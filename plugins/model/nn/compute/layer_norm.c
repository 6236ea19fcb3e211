/* layer_norm.c - layer normalisation (Ba et al., 2016) over the channels of each position:
 *     z = (x - mean) / deviation,  deviation = sqrt(variance + eps),  y = gamma z + beta;
 * backward, with d = dL/dy and C channels:
 *     dL/dx = (gamma d - (S1 + z S2) / C) / deviation,  S1 = sum gamma d,  S2 = sum gamma d z. */
#include <math.h>
#include <string.h>

#include "arithmetic.h"
#include "vector.h"

static const double epsilon = 1e-5;

/* Sums run in float in each lane, over channels / LANES values, and in double across the lanes. */
static double total(vec lanes)
{
    double sum = 0;
    for (size_t i = 0; i < LANES; i++)
        sum += (double)lanes[i];
    return sum;
}

/* The sum of a position's values, or of their squared distances from the mean. */
NN_INLINE double sum_of(const float *x, size_t channels, const float mean, const bool squares)
{
    vec sum = {0};
    for (size_t c = 0; c < channels; c += LANES) {
        const lane_mask mask = vec_first(smaller(channels - c, LANES));
        const vec v = vec_load_some(x + c, mask);
        const vec d = vec_select(mask, v - mean, (vec){0});
        sum += squares ? d * d : v;
    }
    return total(sum);
}

static size_t positions(const struct layer *l, const struct pass *pass)
{
    return (size_t)l->in_height * l->in_width * pass->n;
}

void layer_norm_forward(const struct layer *l, const struct pass *pass)
{
    const size_t channels = l->in_channels;
    const float *gamma = pass_weights(pass, l->weight);
    const float *beta = pass_weights(pass, l->bias);
    const float *x = pass_values(pass, l->input);
    float *y = pass_values(pass, l->output);
    float *saved = pass_memory(pass, l->saved_offset); /* mean and 1/deviation of each position */
    for (size_t i = 0; i < positions(l, pass); i++, x += channels, y += channels) {
        const float mean = (float)(sum_of(x, channels, 0, false) / (double)channels);
        const double variance = sum_of(x, channels, mean, true) / (double)channels;
        const float inverse = (float)(1 / sqrt(variance + epsilon));
        saved[2 * i] = mean;
        saved[2 * i + 1] = inverse;
        for (size_t c = 0; c < channels; c++)
            y[c] = gamma[c] * ((x[c] - mean) * inverse) + beta[c];
    }
}

void layer_norm_backward(const struct layer *l, const struct pass *pass)
{
    const size_t channels = l->in_channels;
    const float *gamma = pass_weights(pass, l->weight);
    const float *x = pass_values(pass, l->input);
    const float *dy = pass_gradient(pass, l->output);
    float *dx = pass_gradient(pass, l->input);
    const float *saved = pass_memory(pass, l->saved_offset);
    double *dgamma = (double *)(void *)pass_scratch_fixed(pass);
    double *dbeta = dgamma + channels;
    memset(dgamma, 0, 2 * channels * sizeof *dgamma);
    for (size_t i = 0; i < positions(l, pass); i++, x += channels, dy += channels, dx += channels) {
        const float mean = saved[2 * i];
        const float inverse = saved[2 * i + 1];
        double s1 = 0;
        double s2 = 0;
        for (size_t c = 0; c < channels; c++) {
            const double z = (double)((x[c] - mean) * inverse);
            dgamma[c] += (double)dy[c] * z;
            dbeta[c] += (double)dy[c];
            s1 += (double)(gamma[c] * dy[c]);
            s2 += (double)(gamma[c] * dy[c]) * z;
        }
        const float a = (float)(s1 / (double)channels);
        const float b = (float)(s2 / (double)channels);
        for (size_t c = 0; c < channels; c++) {
            const float z = (x[c] - mean) * inverse;
            const float d = (gamma[c] * dy[c] - a - z * b) * inverse;
            dx[c] = l->adds_input_gradient ? dx[c] + d : d;
        }
    }
    for (size_t c = 0; c < channels; c++) {
        store_gradient(pass, &pass_target(pass, l->weight)[c], dgamma[c]);
        store_gradient(pass, &pass_target(pass, l->bias)[c], dbeta[c]);
    }
}
