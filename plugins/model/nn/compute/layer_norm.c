/* layer_norm.c - layer normalisation (Ba et al., 2016) over the channels of each position:
 *     z = (x - mean) / deviation,  deviation = sqrt(variance + eps),  y = gamma z + beta;
 * backward, with d = dL/dy and C channels:
 *     dL/dx = (gamma d - (S1 + z S2) / C) / deviation,  S1 = sum gamma d,  S2 = sum gamma d z. */
#include <math.h>
#include <string.h>

#include "arithmetic.h"

static const double epsilon = 1e-5;

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
        double sum = 0;
        double squares = 0;
        for (size_t c = 0; c < channels; c++)
            sum += (double)x[c];
        const double mean = sum / (double)channels;
        for (size_t c = 0; c < channels; c++)
            squares += ((double)x[c] - mean) * ((double)x[c] - mean);
        const float inverse = (float)(1 / sqrt(squares / (double)channels + epsilon));
        saved[2 * i] = (float)mean;
        saved[2 * i + 1] = inverse;
        for (size_t c = 0; c < channels; c++)
            y[c] = gamma[c] * ((x[c] - (float)mean) * inverse) + beta[c];
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
